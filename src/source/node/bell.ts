/** A bell ends waits early, when something has happened that makes them pointless. */

import { pause } from '../../system/abort.ts';

export class Bell {
  #ringing = new AbortController();

  /** Ends every wait that is under way. */
  ring(): void {
    const ended = this.#ringing;
    this.#ringing = new AbortController();
    ended.abort();
  }

  /** Waits for this long, for `ring`, or for `stop`, whichever comes first. Never throws. */
  async wait(ms: number, stop: AbortSignal): Promise<void> {
    await pause(ms, this.#ringing.signal, stop);
  }
}
