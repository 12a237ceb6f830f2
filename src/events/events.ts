/** What can happen while mining: one typed union, reported by everything and listened to by `report/`. A leaf. */

export type MinerEvent =
  /** Engines were given a new work. */
  | { event: 'work'; chain: number; height: bigint; difficulty: number }
  /** The current work was given a later creation time (µs since the UNIX epoch): a new job of the same work. */
  | { event: 'job'; chain: number; height: bigint; creationTimeUs: bigint }
  /** A New Cut on the chain being mined: its work is stale. */
  | { event: 'new_cut'; chain: number }
  /** A verified solution, about to be submitted. `hash` is 32 bytes, little-endian. */
  | { event: 'solution'; device: string; chain: number; height: bigint; nonce: bigint; hash: Uint8Array }
  /** What became of a solution. `ms` is the time from finding it to knowing. */
  | {
      event: 'verdict';
      verdict: 'accepted' | 'rejected' | 'stale' | 'unknown';
      reason: string;
      device: string;
      chain: number;
      height: bigint;
      nonce: bigint;
      ms: number;
    }
  /** Nonces searched since the device's last such event. */
  | { event: 'hashes'; device: string; hashes: number }
  /** A device claimed a nonce that does not solve. */
  | { event: 'hardware_error'; device: string; nonce: bigint }
  /** A device came into or went out of service. */
  | {
      event: 'device';
      device: string;
      kind: 'cpu' | 'gpu';
      state: 'ready' | 'restarting' | 'retired';
      /** Model, kernel, thread count: one line for people. */
      description: string;
      /** Why it is not in service, and the kind of fault: absent while it is. */
      reason?: string;
      fault?: 'missing' | 'lost' | 'wrong hashes';
    }
  /** A source came within or went out of reach. `source` is its name, a node's URL. */
  | { event: 'source'; source: string; state: 'connected' | 'lost' | 'warning' | 'info'; reason: string };

export type Listener = (event: MinerEvent) => void;

/** Hands each event to every listener, in order, at once. */
export class Events {
  readonly #listeners = new Set<Listener>();

  readonly emit = (event: MinerEvent): void => {
    for (const listener of this.#listeners) listener(event);
  };

  /** @returns a function that ends the subscription */
  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
