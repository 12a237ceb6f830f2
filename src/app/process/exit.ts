/** pickaxe's exit codes. Scripts that start pickaxe rely on them. */
export const EXIT = {
  done: 0,
  /**
   * An internal error, or: `verify` found no proof of work or another block hash, `doctor` found something that
   * prevents mining, a miner did not answer `stats`, no node gave `ledger` or `balance` a right answer, `nodes` found
   * none that is useful, a node refused a command of `tx` or the command has failed or is wrong, a chain of a `sweep`
   * has failed, or an expectation or a form of a file of `repl` has failed.
   */
  failed: 1,
  usage: 2,
  noDevice: 3,
  /**
   * A limited run got no work, `tx` no result within its waiting time, a part of a `sweep` is pending, or the time that
   * `repl` was given is over.
   */
  noWork: 4,
  wrongHashes: 6,
  /** A second signal, or Ctrl-C at a question, ended the process: the shells' 128 + 2. */
  interrupted: 130,
} as const;

/** Wrong usage or configuration. The message gives the remedy. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @param worded makes the new message from the error's @throws UsageError in place of any other error */
export function orUsageError<T>(act: () => T, worded = (message: string) => message): T {
  try {
    return act();
  } catch (fault) {
    throw fault instanceof UsageError ? fault : new UsageError(worded((fault as Error).message));
  }
}

/** @throws UsageError that lists all contradictions, when there are any */
export function refuse(contradictions: readonly string[]): void {
  if (contradictions.length > 0) throw new UsageError(contradictions.join('\n'));
}

/* The end of the process and its output. */

/** Time for a slow reader to take the last lines. */
const FLUSH_MS = 2_000;

/** Set when a miner's output can no longer be written. The miner goes on without changing its exit code. */
let minesWithoutLines = false;

/** Ends the process once stderr and stdout have written everything, or after FLUSH_MS: a script gets the last line. */
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
 * Ends the process when the reader of its output has gone, as in `pickaxe devices | head -1`. A miner gets SIGTERM
 * instead, so that it stops in the usual way, and goes on when output fails for another reason, such as a full disk.
 */
export function stopWithReader(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (minesWithoutLines) return;
    if (process.listenerCount('SIGTERM') === 0) endUnread(fault);
    minesWithoutLines = true;
    // Not sent through the system, since on Windows that would end the process at once.
    if (hasNoReader(fault)) process.emit('SIGTERM', 'SIGTERM');
    else complain(fault);
  });
  // Without a terminal, or with a full disk, the fault cannot be reported.
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

/** @returns the reason and the remedy: a clause, and a sentence without a full stop at its end */
export function whyNotListening({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port`;
  }
  if (code === 'EACCES') return `this user may not use port ${port}. Give a port above 1023`;
  if (code === 'EADDRNOTAVAIL')
    return 'this machine has no such address. Give one of its own, or 0.0.0.0 for all of them';
  return message;
}
