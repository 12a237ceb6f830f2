/** Engines for tests of the bench: honest ones, and ones that cheat. */

import type { Engine, EngineInfo, EngineListener, Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { Job } from '#pickaxe/protocol/chain/job.js';
import { FakeEngine } from '../../fakes.ts';

/** Steps are large, because the reference implementation hashes slowly enough. */
export const honest = (name = 'cpu') => new FakeEngine(name, { counters: 1_024, pages: 1 });

/** Uses a real engine, and changes its reports with a function. */
export class Tampered implements Engine {
  readonly kind = 'cpu';
  readonly #engine: Engine;
  readonly #tamper: (report: SearchReport, search: number) => SearchReport;
  #searches = 0;

  /** @param tamper changes a report; it gets the number of the search, from 1 on */
  constructor(engine: Engine, tamper: (report: SearchReport, search: number) => SearchReport) {
    this.#engine = engine;
    this.#tamper = tamper;
  }

  get name(): string {
    return this.#engine.name;
  }

  open(listener?: EngineListener): Promise<EngineInfo> {
    return this.#engine.open(listener);
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport> {
    const search = ++this.#searches;
    for await (const report of this.#engine.search(job, ranges, stop)) yield this.#tamper(report, search);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/** Drops the first candidate of a search, like a kernel that skips nonces. */
export function withoutOne(engine: Engine, ofSearch: (search: number) => boolean = () => true): Engine {
  let spared = 0;
  return new Tampered(engine, (report, search) => {
    if (!ofSearch(search) || spared === search || report.candidates.length === 0) return report;
    spared = search;
    return { ...report, candidates: report.candidates.slice(1) };
  });
}

export const never: AbortSignal = new AbortController().signal;
