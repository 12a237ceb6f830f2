/**
 * Prevents two coordinators from using the same name, because each would then also answer the requests to the other
 * one. A coordinator does not start while another one of its name answers. If two of them start at the same moment, or
 * without a connection, the one that has made fewer messages of its state (`CoordinatorState`) ends.
 */

import { LogBucket } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { type RelayLog, RelayRefusal } from '../../miner/relay/relay.ts';
import { CoordinatorState } from '../messages.ts';
import { type Link, LinkError } from '../nats/link.ts';
import { ask } from '../nats/requests.ts';
import type { FleetSubjects } from '../subjects.ts';
import type { CoordinatorLimits } from './coordinator-limits.ts';
import type { OwnWorks } from './own-works.ts';

/** Capacity of the token bucket for log lines about a second coordinator of this name. */
const LINES_LOGGED = 10;

interface NamesakesOptions {
  /** The coordinator's name. */
  readonly name: string;
  /** 16 random hex digits, chosen at the start of this run. */
  readonly instance: string;
  readonly own: Pick<OwnWorks, 'states'>;
  readonly link: Pick<Link, 'state' | 'request'>;
  readonly subjects: FleetSubjects;
  readonly clock: Clock;
  readonly log: RelayLog;
  readonly limits: Pick<CoordinatorLimits, 'helloMs' | 'newMs'>;
}

export class Namesakes {
  readonly #options: NamesakesOptions;
  readonly #lines: LogBucket;
  readonly #refusing = new AbortController();
  /** Time at which the first connection began (monotonic); undefined before. */
  #connectedMs: number | undefined;

  constructor(options: NamesakesOptions) {
    this.#options = options;
    this.#lines = new LogBucket(LINES_LOGGED, options.clock.monotonicMs());
  }

  /** Fires when this coordinator must end because an earlier one has the same name. The reason is a RelayRefusal. */
  get refusal(): AbortSignal {
    return this.#refusing.signal;
  }

  /**
   * If there is a connection, asks whether another coordinator has this name.
   * @throws RelayRefusal if another coordinator answers
   */
  async refuse(): Promise<void> {
    const { link, name, subjects, instance, log, limits } = this.#options;
    if (!link.state.isConnected) return;
    let other: CoordinatorState | undefined;
    try {
      const never = new AbortController().signal;
      other = await ask(link, subjects.hello(name, name), {}, CoordinatorState, limits.helloMs, never);
    } catch (fault) {
      if (!(fault instanceof LinkError)) throw fault;
      if (fault.fault === 'denied')
        log.warn(`it is not known whether another coordinator has this name: ${fault.message}`);
      return;
    }
    if (other !== undefined && other.instance !== instance) throw this.#refused();
  }

  connected(): void {
    this.#connectedMs ??= this.#options.clock.monotonicMs();
  }

  /** @param state the state of a coordinator of this name, possibly this coordinator's own */
  onState(state: CoordinatorState): void {
    const { instance, clock, limits } = this.#options;
    if (state.instance === instance) return;
    const nowMs = clock.monotonicMs();
    const isNew = this.#connectedMs !== undefined && nowMs - this.#connectedMs < limits.newMs;
    if (isNew && this.#isEarlier(state)) this.#refusing.abort(this.#refused());
    else this.#warn(nowMs);
  }

  /**
   * Compares the number of the other coordinator's state message with that of the last own one: the coordinator that
   * has published more of them is the earlier one. Both coordinators make this comparison, and at most one of them
   * ends. If messages are so late that each coordinator has published more in the meantime, neither ends.
   * @returns whether the other coordinator has made more states, or as many and has the smaller `instance`
   */
  #isEarlier({ number, instance }: CoordinatorState): boolean {
    const last = this.#options.own.states - 1;
    return number > last || (number === last && instance < this.#options.instance);
  }

  #refused(): RelayRefusal {
    const name = oneLine(this.#options.name);
    return new RelayRefusal(`another coordinator named ${name} is running: give this one another name with --rig-name`);
  }

  #warn(nowMs: number): void {
    if (this.#lines.take(nowMs) === undefined) return;
    const subject = this.#options.subjects.work(this.#options.name);
    this.#options.log.warn(
      `another coordinator publishes as ${subject}, too, which confuses rigs: give one of the two another name with --rig-name`,
    );
  }
}
