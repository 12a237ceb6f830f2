/** Sources and engines that a test controls. */

import type { DeviceKind } from '#pickaxe/miner/engine/device.js';
import type {
  DeviceError,
  Engine,
  EngineInfo,
  EngineListener,
  Ranges,
  SearchReport,
} from '#pickaxe/miner/engine/engine.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import type { StaleReason } from '#pickaxe/miner/events/vocabulary.js';
import type { SourceUpdate, UpdateListener, Verdict, WorkSource } from '#pickaxe/miner/source/source.js';
import { type Job, solves } from '#pickaxe/protocol/chain/job.js';
import { joinNonce, type Range, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { Solution } from '#pickaxe/protocol/chain/verify.js';
import { parseWork, type Work, type WorkTerms } from '#pickaxe/protocol/chain/work.js';

/** A queue that can be awaited: what is pushed comes out in order, and errors are thrown. */
class Queue<T> {
  readonly #items: (T | Error)[] = [];
  #wake: () => void = () => {};

  push(item: T | Error): void {
    this.#items.push(item);
    this.#wake();
  }

  async *drain(stop: AbortSignal): AsyncGenerator<T> {
    stop.addEventListener('abort', () => this.#wake(), { once: true });
    while (!stop.aborted) {
      const item = this.#items.shift();
      if (item instanceof Error) throw item;
      if (item !== undefined) yield item;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

let made = 0;

/** @param difficulty how many hashes a solution needs on average */
export function makeWork(difficulty: number, terms: Partial<WorkTerms> = {}): Work {
  const number = ++made;
  const record = new Uint8Array(322);
  record[0] = number % 20;
  record.set(targetForDifficulty(difficulty), 4);
  for (let i = 36; i < 322; i++) record[i] = (number * 31 + i * 17) & 0xff;
  record.set(targetForDifficulty(difficulty), 36 + 158);
  new DataView(record.buffer).setBigInt64(36 + 8, BigInt(Date.now()) * 1000n - 30_000_000n, true);
  return parseWork(record, { ...terms });
}

export class FakeSource implements WorkSource {
  readonly name = 'fake source';
  readonly submitted: Solution[] = [];
  /** Answers each submission. */
  verdict: (solution: Solution) => Verdict | Promise<Verdict> = () => ({ outcome: 'accepted', reason: '' });
  latestUs = () => BigInt(Date.now()) * 1000n;
  /** Whether the source answers. Absent for a source that cannot find out whether it does. */
  answers?: () => Promise<boolean>;
  /** Whether anybody has asked for work. */
  started = false;
  /** Whether all who asked for work have stopped. */
  ended = false;
  readonly #given: Work[] = [];
  readonly #updates = new Queue<SourceUpdate>();

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    this.started = true;
    stop.addEventListener('abort', () => {
      this.ended = true;
    });
    for await (const update of this.#updates.drain(stop)) listener(update);
  }

  async submit(solution: Solution): Promise<Verdict> {
    this.submitted.push(solution);
    return this.verdict(solution);
  }

  latestTimeUs(): bigint {
    return this.latestUs();
  }

  work(work: Work): Work {
    this.#given.push(work);
    this.#updates.push({ kind: 'work', work });
    return work;
  }

  /** Makes these works stale, by default all that were given and are not stale. The default reason is a New Cut. */
  stale(...condemned: [StaleReason, ...Work[]] | Work[]): void {
    const [first, ...others] = condemned;
    const [reason, named] = typeof first === 'string' ? [first, others] : (['new-cut', condemned] as const);
    const works = named.length > 0 ? (named as Work[]) : this.#given.splice(0);
    this.#updates.push({ kind: 'stale', works, reason });
  }

  rest(): void {
    this.#updates.push({ kind: 'rest' });
  }

  /** Throws after all updates so far, although no source may throw. */
  fail(fault = new Error('a fault of the source')): Error {
    this.#updates.push(fault);
    return fault;
  }

  lost(): void {
    this.#updates.push({ kind: 'lost', reason: 'the test says so' });
  }
}

const NOTHING: Range = { lane: 0, step: 1, page: 0, pages: 0, counter: 0, counters: 0 };

/** An engine that really searches, in small steps, with the reference implementation. */
export class FakeEngine implements Engine {
  readonly name: string;
  kind: DeviceKind = 'cpu';
  /** Every job that the engine was given. */
  readonly jobs: Job[] = [];
  /** The ranges that the engine searched, and the number of the job: 1 is the first. */
  readonly searched: { job: number; range: Range }[] = [];
  opened = 0;
  /** The time at which the engine reports to have begun each range. */
  beganMs = 0;
  /** The PCI address of its card. */
  bus: string | undefined;
  /** Changes of the default result of `open`. */
  info: Partial<EngineInfo> = {};
  closed = 0;
  /** `open` waits for this promise. */
  opening: Promise<void> = Promise.resolve();
  /** Errors that the next calls of `open` throw, in order. */
  readonly openFaults: Error[] = [];
  /** An error that the running search throws once this is set. */
  fault: DeviceError | undefined;
  /** Wrong candidates to report in addition to the true ones. */
  wrong: bigint[] = [];
  /** Returns the candidates to report for a range. By default the engine reports what it finds. */
  reported: ((job: Job, range: Range) => bigint[]) | undefined;
  /** Whether every report has a wrong candidate. */
  alwaysWrong = false;
  /** Ends all searches, as closing does. */
  endsSearches = false;
  /** The listener of the last opening. */
  listener: EngineListener | undefined;
  /** Whether candidates are reported only when the search is stopped, as for a dispatch that cannot be interrupted. */
  late = false;
  /** The size of ranges to take. */
  readonly step: { counters: number; pages: number };

  constructor(name = 'cpu', step = { counters: 64, pages: 1 }) {
    this.name = name;
    this.step = step;
  }

  async open(listener?: EngineListener): Promise<EngineInfo> {
    this.listener = listener;
    this.endsSearches = false;
    this.opened++;
    await this.opening;
    const fault = this.openFaults.shift();
    if (fault) throw fault;
    return {
      model: 'fake',
      kernel: 'reference',
      why: 'it is a test',
      ...(this.bus && { bus: this.bus }),
      ...this.info,
    };
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport> {
    const number = this.jobs.push(job);
    const kept: bigint[] = [];
    while (!stop.aborted && !this.endsSearches) {
      const range = ranges.take(this.step);
      if (!range) return;
      if (this.fault) {
        ranges.giveBack(range);
        throw this.fault;
      }
      this.searched.push({ job: number, range });
      const found = [
        ...(this.reported?.(job, range) ?? hitsIn(job, range)),
        ...this.wrong.splice(0),
        ...(this.alwaysWrong ? [7n] : []),
      ];
      if (this.late) kept.push(...found);
      yield { searched: range, hashes: sizeOf(range), beganMs: this.beganMs, candidates: this.late ? [] : found };
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.late) yield { searched: NOTHING, hashes: 0, beganMs: 0, candidates: kept };
  }

  async close(): Promise<void> {
    this.endsSearches = true;
    this.closed++;
  }
}

/** @returns the nonces of a range that solve the job. In a large range only the first counters are tried */
function* hitsIn(job: Job, range: Range): Generator<bigint> {
  const end = range.counter + Math.min(range.counters, 1_024);
  for (let counter = range.counter; counter < end; counter++) {
    const nonce = { ...range, counter };
    if (solves(job, nonce)) yield joinNonce(nonce);
  }
}

export class Recorder {
  readonly all: MinerEvent[] = [];

  readonly listen = (event: MinerEvent): void => {
    this.all.push(event);
  };

  of<Name extends MinerEvent['type']>(name: Name): Extract<MinerEvent, { type: Name }>[] {
    return this.all.filter((event) => event.type === name) as Extract<MinerEvent, { type: Name }>[];
  }
}
