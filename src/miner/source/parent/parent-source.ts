/**
 * A WorkSource whose work comes from parents. The newest job is mined, and each share goes to the parent of its job.
 */

import { aborted } from '../../../base/system/abort.ts';
import type { Clock } from '../../../base/system/clock.ts';
import type { Solution } from '../../../protocol/chain/verify.ts';
import type { Work } from '../../../protocol/chain/work.ts';
import type { Answer, ByeReason } from '../../../protocol/wire/worker.ts';
import type { Listener } from '../../events/events.ts';
import type { SourceNews } from '../../events/vocabulary.ts';
import { BaseSource } from '../complete-source.ts';
import { listeningUntil, type UpdateListener, type Verdict } from '../source.ts';
import { MOST_READ, type ParentStreams } from './connection.ts';
import { type ParentJob, ParentSession, type RigView } from './parent-session.ts';

/** Time between two adjustments of targets to the hashrate, for parents that limit the share rate. */
const AIM_MS = 1_000;
/** Targets are adjusted to a moving average of the hashrate. This is the weight of the latest measurement in it. */
const NEWEST = 0.5;
const FLOODED = `writes more than is read, on average ${MOST_READ.bytesPerSecond / 1e6} MB a second: the rest waits, and nothing is lost`;

interface ParentSourceOptions {
  /** The source's name for people: `the parent`, or the address that parents connect to. */
  readonly name: string;
  readonly rig: RigView;
  readonly emit: Listener;
  readonly clock: Clock;
  /** @returns the number of nonces that the devices have searched */
  readonly hashes: () => number;
  /**
   * Called when a session must drain: `drained` if the parent has asked for that, `input-ended` if the parent has ended
   * its side of the connection.
   */
  readonly drain: (session: ParentSession, reason: ByeReason) => void;
  /** Called when the last parent has disconnected. */
  readonly deserted?: () => void;
}

export class ParentSource extends BaseSource {
  readonly name: string;
  readonly kind = 'parent';
  readonly #options: ParentSourceOptions;
  #listener: UpdateListener = () => {};
  readonly #sessions = new Set<ParentSession>();
  readonly #origins = new WeakMap<Work, { readonly session: ParentSession; readonly job: ParentJob }>();
  #jobCount = 0;
  /** The work that was passed on last; undefined if its job has ended, or a `rest` update followed. */
  #given: Work | undefined;
  #hashesPerSecond = 0;
  #measured: { readonly ms: number; readonly hashes: number };
  #byeReason: ByeReason = 'stopped';

  constructor(options: ParentSourceOptions) {
    super();
    this.#options = options;
    this.name = options.name;
    this.#measured = { ms: options.clock.monotonicMs(), hashes: 0 };
  }

  connect(streams: ParentStreams): ParentSession {
    const { rig, clock, drain } = this.#options;
    const hooks = {
      nextNumber: () => ++this.#jobCount,
      changed: () => this.#giveNewest(),
      flooded: () => this.#report('warning', FLOODED),
      rests: (resting: ParentSession) => this.#rests(resting),
      ended: (jobs: readonly ParentJob[], reason: 'cancelled' | 'solved') => this.#cancel(jobs, reason),
      drain,
      closed: (closed: ParentSession) => this.#closed(closed),
    };
    const session = new ParentSession(streams, rig, hooks, clock);
    this.#sessions.add(session);
    if (this.#sessions.size === 1) this.#report('connected', 'is connected');
    session.begin();
    return session;
  }

  get sessions(): number {
    return this.#sessions.size;
  }

  answer(answer: Answer): void {
    for (const session of this.#sessions) session.inform(answer);
  }

  /** Sets the reason in the `bye` that is sent when `follow` is stopped. */
  set byeReason(reason: ByeReason) {
    this.#byeReason = reason;
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.#listener = listeningUntil(stop, listener);
    // A parent may have sent a job before this call.
    if (this.#given) listener({ kind: 'work', work: this.#given });
    const aiming = this.#options.clock.setInterval(() => this.#followRate(), AIM_MS);
    await aborted(stop);
    aiming.cancel();
    await Promise.all(Array.from(this.#sessions, (session) => session.leave(this.#byeReason)));
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const origin = this.#origins.get(solution.work);
    if (!origin) return { outcome: 'unknown', reason: 'no parent gave this work' };
    const { job, session } = origin;
    if (job.hasEnded) return { outcome: 'stale', reason: 'its job has ended' };
    if (solution.work.until === 'solved') session.solved(job);
    return await session.submit(job, solution, stop);
  }

  /** The time of this machine's clock. It is used only for jobs whose creation time may be changed. */
  latestTimeUs(): bigint {
    return this.#options.clock.nowUs();
  }

  #rests({ isResting, unreadShares }: ParentSession): void {
    if (isResting) this.#report('warning', `does not read: ${unreadShares} shares wait for it, and none is lost`);
    else this.#report('info', 'reads again');
    this.#giveNewest();
  }

  /** Passes on the newest job of the parents that read their shares; if no parent reads, the newest job of all. */
  #giveNewest(): void {
    const newest = this.#newest(({ isResting }) => !isResting) ?? this.#newest(() => true);
    if (!newest) {
      // If a work is still given here, its session drains. Solutions of that work still count, so it is not stale.
      if (this.#given) this.#listener({ kind: 'rest' });
      this.#given = undefined;
      return;
    }
    const { session, job } = newest;
    job.aim(session.leastDifficulty(this.#hashesPerSecond));
    if (job.work === this.#given) return;
    this.#given = job.work;
    this.#origins.set(job.work, newest);
    this.#listener({ kind: 'work', work: job.work });
  }

  #newest(isFit: (session: ParentSession) => boolean) {
    const all = [...this.#sessions].flatMap((session) => {
      const job = isFit(session) ? session.newest : undefined;
      return job ? [{ session, job }] : [];
    });
    return all.toSorted((a, b) => a.job.number - b.job.number).at(-1);
  }

  #cancel(jobs: readonly ParentJob[], reason: 'cancelled' | 'solved'): void {
    const works = jobs.flatMap((job) => job.works);
    if (works.some((work) => work === this.#given)) this.#given = undefined;
    this.#listener({ kind: 'stale', works, reason });
  }

  #closed(session: ParentSession): void {
    this.#sessions.delete(session);
    if (this.#sessions.size > 0) return;
    const reason = 'the last one has disconnected';
    this.#report('lost', reason);
    this.#listener({ kind: 'lost', reason });
    this.#options.deserted?.();
  }

  /** Measures the hashrate, and adjusts the target of the newest job to it. A second without hashes is left out. */
  #followRate(): void {
    const [ms, hashes] = [this.#options.clock.monotonicMs(), this.#options.hashes()];
    const rate = (1000 * (hashes - this.#measured.hashes)) / (ms - this.#measured.ms);
    this.#measured = { ms, hashes };
    if (rate <= 0) return;
    const before = this.#hashesPerSecond;
    this.#hashesPerSecond = before === 0 ? rate : NEWEST * rate + (1 - NEWEST) * before;
    this.#giveNewest();
  }

  #report(state: SourceNews, reason: string): void {
    this.#options.emit({ type: 'source', source: this.name, kind: this.kind, state, reason });
  }
}
