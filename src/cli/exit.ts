/** How the process ends: with everything written, and when nobody reads any more. */

import { EXIT } from './exit-codes.ts';

/** For a reader of stdout that has stopped reading: the last lines are not worth waiting for without end. */
const FLUSH_MS = 2_000;

/** Ends the process once stdout has taken everything: a wrapper must get the last line. */
export function exit(code: number): void {
  process.exitCode = code;
  process.stdout.write('', () => process.exit(code));
  setTimeout(() => process.exit(code), FLUSH_MS);
}

/** Stops when whoever reads our output has gone, as in `pickaxe devices | head -1`. A miner stops in its own way. */
export function stopWithReader(): void {
  let readerGone = false;
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (fault.code !== 'EPIPE') throw fault;
    if (process.listenerCount('SIGTERM') === 0) process.exit(EXIT.done);
    if (!readerGone) process.kill(process.pid, 'SIGTERM');
    readerGone = true;
  });
}
