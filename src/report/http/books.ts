/** All that the server tells of, beside the tally: kept from events, from the start of the run. */

import type { Controls } from '../../events/controls.ts';
import type { Events } from '../../events/events.ts';
import { type Clock, wallMs } from '../../system/clock.ts';
import { History } from '../history.ts';
import { Latencies } from '../latencies.ts';
import type { LogTail } from '../log-tail.ts';
import type { Tally } from '../tally.ts';
import { Works } from '../works.ts';

/** A miner, as its server gets it. `tally` must get each event first. */
export interface Miner {
  readonly controls: Controls;
  readonly events: Events;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly logTail: LogTail;
}

export class Books {
  readonly tally: Tally;
  readonly clock: Clock;
  readonly works: Works;
  readonly history: History;
  readonly logTail: LogTail;
  /** When the run began, milliseconds since the UNIX epoch: the same as long as it goes on. */
  readonly started: number;
  /** From finding a solution to knowing what became of it. */
  readonly answers = new Latencies();
  readonly #ends: (() => void)[];

  constructor({ events, tally, clock, logTail }: Miner) {
    this.tally = tally;
    this.clock = clock;
    this.logTail = logTail;
    this.started = wallMs(clock);
    this.works = new Works(clock);
    this.history = new History(tally, clock);
    this.#ends = [
      events.on(this.works.listen),
      events.on((event) => event.event === 'verdict' && this.answers.add(event.ms)),
      this.history.start(),
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}
