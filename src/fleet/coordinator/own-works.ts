/** The works of a coordinator's own source, and the states with which the coordinator publishes them. */

import { BoundedMap } from '../../base/system/bounded.ts';
import type { Clock } from '../../base/system/clock.ts';
import { version } from '../../base/system/version.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { StaleReason } from '../../miner/events/vocabulary.ts';
import type { WorkSource } from '../../miner/source/source.ts';
import type { Work } from '../../protocol/chain/work.ts';
import { type CoordinatorState, type GivenWork, givenWorkOf, MOST_ENDED, MOST_TEXT } from '../messages.ts';

/** A work whose solutions rigs may send. */
export interface SolvableWork {
  readonly work: Work;
  /** Why solutions of the work are worthless; undefined while they count. */
  readonly ended: StaleReason | undefined;
  /**
   * @param nowMs monotonic time
   * @returns the latest creation time that is surely valid now, in µs since the UNIX epoch
   */
  readonly latestTimeUs: (nowMs: number) => bigint;
}

interface OwnWork {
  readonly work: Work;
  readonly name: string;
  readonly given: GivenWork;
  ended: StaleReason | undefined;
  /** Time at which the work ended (monotonic); 0 before. */
  endedMs: number;
  readonly latestTimeUs: () => bigint;
}

interface OwnWorksOptions {
  /** 16 hex digits, the first part of the works' names. */
  readonly instance: string;
  readonly source: Pick<WorkSource, 'latestTimeUs'>;
  readonly clock: Clock;
  /** Maximum number of works that are kept. */
  readonly most: number;
  /** Time for which states list a work that has ended. */
  readonly endedMs: number;
}

/** The methods `change`, `end` and `lose` return whether the next state will differ from the last one. */
export class OwnWorks {
  readonly #options: OwnWorksOptions;
  readonly #byName: BoundedMap<string, OwnWork>;
  readonly #byWork = new WeakMap<Work, OwnWork>();
  #current: OwnWork | undefined;
  /** The current work or, while there is none, the last one. `latestTimeUs` is computed for this work. */
  #last: OwnWork | undefined;
  /**
   * The works that the next state lists as ended, if their `endedMs` is not too long ago. The latest end comes first.
   */
  #ended: readonly OwnWork[] = [];
  #lost: string | null = null;
  #named = 0;
  /** The greatest height of this coordinator's works; −1 before the first. */
  #height = -1n;
  /** Time at which `#height` grew last (monotonic). */
  #grewMs = 0;
  #number = 0;

  constructor(options: OwnWorksOptions) {
    this.#options = options;
    this.#byName = new BoundedMap(options.most);
  }

  find(name: string): SolvableWork | undefined {
    return this.#byName.get(name);
  }

  /**
   * @returns the latest creation time that is surely valid now, in µs since the UNIX epoch; 0n before the first work
   */
  latestTimeUs(): bigint {
    return this.#last?.latestTimeUs() ?? 0n;
  }

  /** @param work the current work; undefined if there is none now */
  change(work: Work | undefined): boolean {
    const own = work && this.#own(work);
    if (work && work.height > this.#height) {
      this.#height = work.height;
      this.#grewMs = this.#options.clock.monotonicMs();
    }
    if (own === this.#current) return false;
    this.#current = own;
    this.#last = own ?? this.#last;
    return true;
  }

  end(works: readonly Work[], reason: StaleReason): boolean {
    const news = works.flatMap((work) => {
      const own = this.#byWork.get(work);
      if (!own || own.ended !== undefined) return [];
      own.ended = reason;
      own.endedMs = this.#options.clock.monotonicMs();
      return own;
    });
    this.#ended = [...news, ...this.#ended].slice(0, MOST_ENDED);
    return news.length > 0;
  }

  /** @param reason why the source is out of reach, or that this coordinator is stopping; null otherwise */
  lose(reason: string | null): boolean {
    const text = reason === null ? null : oneLine(reason, MOST_TEXT);
    const isNew = text !== this.#lost;
    this.#lost = text;
    return isNew;
  }

  get current(): Work | undefined {
    return this.#current?.work;
  }

  /** The current work or, while there is none, the last one. */
  get last(): Work | undefined {
    return this.#last?.work;
  }

  /** Number of states that `state` has made so far. */
  get states(): number {
    return this.#number;
  }

  /**
   * @returns the greatest height of this coordinator's works, and the time since it grew last; undefined before the
   *   first work
   */
  growth(): { readonly height: bigint; readonly sinceMs: number } | undefined {
    if (this.#height < 0n) return undefined;
    return { height: this.#height, sinceMs: this.#options.clock.monotonicMs() - this.#grewMs };
  }

  /**
   * Makes the next state. Each state has a new number.
   * @param isWhole whether the state should contain the whole current work, and not only its name
   * @param fault why this coordinator's work is probably worth nothing; undefined if rigs should stay
   */
  state(isWhole: boolean, fault?: string): CoordinatorState {
    const given = isWhole ? this.#current?.given : undefined;
    const { clock, endedMs } = this.#options;
    const sinceMs = clock.monotonicMs() - endedMs;
    this.#ended = this.#ended.filter((own) => own.endedMs > sinceMs);
    return {
      instance: this.#options.instance,
      number: this.#number++,
      version,
      work: this.#current?.name ?? null,
      ...(given && { given }),
      latestTimeMicros: Math.max(0, Number(this.latestTimeUs())),
      ended: this.#ended.flatMap(({ name, ended }) => (ended === undefined ? [] : { name, reason: ended })),
      lost: this.#lost,
      ...(fault !== undefined && { fault: oneLine(fault, MOST_TEXT) }),
    };
  }

  #own(work: Work): OwnWork {
    const known = this.#byWork.get(work);
    if (known) return known;
    const { instance, source } = this.#options;
    const name = `${instance}-${this.#named++}`;
    const latestTimeUs = () => source.latestTimeUs(work);
    const own: OwnWork = { work, name, given: givenWorkOf(work, name), ended: undefined, endedMs: 0, latestTimeUs };
    this.#byWork.set(work, own);
    this.#byName.set(name, own);
    return own;
  }
}
