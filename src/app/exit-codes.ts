/** pickaxe's exit codes. Scripts that start pickaxe rely on them. */
export const EXIT = {
  done: 0,
  /**
   * An internal error, or: `verify` found no proof of work, `doctor` found something that prevents mining, or no miner answered
   * `stats`.
   */
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** No usable device. */
  noDevice: 3,
  /** A run with a limit got no work. */
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
