/** pickaxe's exit codes. Scripts that start pickaxe rely on them. */
export const EXIT = {
  done: 0,
  /**
   * An internal error, or a negative result of the command. For example, `verify` found a mistake, a node gave no right
   * answer, or a transfer has failed. docs/commands.md and docs/coins.md list these results.
   */
  failed: 1,
  usage: 2,
  noDevice: 3,
  /**
   * Something is not done yet. For example, a limited run got no work, `tx` got no result in time, a part of a `sweep`
   * or a `transfer` is pending, or the time limit of `repl` ended the run.
   */
  noWork: 4,
  wrongHashes: 6,
  /**
   * A second signal ended the process, or the first signal ended, for example, a question to the user or a request to a
   * node. The number is 128 plus the number of SIGINT, 2, as in shells.
   */
  interrupted: 130,
} as const;

/** Wrong usage or configuration. The message gives the remedy. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * @param worded makes the UsageError's message from the message of the error
 * @throws the UsageErrors of `act` unchanged; a new UsageError in place of any other error of `act`
 */
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

/** Maximum time for a slow reader of the output to read the last lines. */
const FLUSH_MS = 2_000;

/** Whether a command goes on although writing to stdout has failed. The failure does not change its exit code. */
let minesWithoutLines = false;

/**
 * Ends the process once stderr and stdout have written everything, so that a script gets the last line. Waits for
 * FLUSH_MS at most.
 */
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
 * Handles errors of stdout. The process ends with success when the reader of its output has gone, as in
 * `pickaxe devices | head -1`, and with a failure after another error, such as a full disk. A command that handles
 * SIGTERM, such as a miner, does not end at once: when the reader has gone, it stops as at SIGTERM, and after another
 * error it goes on without output.
 */
export function stopWithReader(): void {
  process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
    if (minesWithoutLines) return;
    if (process.listenerCount('SIGTERM') === 0) endUnread(fault);
    minesWithoutLines = true;
    // The signal is not sent through the system, because on Windows that would end the process at once.
    if (hasNoReader(fault)) process.emit('SIGTERM', 'SIGTERM');
    else complain(fault);
  });
  // An error of stderr cannot be reported. Without a listener, it would end the process.
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

/** @returns the reason as a clause. For common errors, the remedy follows as a sentence without its full stop */
export function whyNotListening({ code, message }: NodeJS.ErrnoException, port: number): string {
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use, perhaps by another pickaxe. Stop that program, or give another port`;
  }
  if (code === 'EACCES') return `this user may not use port ${port}. Give a port above 1023`;
  if (code === 'EADDRNOTAVAIL')
    return 'this machine has no such address. Give one of its own, or 0.0.0.0 for all of them';
  return message;
}
