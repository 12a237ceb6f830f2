/** Ends the process once all output is written, or when output cannot be written any more. */

import { EXIT } from './exit-codes.ts';

/** How long the process waits for a reader that has stopped reading to take the last lines. */
const FLUSH_MS = 2_000;

/** Set when a miner's output can no longer be written. The miner goes on, and its exit code is that of the mining. */
let minesWithoutLines = false;

/** Ends the process once stderr and stdout have written everything: a script must get the last line. */
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
 * Ends the process when the reader of its output has gone, as in `pickaxe devices | head -1`. A miner gets SIGTERM instead,
 * so that it stops in the usual way. When output fails for another reason, such as a full disk, a miner goes on without it.
 */
export function stopWithReader(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (minesWithoutLines) return;
    if (process.listenerCount('SIGTERM') === 0) endUnread(fault);
    minesWithoutLines = true;
    // It is not sent through the system: on Windows that would end the process at once.
    if (hasNoReader(fault)) process.emit('SIGTERM', 'SIGTERM');
    else complain(fault);
  });
  // The terminal has gone or the disk is full, so nobody can be told.
  process.stderr.on('error', () => {});
}

function endUnread(fault: NodeJS.ErrnoException): never {
  if (hasNoReader(fault)) process.exit(EXIT.done);
  complain(fault);
  process.exit(EXIT.failed);
}

/** Windows reports EOF where other systems report EPIPE. */
const hasNoReader = ({ code = '' }: NodeJS.ErrnoException) => ['EPIPE', 'EOF'].includes(code);

function complain({ message }: Error): void {
  process.stderr.write(`error: what is printed cannot be written: ${message}\n`);
}
