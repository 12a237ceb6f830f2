/** Adds the optional members of the WorkSource interface to sources that lack them. */

import type { Solution } from '../../protocol/chain/verify.ts';
import type { Work } from '../../protocol/chain/work.ts';
import type { SourceKind } from '../events/vocabulary.ts';
import type { Judge, UpdateListener, Verdict, WorkSource } from './source.ts';

export type CompleteSource = Required<WorkSource>;

/** Implements the optional members with their defaults. */
export abstract class BaseSource implements CompleteSource {
  abstract readonly name: string;
  abstract readonly kind: SourceKind;

  abstract follow(listener: UpdateListener, stop: AbortSignal): Promise<void>;
  abstract submit(solution: Solution, stop: AbortSignal): Promise<Verdict>;
  abstract latestTimeUs(work: Work): bigint;

  nameOf(_work: Work): string {
    return this.name;
  }

  async answers(_stop: AbortSignal): Promise<boolean> {
    return true;
  }

  onHealth(_judge: Judge): void {}
}

/**
 * For each source, its completed source. Failover compares sources by identity, so each source is completed only once.
 */
const completions = new WeakMap<WorkSource, CompleteSource>();

/** @returns the source itself if it is a BaseSource; otherwise its wrapper, which is the same object at each call */
export function completed(source: WorkSource): CompleteSource {
  if (source instanceof BaseSource) return source;
  let completion = completions.get(source);
  if (!completion) {
    completion = new CompletedSource(source);
    completions.set(source, completion);
  }
  return completion;
}

class CompletedSource extends BaseSource {
  readonly #source: WorkSource;

  constructor(source: WorkSource) {
    super();
    this.#source = source;
  }

  get name(): string {
    return this.#source.name;
  }

  get kind(): SourceKind {
    return this.#source.kind ?? 'node';
  }

  follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    return this.#source.follow(listener, stop);
  }

  submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    return this.#source.submit(solution, stop);
  }

  latestTimeUs(work: Work): bigint {
    return this.#source.latestTimeUs(work);
  }

  override nameOf(work: Work): string {
    return this.#source.nameOf?.(work) ?? this.name;
  }

  override async answers(stop: AbortSignal): Promise<boolean> {
    return (await this.#source.answers?.(stop)) ?? true;
  }

  override onHealth(judge: Judge): void {
    this.#source.onHealth?.(judge);
  }
}
