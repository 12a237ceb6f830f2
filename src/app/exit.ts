/** How the process ends: with everything written, and when nothing can be written any more. */

import { EXIT } from './exit-codes.ts';

/** How long to wait for a reader that has stopped reading to take the last lines. */
const FLUSH_MS = 2_000;

/** Set once a miner has been told that its lines are lost: it mines on, and its exit code says how that went. */
let minesWithoutLines = false;

/** Ends the process once stderr and stdout have taken everything: a wrapper must get the last line. */
export function exit(code: number): void {
  process.exitCode = code;
  process.stderr.write('', () => {
    process.stdout.write('', (fault) => {
      if (fault && !minesWithoutLines) endUnread(fault);
      process.exit(code);
    });
  });
  setTimeout(() => process.exit(code), FLUSH_MS);
}

/**
 * Stops when whoever reads our output has gone, as in `pickaxe devices | head -1`; a miner stops in its own way. One whose
 * lines cannot be written, as on a full disk, mines on without them.
 */
export function stopWithReader(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (minesWithoutLines) return;
    if (process.listenerCount('SIGTERM') === 0) endUnread(fault);
    minesWithoutLines = true;
    if (hasNoReader(fault)) process.kill(process.pid, 'SIGTERM');
    else complain(fault);
  });
  // A terminal that has gone, or a full disk: nobody is left to be told.
  process.stderr.on('error', () => {});
}

function endUnread(fault: NodeJS.ErrnoException): never {
  if (hasNoReader(fault)) process.exit(EXIT.done);
  complain(fault);
  process.exit(EXIT.failed);
}

const hasNoReader = ({ code }: NodeJS.ErrnoException) => code === 'EPIPE';

function complain({ message }: Error): void {
  process.stderr.write(`error: what is printed cannot be written: ${message}\n`);
}
