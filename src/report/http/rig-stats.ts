/** All that the server reports about the rig, kept from events since the start of the run. */

import { type Clock, wallMs } from '../../system/clock.ts';
import { History } from '../history.ts';
import { Latencies } from '../latencies.ts';
import type { LogTail } from '../log-tail.ts';
import type { RunningMiner } from '../running-miner.ts';
import type { Setup } from '../setup.ts';
import type { Tally } from '../tally.ts';

type Watched = Pick<RunningMiner, 'rigName' | 'setup' | 'events' | 'tally' | 'clock' | 'logTail'>;

export class RigStats {
  readonly rigName: string;
  readonly setup: Setup;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly history: History;
  readonly logTail: LogTail;
  /** When the run began, which distinguishes it from other runs. */
  readonly startTimeMillis: number;
  /** The time from finding a solution to knowing what became of it. */
  readonly answers = new Latencies();
  readonly #ends: (() => void)[];

  constructor({ rigName, setup, events, tally, clock, logTail }: Watched) {
    this.rigName = rigName;
    this.setup = setup;
    this.tally = tally;
    this.clock = clock;
    this.logTail = logTail;
    this.startTimeMillis = wallMs(clock);
    this.history = new History(tally, clock);
    this.#ends = [
      events.on((event) => event.type === 'verdict' && this.answers.add(event.answerSeconds)),
      this.history.start(),
    ];
  }

  close(): void {
    for (const end of this.#ends) end();
  }
}
