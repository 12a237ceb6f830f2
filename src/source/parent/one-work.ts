/** A WorkSource that gives a single work, and takes its first solution. */

import type { Solution } from '../../chain/verify.ts';
import { creationTimeOf, type Work } from '../../chain/work.ts';
import { aborted } from '../../system/abort.ts';
import type { SourceUpdate, Verdict, WorkSource } from '../source.ts';

export class OneWork implements WorkSource {
  readonly name = 'the header';
  readonly #work: Work;
  readonly #solved: (solution: Solution) => void;

  /** @param solved called with the first solution */
  constructor(work: Work, solved: (solution: Solution) => void) {
    this.#work = work;
    this.#solved = solved;
  }

  async *updates(stop: AbortSignal): AsyncGenerator<SourceUpdate, void> {
    yield { kind: 'work', work: this.#work };
    await aborted(stop);
  }

  async submit(solution: Solution): Promise<Verdict> {
    this.#solved(solution);
    return { outcome: 'delivered', reason: '' };
  }

  /** The time stays as it is: whoever gave the header gets nothing but the nonce. */
  latestTimeUs(work: Work): bigint {
    return creationTimeOf(work.header);
  }
}
