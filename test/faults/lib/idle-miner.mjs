// A miner whose engine hashes nothing, so that many can run side by side. It records when it had which work, and can
// solve its current work on request.

import { randomInt } from 'node:crypto';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { nowMs, TimedRecords } from './timed-records.mjs';

const MINER = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };

export class IdleMiner {
  /** The current work from `atMs` on: its chain, its height and the rank of its node (0 is the first), or none. */
  turns = new TimedRecords();
  /** The miner's events. */
  events = new TimedRecords();
  #engine;
  #stopping = new AbortController();
  #running;

  /**
   * @param urls the nodes' URLs, in the order of preference
   * @param limits the limits of the nodes' sources that differ from the defaults
   */
  constructor(urls, limits = {}) {
    const emit = (event) => this.events.add({ ...event, atMs: nowMs() });
    const sources = urls.map((url) => new NodeSource({ url, network: 'development', miner: MINER }, { emit, limits }));
    const source = sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit });
    const rankOf = (work) => sources.findIndex(({ name }) => name === (source.nameOf?.(work) ?? name));
    this.#engine = new IdleEngine(this.turns, rankOf);
    const random = (below) => randomInt(below);
    const options = { source, engines: [this.#engine], emit, clock: systemClock, random };
    this.#running = new Miner(options).run(this.#stopping.signal);
  }

  /** Solves the current work. @throws Error when there is none */
  solve() {
    this.#engine.solve();
  }

  async stop() {
    this.#stopping.abort();
    await this.#running;
  }
}

class IdleEngine {
  name = 'cpu';
  kind = 'cpu';
  #turns;
  #rankOf;
  /** The jobs that are being searched, oldest first, each with a function that receives a report. */
  #searches = new Map();

  constructor(turns, rankOf) {
    this.#turns = turns;
    this.#rankOf = rankOf;
  }

  async open() {
    return { model: 'none', kernel: 'none', why: 'hashes nothing' };
  }

  async close() {}

  async *search(job, _ranges, stop) {
    const { chain, height } = job.work;
    this.#turns.add({ work: { rank: this.#rankOf(job.work), chain, height }, atMs: nowMs() });
    while (!stop.aborted) {
      const report = await new Promise((resolve) => {
        this.#searches.set(job, resolve);
        stop.addEventListener('abort', () => resolve(), { once: true });
      });
      if (report) yield report;
    }
    this.#searches.delete(job);
    if (this.#searches.size === 0) this.#turns.add({ work: undefined, atMs: nowMs() });
  }

  solve() {
    const [job, report] = [...this.#searches].at(-1) ?? [];
    if (!job) throw new Error('there is no work to solve');
    report(solution(job));
  }
}

/** @returns the report of an engine that has found a solution, for difficulties of a few hundred hashes */
function solution(job) {
  const parts = { lane: 0, step: 1, counter: 0, page: 0 };
  while (!verify(job, joinNonce(parts)).solution) parts.counter++;
  const searched = { ...parts, counters: 1, pages: 1 };
  return { searched, hashes: 1, beganMs: nowMs(), candidates: [joinNonce(parts)] };
}
