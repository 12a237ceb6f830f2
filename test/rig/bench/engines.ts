/** Engines for tests of the bench: honest ones, and ones that cheat. */

import type { DeviceKind } from '#pickaxe/miner/engine/device.js';
import type { Engine, EngineInfo, EngineListener, Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { type Job, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, type Range } from '#pickaxe/protocol/chain/nonce.js';
import { FakeEngine } from '../../fakes.ts';
import type { SteppedClock } from '../../stepped-clock.ts';

/** Steps are large, because the reference implementation hashes slowly enough. */
export const honest = (name = 'cpu') => new FakeEngine(name, { counters: 1_024, pages: 1 });

const STEP = { counters: 8_192, pages: 1 };
/** The number of candidates that a timed engine reports of each range. */
const FOUND_IN_RANGE = 2;

function firstOf(job: Job, range: Range, most: number): bigint[] {
  const found: bigint[] = [];
  // No hash meets the target of the work whose search is timed.
  if (job.searchTarget.every((byte) => byte === 0)) return found;
  for (let counter = range.counter; counter < range.counter + range.counters && found.length < most; counter++) {
    const nonce = { ...range, counter };
    if (solves(job, nonce)) found.push(joinNonce(nonce));
  }
  return found;
}

/**
 * An engine whose hashes take time only by a clock: it searches up to 8,192 nonces in `stepMs`. It reports the first
 * two candidates of each range, so it raises the doubt `DOUBT` about each challenge of 2^16 nonces.
 */
export function timed(clock: SteppedClock, name = 'cpu', stepMs = 100, most = FOUND_IN_RANGE): FakeEngine {
  const engine = new FakeEngine(name, STEP);
  if (name !== 'cpu') engine.kind = 'gpu';
  engine.reported = (job, range) => {
    clock.advance(stepMs);
    return firstOf(job, range, most);
  };
  return engine;
}

/** The candidates of a round of a timed engine: such a challenge has 16 pages. */
export const FOUND = 16 * FOUND_IN_RANGE;
export const DOUBT = `it found ${FOUND} candidates, and about 4096 are expected`;

/** Uses a real engine, and changes its reports with a function. */
export class Tampered implements Engine {
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

  get kind(): DeviceKind {
    return this.#engine.kind;
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
