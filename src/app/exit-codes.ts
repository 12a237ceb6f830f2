/** pickaxe's exit codes. Scripts that start pickaxe rely on them. */
export const EXIT = {
  done: 0,
  /**
   * An internal error, or: `verify` found no proof of work or another block hash, `doctor` found something that prevents mining,
   * a miner did not answer `stats`, no node gave `ledger` or `balance` a right answer, `nodes` found none of use, in `tx` a node
   * refused, a command has failed or is wrong, or a chain of a `sweep` has failed.
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

/** @throws UsageError that names all contradictions, when there are any. */
export function refuse(contradictions: readonly string[]): void {
  if (contradictions.length > 0) throw new UsageError(contradictions.join('\n'));
}
