/** pickaxe's exit codes. Scripts that start pickaxe rely on them. */
export const EXIT = {
  done: 0,
  /**
   * An internal error, or: `verify` found no proof of work or another block hash, `doctor` found something that
   * prevents mining, a miner did not answer `stats`, no node gave `ledger` or `balance` a right answer, `nodes` found
   * none of use, in `tx` a node refused, a command has failed or is wrong, or a chain of a `sweep` has failed.
   */
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** No usable device. */
  noDevice: 3,
  /** A run with a limit got no work, `tx` no result before the waiting ended, or something of a `sweep` is pending. */
  noWork: 4,
  /** A device computed wrong hashes. */
  wrongHashes: 6,
  /** A second signal, or Ctrl-C at a question, ended it: the shells' 128 + 2. */
  interrupted: 130,
} as const;

/** Wrong usage or configuration. The message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * @param worded makes the message of the UsageError from that of the error
 * @throws UsageError in place of any other error
 */
export function orUsageError<T>(act: () => T, worded = (message: string) => message): T {
  try {
    return act();
  } catch (fault) {
    throw fault instanceof UsageError ? fault : new UsageError(worded((fault as Error).message));
  }
}

/** @throws UsageError that names all contradictions, when there are any. */
export function refuse(contradictions: readonly string[]): void {
  if (contradictions.length > 0) throw new UsageError(contradictions.join('\n'));
}

/* Ends the process once all output is written, or when output cannot be written any more. */

/** Time for a reader that has stopped reading to take the last lines. */
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
 * Ends the process when the reader of its output has gone, as in `pickaxe devices | head -1`. A miner gets SIGTERM
 * instead, so that it stops in the usual way. When output fails for another reason, such as a full disk, a miner goes
 * on without it.
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
  // The terminal has gone or the disk is full, so there is nowhere to report it.
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

/* Why a server cannot listen, and what to do about it. */

/**
 * @param fault what Node.js says
 * @param port the port that was asked for
 * @returns a clause and a sentence without a full stop at its end
 */
export function whyNotListening({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port`;
  }
  if (code === 'EACCES') return `this user may not use port ${port}. Give a port above 1023`;
  if (code === 'EADDRNOTAVAIL')
    return 'this machine has no such address. Give one of its own, or 0.0.0.0 for all of them';
  return message;
}
