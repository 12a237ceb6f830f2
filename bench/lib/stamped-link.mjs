// A rig's connection that notes when messages came, for many rigs in one process. What rigs do with their messages
// waits until the messages of all have come: on machines of their own, they would do it at the same time.

import { systemClock } from '#pickaxe/system/clock.js';

const GIVEN = Buffer.from('"given"');
/** Longer than it takes until all rigs have the messages of a New Cut, and short beside the time between two states. */
export const HELD_MS = 250;

/** What the rigs of this process have still to do, and how long that has taken so far. */
const waiting = [];
let isBusy = false;
/** When the last message came to any rig of this process. */
let cameMs = 0;
export const done = { messages: 0, ms: 0 };

/** Messages may be on their way for so long after the last one that came: they are read first. */
const QUIET_MS = 20;

function doNext() {
  if (systemClock.monotonicMs() - cameMs < QUIET_MS) {
    setTimeout(doNext, QUIET_MS);
    return;
  }
  const beganMs = performance.now();
  waiting.shift()();
  // What a message sets off in microtasks is done when the next immediate comes.
  setImmediate(() => {
    done.messages++;
    done.ms += performance.now() - beganMs;
    if (waiting.length > 0) doNext();
    else isBusy = false;
  });
}

export class StampedLink {
  /** By the coordinator's subject: when its last message with a whole work came. */
  workMs = new Map();
  #link;

  constructor(link) {
    this.#link = link;
  }

  get state() {
    return this.#link.state;
  }

  onState(listener) {
    return this.#link.onState(listener);
  }

  subscribe(subject, listener, queue) {
    const stamping = (message) => {
      cameMs = systemClock.monotonicMs();
      if (Buffer.from(message.data.buffer, message.data.byteOffset, message.data.length).includes(GIVEN)) {
        this.workMs.set(message.subject, cameMs);
      }
      waiting.push(() => listener(message));
      if (isBusy) return;
      isBusy = true;
      setTimeout(doNext, HELD_MS);
    };
    return this.#link.subscribe(subject, stamping, queue);
  }

  publish(subject, data) {
    return this.#link.publish(subject, data);
  }

  request(...given) {
    return this.#link.request(...given);
  }

  renew() {
    this.#link.renew();
  }
}
