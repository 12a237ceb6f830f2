// A whole miner whose engine hashes nothing: it notes when it is on which work, so that many can run side by side. It can
// be told to solve what it is on.

import { randomInt } from 'node:crypto';
import { joinNonce } from '#pickaxe/chain/nonce.js';
import { verify } from '#pickaxe/chain/verify.js';
import { Miner } from '#pickaxe/mine/miner.js';
import { FailoverSource } from '#pickaxe/source/failover.js';
import { NodeSource } from '#pickaxe/source/node/node-source.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { nowMs, Told } from './told.mjs';

const MINER = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };

export class IdleMiner {
  /** What it was on from `atMs` on: the id, chain and height of a `work`, or none. */
  turns = new Told();
  /** What the miner told. */
  events = new Told();
  #engine = new IdleEngine(this.turns);
  #stopping = new AbortController();
  #running;

  /**
   * @param urls of nodes, in the order of preference
   * @param limits of each node's source, where they are not those that are shipped
   */
  constructor(urls, limits = {}) {
    const emit = (event) => this.events.add({ ...event, atMs: nowMs() });
    const sources = urls.map((url) => new NodeSource({ url, network: 'development', miner: MINER }, { emit, limits }));
    const source = sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit });
    const random = (below) => randomInt(below);
    const options = { source, engines: [this.#engine], emit, clock: systemClock, random };
    this.#running = new Miner(options).run(this.#stopping.signal);
  }

  /** Solves the work that it is on. @throws Error when it is on none */
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
  /** Jobs that are searched, oldest first, each with what takes a report of it. */
  #searches = new Map();

  constructor(turns) {
    this.#turns = turns;
  }

  async open() {
    return { model: 'none', kernel: 'none', why: 'hashes nothing' };
  }

  async close() {}

  async *search(job, _ranges, stop) {
    const { id, chain, height } = job.work;
    this.#turns.add({ work: { id, chain, height }, atMs: nowMs() });
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

/** What an engine reports that has found one. For difficulties of a few hundred hashes. */
function solution(job) {
  const parts = { lane: 0, counter: 0, page: 0 };
  while (!verify(job, joinNonce(parts)).solution) parts.counter++;
  const searched = { ...parts, counters: 1, pages: 1 };
  return { searched, hashes: 1, beganMs: nowMs(), candidates: [joinNonce(parts)] };
}
