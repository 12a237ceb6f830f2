/** What pickaxe's exit codes mean. Wrappers rely on them. */
export const EXIT = {
  done: 0,
  /** Internal error; of `pickaxe verify`: not solved; of `pickaxe doctor`: something stops mining; of `pickaxe stats`: no miner answers. */
  failed: 1,
  /** Wrong usage or configuration. */
  usage: 2,
  /** No usable device. */
  noDevice: 3,
  /** No work could be had within a bounded run. */
  noWork: 4,
  /** A device computed wrong hashes. */
  wrongHashes: 6,
  /** Ended by its second signal, or by Ctrl-C at a question: the shells' 128 + 2. */
  interrupted: 130,
} as const;

/** Wrong usage: its message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError that tells all of them, when there are any. */
export function refuse(contradictions: readonly string[]): void {
  if (contradictions.length > 0) throw new UsageError(contradictions.join('\n'));
}
