/** Passes a source's updates on: `updatesOf` to one consumer, `SharedSource` to several consumers. */

import { aborted, onAbort } from '../../base/system/abort.ts';
import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { SourceKind } from '../events/vocabulary.ts';
import { BaseSource, type CompleteSource, completed } from './complete-source.ts';
import type { Judge, SourceUpdate, UpdateListener, Verdict, WorkSource } from './source.ts';

/**
 * Shares one source among several consumers: each gets the current work and all later updates. The first consumer
 * starts the source, and `close` ends it once all submissions have settled.
 */
export class SharedSource extends BaseSource {
  readonly #source: CompleteSource;
  readonly #listeners = new Set<UpdateListener>();
  readonly #pending = new Set<Promise<Verdict>>();
  readonly #closing = new AbortController();
  #following: Promise<void> | undefined;
  #work: Work | undefined;
  #lost: SourceUpdate | undefined;
  /** What the source has thrown, and whether `follow` has thrown it to a consumer. */
  #fault: { readonly thrown: unknown; isPassedOn: boolean } | undefined;

  /** @param source must have no other user */
  constructor(source: WorkSource) {
    super();
    this.#source = completed(source);
  }

  get name(): string {
    return this.#source.name;
  }

  get kind(): SourceKind {
    return this.#source.kind;
  }

  /** Called once for each consumer. @throws what the source has thrown, even to a consumer that follows later */
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

  override nameOf(work: Work): string {
    return this.#source.nameOf(work);
  }

  override answers(stop: AbortSignal): Promise<boolean> {
    return this.#source.answers(stop);
  }

  override onHealth(judge: Judge): void {
    this.#source.onHealth(judge);
  }

  latestTimeUs(work: Work): bigint {
    return this.#source.latestTimeUs(work);
  }

  /** Waits for all submissions, then ends the source. @throws what the source threw, if `follow` has not thrown it */
  async close(): Promise<void> {
    await Promise.allSettled(this.#pending);
    this.#closing.abort();
    await this.#following;
    if (this.#fault && !this.#fault.isPassedOn) throw this.#fault.thrown;
  }

  #passOn(update: SourceUpdate): void {
    // The latest state is kept for consumers that follow later.
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

/**
 * Follows a source until `stop`. Updates wait until the consumer takes them. At most three wait: one `stale` with all
 * works that have become stale, the latest `work` or `rest`, and the latest `lost`.
 * @throws what the source has thrown, after the consumer has taken the updates before it
 */
export async function* updatesOf(source: WorkSource, stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
  const mailbox = new Mailbox();
  const ending = new AbortController();
  const release = onAbort(stop, () => {
    ending.abort();
    mailbox.wake();
  });
  const following = source
    .follow((update) => mailbox.put(update), ending.signal)
    .catch((thrown: unknown) => mailbox.fail(thrown));
  try {
    while (!stop.aborted) {
      const update = mailbox.take();
      if (update) yield update;
      else await mailbox.changed();
    }
  } finally {
    release();
    ending.abort();
    await following;
  }
}

class Mailbox {
  #stale: (SourceUpdate & { kind: 'stale' }) | undefined;
  #work: SourceUpdate | undefined;
  #lost: SourceUpdate | undefined;
  #fault: { readonly thrown: unknown } | undefined;
  /** Ends the wait of `changed`. Called when there may be an update to take, and when the consumer must stop. */
  wake: () => void = () => {};

  put(update: SourceUpdate): void {
    if (update.kind === 'work') {
      this.#work = update;
      // A source that gives work is within reach again.
      this.#lost = undefined;
    } else if (update.kind === 'rest') {
      this.#work = update;
    } else if (update.kind === 'stale') {
      const works = [...(this.#stale?.works ?? []), ...update.works];
      this.#stale = { ...update, works };
      if (this.#work?.kind === 'work' && works.includes(this.#work.work)) this.#work = undefined;
    } else {
      this.#lost = update;
    }
    this.wake();
  }

  fail(thrown: unknown): void {
    this.#fault = { thrown };
    this.wake();
  }

  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  /**
   * Removes the next update: `stale` comes before `work` or `rest`, and `lost` comes last.
   * @returns the update; undefined if none waits
   * @throws what the source has thrown, if no update waits
   */
  take(): SourceUpdate | undefined {
    const update = this.#stale ?? this.#work ?? this.#lost;
    if (!update && this.#fault) throw this.#fault.thrown;
    if (update === this.#stale) this.#stale = undefined;
    else if (update === this.#work) this.#work = undefined;
    else this.#lost = undefined;
    return update;
  }
}
