/**
 * Shares one source among several consumers: each gets the current work and all later updates. The first consumer
 * starts the source, and `close` ends it once all submissions have settled.
 */

import { aborted, onAbort } from '../../base/system/abort.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { Listener } from '../events/events.ts';
import type { SourceKind } from '../events/vocabulary.ts';
import type { Judge, SourceUpdate, UpdateListener, Verdict, WorkSource } from './source.ts';

export class SharedSource implements WorkSource {
  readonly name: string;
  readonly #source: WorkSource;
  readonly #listeners = new Set<UpdateListener>();
  readonly #pending = new Set<Promise<Verdict>>();
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #work: Work | undefined;
  #lost: SourceUpdate | undefined;
  /** What the source has thrown, and whether a consumer has received it. */
  #fault: { readonly thrown: unknown; isPassedOn: boolean } | undefined;

  /** @param source must have no other user */
  constructor(source: WorkSource) {
    this.#source = source;
    this.name = source.name;
    const answers = source.answers?.bind(source);
    if (answers) this.answers = answers;
  }

  readonly answers?: (stop: AbortSignal) => Promise<boolean>;

  /** May be called once for each consumer. @throws what the source has thrown, to each consumer, also to later ones */
  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    if (this.#work) listener({ kind: 'work', work: this.#work });
    if (this.#lost) listener(this.#lost);
    this.#listeners.add(listener);
    this.#following ??= this.#source
      .follow((update) => this.#passOn(update), this.#closing.signal)
      .catch((thrown: unknown) => {
        this.#fault = { thrown, isPassedOn: false };
      });
    const stopped = aborted(stop);
    await Promise.race([stopped, this.#following]);
    if (!this.#fault) await stopped;
    this.#listeners.delete(listener);
    if (stop.aborted || !this.#fault) return;
    this.#fault.isPassedOn = true;
    throw this.#fault.thrown;
  }

  submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const verdict = this.#source.submit(solution, stop);
    this.#pending.add(verdict);
    const forget = () => void this.#pending.delete(verdict);
    verdict.then(forget, forget);
    return verdict;
  }

  nameOf(work: Work): string {
    return this.#source.nameOf?.(work) ?? this.name;
  }

  latestTimeUs(work: Work): bigint {
    return this.#source.latestTimeUs(work);
  }

  /** Waits for all submissions, then ends the source. @throws what the source has thrown, if no consumer got it */
  async close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    this.#closing.abort();
    await this.#following;
    if (this.#fault && !this.#fault.isPassedOn) throw this.#fault.thrown;
  }

  #passOn(update: SourceUpdate): void {
    // Kept for consumers that follow later.
    if (update.kind === 'work') {
      this.#work = update.work;
      this.#lost = undefined;
    } else if (update.kind === 'rest') {
      this.#work = undefined;
    } else if (update.kind === 'stale') {
      if (this.#work && update.works.includes(this.#work)) this.#work = undefined;
    } else {
      this.#lost = update;
    }
    for (const listener of this.#listeners) listener(update);
  }
}

/** A source that can be revoked: from then on it gives no work and takes no solutions. */
export class RevocableSource implements WorkSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly #source: WorkSource;
  readonly #emit: Listener;
  readonly #revocation = new AbortController();
  #reason = '';

  /** @param source must have no other user */
  constructor(source: WorkSource, emit: Listener) {
    this.#source = source;
    this.#emit = emit;
    this.name = source.name;
    this.kind = source.kind ?? 'node';
    const answers = source.answers?.bind(source);
    if (answers) this.answers = answers;
    const onHealth = source.onHealth?.bind(source);
    if (onHealth) this.onHealth = onHealth;
  }

  readonly answers?: (stop: AbortSignal) => Promise<boolean>;
  readonly onHealth?: (judge: Judge) => void;

  get isRevoked(): boolean {
    return this.#revocation.signal.aborted;
  }

  /**
   * Leaves the source for good: its work is stale, and it counts as lost. @param reason follows its name in a sentence
   */
  revoke(reason: string): void {
    if (this.isRevoked) return;
    this.#reason = reason;
    this.#revocation.abort();
    this.#emit({ type: 'source', source: this.name, kind: this.kind, state: 'lost', reason });
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    const ending = new AbortController();
    const releases = [stop, this.#revocation.signal].map((signal) => onAbort(signal, () => ending.abort()));
    let work: Work | undefined;
    const passOn = (update: SourceUpdate) => {
      if (ending.signal.aborted) return;
      if (update.kind === 'work') work = update.work;
      listener(update);
    };
    try {
      if (!ending.signal.aborted) await this.#source.follow(passOn, ending.signal);
      if (stop.aborted) return;
      if (work) listener({ kind: 'stale', works: [work], reason: 'cancelled' });
      listener({ kind: 'lost', reason: this.#reason });
      await aborted(stop);
    } finally {
      for (const release of releases) release();
    }
  }

  async submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    if (this.isRevoked) return { outcome: 'stale', reason: `not sent: ${this.name} ${this.#reason}` };
    return await this.#source.submit(solution, stop);
  }

  latestTimeUs(work: Work): bigint {
    return this.#source.latestTimeUs(work);
  }
}
