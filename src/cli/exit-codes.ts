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
} as const;

/** Wrong usage: its message says what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
