/** A source that can be left for good: from then on it gives no work, and takes no solutions. */

import type { Solution } from '../chain/verify.ts';
import type { Work } from '../chain/work.ts';
import type { Listener } from '../events/events.ts';
import { aborted, onAbort } from '../system/abort.ts';
import type { SourceUpdate, Verdict, WorkSource } from './source.ts';
import type { SourceKind } from './vocabulary.ts';

export class RevocableSource implements WorkSource {
  readonly name: string;
  readonly kind: SourceKind;
  readonly #source: WorkSource;
  readonly #emit: Listener;
  readonly #revocation = new AbortController();
  #reason = '';

  /** @param source must not be used by anybody else */
  constructor(source: WorkSource, emit: Listener) {
    this.#source = source;
    this.#emit = emit;
    this.name = source.name;
    this.kind = source.kind ?? 'node';
    const answers = source.answers?.bind(source);
    if (answers) this.answers = answers;
  }

  /** Whether the source answers. Absent when the source cannot find out. */
  readonly answers?: (stop: AbortSignal) => Promise<boolean>;

  get isRevoked(): boolean {
    return this.#revocation.signal.aborted;
  }

  /**
   * Leaves the source, until the process ends. Its work becomes stale at once, and it counts as lost.
   * @param reason what follows its name in a sentence
   */
  revoke(reason: string): void {
    if (this.isRevoked) return;
    this.#reason = reason;
    this.#revocation.abort();
    this.#emit({ type: 'source', source: this.name, kind: this.kind, state: 'lost', reason });
  }

  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    const ending = new AbortController();
    const releases = [stop, this.#revocation.signal].map((signal) => onAbort(signal, () => ending.abort()));
    let work: Work | undefined;
    try {
      if (!ending.signal.aborted) {
        for await (const update of this.#source.updates(ending.signal)) {
          if (update.kind === 'work') work = update.work;
          yield update;
        }
      }
      if (stop.aborted) return;
      if (work) yield { kind: 'stale', works: [work], reason: 'cancelled' };
      yield { kind: 'lost', reason: this.#reason };
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
