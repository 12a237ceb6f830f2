/** An engine that hashes nothing: a test says what each of its searches reports, and when it ends. */

import { onTestFinished } from 'vitest';
import { onAbort } from '#pickaxe/base/system/abort.js';
import type { DeviceKind } from '#pickaxe/miner/engine/device.js';
import type { Engine, EngineInfo, EngineListener, Ranges, SearchReport } from '#pickaxe/miner/engine/engine.js';
import { EngineSupervisor, type SupervisorOptions } from '#pickaxe/miner/loop/engine-supervisor.js';
import { Miner, type MinerOptions } from '#pickaxe/miner/loop/miner.js';
import { Assignment, Space } from '#pickaxe/miner/loop/space.js';
import { type Job, prepareJob } from '#pickaxe/protocol/chain/job.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { FakeClock } from '../../rig/status/fakes.ts';

/** So difficult that no nonce of a test solves it. */
export const NEVER = 2 ** 60;

/** The report of a search that has done nothing. */
export const NOTHING: SearchReport = {
  searched: { lane: 0, step: 1, page: 0, pages: 0, counter: 0, counters: 0 },
  hashes: 0,
  beganMs: 0,
  candidates: [],
};

export class SteppedEngine implements Engine {
  readonly name: string;
  kind: DeviceKind = 'cpu';
  info: EngineInfo = { model: 'fake', kernel: 'reference', why: 'it is a test' };
  readonly searches: SteppedSearch[] = [];
  opened = 0;
  closed = 0;
  /** Called by `open`, which throws what this throws. */
  opening: () => unknown = () => {};
  /** Whether searches that must stop go on until the test ends them. */
  lingers = false;
  /** The listener of the last opening. */
  listener: EngineListener = {};

  constructor(name = 'cpu') {
    this.name = name;
  }

  async open(listener: EngineListener = {}): Promise<EngineInfo> {
    this.opened++;
    this.listener = listener;
    await this.opening();
    return this.info;
  }

  search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncIterable<SearchReport> {
    const search = new SteppedSearch(job, ranges, stop);
    this.searches.push(search);
    if (!this.lingers) onAbort(stop, () => search.end());
    return search.reports();
  }

  async close(): Promise<void> {
    this.closed++;
  }

  get latest(): SteppedSearch {
    return this.searches.at(-1)!;
  }

  /** The searches that were not told to stop and have not ended. */
  get running(): SteppedSearch[] {
    return this.searches.filter(({ stop, isOver }) => !stop.aborted && !isOver);
  }
}

export class SteppedSearch {
  readonly job: Job;
  readonly ranges: Ranges;
  readonly stop: AbortSignal;
  isOver = false;
  readonly #steps: (SearchReport | { thrown: unknown } | 'end')[] = [];
  #wake = () => {};

  constructor(job: Job, ranges: Ranges, stop: AbortSignal) {
    this.job = job;
    this.ranges = ranges;
    this.stop = stop;
  }

  report(part: Partial<SearchReport> = {}): void {
    this.#add({ ...NOTHING, ...part });
  }

  fail(thrown: unknown): void {
    this.#add({ thrown });
  }

  /** If the search was not told to stop, this means that its space is used up. */
  end(): void {
    this.#add('end');
  }

  #add(step: SearchReport | { thrown: unknown } | 'end'): void {
    this.#steps.push(step);
    this.#wake();
  }

  async *reports(): AsyncGenerator<SearchReport> {
    try {
      for (;;) {
        const step = this.#steps.shift();
        if (step === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else if (step === 'end') return;
        else if ('thrown' in step) throw step.thrown;
        else yield step;
      }
    } finally {
      this.isOver = true;
    }
  }
}

export function assignmentOf(work: Work = makeWork(NEVER), cutMs?: number): Assignment {
  return new Assignment(prepareJob(work), new Space({ lane: 0, step: 1 }), cutMs);
}

/** Supervises an engine with a clock that the test moves, until the test ends. */
export function supervise(engine: SteppedEngine, options: Partial<SupervisorOptions> = {}) {
  const clock = new FakeClock();
  const events = new Recorder();
  const solved: Solution[] = [];
  const exhausted: Assignment[] = [];
  const hooks = {
    emit: events.listen,
    solved: (solution: Solution) => solved.push(solution),
    exhausted: (assignment: Assignment) => exhausted.push(assignment),
  };
  const supervisor = new EngineSupervisor(engine, hooks, { clock, ...options });
  const stop = new AbortController();
  const done = supervisor.run(stop.signal);
  endWithTest(stop, done, [engine]);
  const states = () => events.of('device').map(({ state }) => state);
  return { supervisor, clock, events, states, solved, exhausted, stop, done };
}

/** Mines with engines, a clock and a source that the test moves, until the test ends. */
export function mineStepped(engines: SteppedEngine[], options: Partial<MinerOptions> = {}) {
  const clock = new FakeClock();
  const events = new Recorder();
  const source = new FakeSource();
  const miner = new Miner({ source, engines, emit: events.listen, clock, ...options });
  const stop = new AbortController();
  const done = miner.run(stop.signal);
  endWithTest(stop, done, engines);
  return { miner, clock, events, source, stop, done };
}

function endWithTest(stop: AbortController, done: Promise<void>, engines: readonly SteppedEngine[]): void {
  onTestFinished(async () => {
    stop.abort();
    for (const search of engines.flatMap(({ searches }) => searches)) search.end();
    // A test that expects an error has awaited it.
    await done.catch(() => {});
  });
}
