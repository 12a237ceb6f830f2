/**
 * The Relay interface. A relay hands work on to hashers that are not ours, such as ASICs or another program, and judges
 * what comes back. It is a consumer of a source, like the miner, and not an engine: it takes no ranges and counts no
 * nonces.
 */

export interface Relay {
  /** The relay's name for people and in events: `stratum`. No device has such a name. */
  readonly name: string;
  /**
   * Prepares what others connect to, or what is started for each work.
   * @throws Error that says what is wrong, when that is not possible
   */
  open(): Promise<void>;
  /**
   * Relays work until `stop`, then waits for pending submissions and frees everything. Called once, after `open`.
   * @throws only what the source has thrown, though it may not, after everything is freed
   */
  run(stop: AbortSignal): Promise<void>;
}

/** Receives what a relay has to say to people, as lines. */
export interface RelayLog {
  debug(line: string): void;
  info(line: string): void;
  warn(line: string): void;
}
