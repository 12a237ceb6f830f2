/**
 * Counts the listeners of abort signals. Signals that live as long as a rig may have any number of listeners, so
 * Node.js does not warn when something forgets to remove its own.
 */

/** Most listeners that a signal may gain in a calm minute: a batch of a device may find two dozen shares that wait. */
const MOST_GAINED = 50;

interface Listening {
  readonly listeners: Set<unknown>;
  /** Their number at the last mark. */
  marked: number;
  /** Where the last one was added. */
  stack?: string | undefined;
}

export class SignalListeners {
  /** The signals with listeners that can still fire. */
  readonly #known = new Map<AbortSignal, Listening>();
  readonly #original = {
    addEventListener: AbortSignal.prototype.addEventListener,
    removeEventListener: AbortSignal.prototype.removeEventListener,
  };

  /** Counts until `end`. */
  constructor() {
    const known = this.#known;
    const { addEventListener, removeEventListener } = this.#original;
    AbortSignal.prototype.addEventListener = function (this: AbortSignal, ...args: [string, never, never]) {
      const [type, listener] = args;
      if (type === 'abort' && !this.aborted) {
        const listening: Listening = known.get(this) ?? { listeners: new Set(), marked: 0 };
        known.set(this, listening);
        listening.listeners.add(listener);
        if (listening.listeners.size > listening.marked + MOST_GAINED) listening.stack = new Error('added here').stack;
      }
      addEventListener.apply(this, args);
    };
    AbortSignal.prototype.removeEventListener = function (this: AbortSignal, ...args: [string, never, never]) {
      const listeners = known.get(this)?.listeners;
      if (listeners?.delete(args[1]) && listeners.size === 0) known.delete(this);
      removeEventListener.apply(this, args);
    };
  }

  /** Begins a time in which little happens. Signals of killed processes keep the listeners that they have. */
  mark(): void {
    for (const listening of this.#known.values()) listening.marked = listening.listeners.size;
  }

  /** @returns which signal has gained many listeners since the mark; undefined if none has */
  check(): string | undefined {
    for (const [signal, { listeners, marked, stack }] of this.#known) {
      const gained = listeners.size - marked;
      if (signal.aborted) this.#known.delete(signal);
      else if (gained > MOST_GAINED) return `a signal has gained ${gained} listeners, the last one ${stack}`;
    }
    return undefined;
  }

  end(): void {
    Object.assign(AbortSignal.prototype, this.#original);
  }
}
