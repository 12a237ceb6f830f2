/**
 * Shares one source among several consumers: each gets the current work and all later updates. The first consumer
 * starts the source, and `close` ends it once all submissions have settled.
 */

import { aborted } from '../../base/system/abort.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { SourceUpdate, UpdateListener, Verdict, WorkSource } from './source.ts';

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
