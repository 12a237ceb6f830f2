/** Real rigs and coordinators, on nodes and NATS servers in memory, under random faults. */

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { submitToAll } from '#pickaxe/app/composition/choose-source.js';
import { aborted, pause } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FleetRelay } from '#pickaxe/fleet/coordinator/fleet-relay.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import { updatesOf } from '#pickaxe/miner/source/following.js';
import { submitSolution } from '#pickaxe/miner/source/node/submission.js';
import { creationTimeFor, type UpdateListener, type Verdict, type WorkSource } from '#pickaxe/miner/source/source.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { prepareJob } from '#pickaxe/protocol/chain/job.js';
import { type Solution, verify } from '#pickaxe/protocol/chain/verify.js';
import { creationTimeOf, nonceOf, type Work, withCreationTime, withNonce } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { type FakeLink, FakeNats } from '../nats/fake-nats.ts';
import { pass, SUBJECTS } from './world.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A reproducible generator: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const EASY = 4;

/** A node with one chain: a New Cut ends its work, and an accepted solution is a New Cut. */
class ModelNode {
  work = makeWork(EASY);
  isUp = true;
  /** Chance that the answer to a solution is lost. */
  loses = 0;
  slowMs = 0;
  skewMs = 0;
  readonly accepted: string[] = [];
  readonly wrong: string[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  get nowUs(): bigint {
    return BigInt(Date.now() + this.skewMs) * 1000n;
  }

  onCut(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  cut(): void {
    this.work = makeWork(EASY);
    for (const each of [...this.#listeners]) each();
  }

  async post(header: Uint8Array, stop: AbortSignal): Promise<{ status: number; text: string }> {
    await pause(systemClock, this.slowMs * this.#random(), stop);
    if (!this.isUp || stop.aborted) throw new NodeError('unreachable', 'the node is away');
    const key = toHex(header);
    const isLost = this.#random() < this.loses;
    const known = withNonce(withCreationTime(this.work.header, creationTimeOf(header)), nonceOf(header));
    const isOurs = toHex(known) === key;
    // A work that it does not know is no fault: solutions of another coordinator's works go to all nodes.
    if (isOurs && creationTimeOf(header) > this.nowUs) this.wrong.push(`time ${creationTimeOf(header) - this.nowUs}`);
    if (isOurs && !verify(prepareJob(this.work, creationTimeOf(header)), nonceOf(header)).solution) {
      this.wrong.push('hash');
    }
    if (isOurs) {
      this.accepted.push(key);
      this.cut();
    }
    await pause(systemClock, this.slowMs * this.#random(), stop);
    if (isLost || stop.aborted) throw new NodeError('timed out', 'the answer was lost', { mayHaveBeenTaken: true });
    return isOurs ? { status: 200, text: '' } : { status: 404, text: 'No associated Payload' };
  }
}

class ModelSource implements WorkSource {
  readonly name: string;
  readonly node: ModelNode;
  isDead = false;

  constructor(name: string, node: ModelNode) {
    this.name = name;
    this.node = node;
  }

  async follow(listener: UpdateListener, stop: AbortSignal): Promise<void> {
    let work = this.node.work;
    listener({ kind: 'work', work });
    const end = this.node.onCut(() => {
      listener({ kind: 'stale', works: [work], reason: 'new-cut' });
      work = this.node.work;
      listener({ kind: 'work', work });
    });
    let wasUp = true;
    const looking = setInterval(() => {
      const { isUp } = this.node;
      if (isUp && !wasUp) listener({ kind: 'work', work });
      else if (!isUp && wasUp) listener({ kind: 'lost', reason: 'the node is away' });
      wasUp = isUp;
    }, 300);
    await aborted(stop);
    clearInterval(looking);
    end();
  }

  submit(solution: Solution, stop: AbortSignal): Promise<Verdict> {
    const post = async (signal: AbortSignal) => {
      if (this.isDead) throw new NodeError('unreachable', 'dead');
      const answer = await this.node.post(solution.header, signal);
      return answer;
    };
    const isOutdated = () => false;
    return submitSolution(
      {
        post,
        isOutdated,
        earlyMs: () => 0,
        onSent: () => {},
        pause: (ms, signal) => pause(systemClock, ms, signal),
        lifeMs: 30_000,
        clock: systemClock,
        random: () => 0.5,
        limits: nodeLimits,
      },
      stop,
    );
  }

  latestTimeUs(): bigint {
    return this.node.nowUs - 1_000n;
  }
}

let instances = 0;

class Member {
  readonly name: string;
  readonly nats: FakeNats;
  readonly nodes: readonly ModelNode[];
  link: FakeLink;
  stop = new AbortController();
  sources: ModelSource[] = [];
  running: Promise<void> = Promise.resolve();
  isAlive = false;

  constructor(nats: FakeNats, name: string, nodes: readonly ModelNode[]) {
    this.nats = nats;
    this.name = name;
    this.nodes = nodes;
    this.link = nats.link(name, SUBJECTS.inbox(name));
  }

  async start(): Promise<void> {
    this.stop = new AbortController();
    this.link = this.nats.link(this.name, SUBJECTS.inbox(this.name));
    this.sources = this.nodes.map((node, i) => new ModelSource(`${this.name} node ${i}`, node));
    const log = () => {};
    const relay = new FleetRelay({
      source: new FailoverSource({ sources: this.sources }),
      emit: () => {},
      clock: systemClock,
      log: { debug: log, info: log, warn: log },
      link: this.link,
      subjects: SUBJECTS,
      name: this.name,
      instance: (++instances).toString(16).padStart(16, '0'),
      submitElsewhere: (solution, stop) => submitToAll(this.sources, solution, stop),
    });
    this.isAlive = true;
    const { stop } = this;
    try {
      await relay.open();
    } catch {
      return;
    }
    this.running = relay.run(stop.signal);
  }

  kill(): void {
    this.isAlive = false;
    this.link.disconnect();
    this.link.reconnect = () => {};
    for (const source of this.sources) source.isDead = true;
    this.stop.abort();
  }
}

class ModelRig {
  readonly source: FleetSource;
  readonly link: FakeLink;
  readonly stop = new AbortController();
  readonly found: { header: string; work: Work; verdicts: Verdict[]; atMs: number }[] = [];
  readonly stale = new Set<Work>();
  readonly solved = new Set<Work>();
  readonly faults: string[] = [];
  current: Work | undefined;
  readonly running: Promise<void>;

  constructor(nats: FakeNats, name: string, random: () => number) {
    this.link = nats.link(name, SUBJECTS.inbox(name));
    this.source = new FleetSource({ name: 'fleet', link: this.link, subjects: SUBJECTS, rig: name }, { random });
    this.running = this.#follow();
  }

  async #follow(): Promise<void> {
    for await (const update of updatesOf(this.source, this.stop.signal)) {
      if (update.kind === 'work') {
        if (this.stale.has(update.work)) this.faults.push('gave a work that has ended');
        else if (!this.solved.has(update.work)) this.current = update.work;
      } else if (update.kind === 'rest') this.current = undefined;
      else if (update.kind === 'stale') {
        for (const work of update.works) this.stale.add(work);
        if (this.current && update.works.includes(this.current)) this.current = undefined;
      }
    }
  }

  find(random: () => number): void {
    const work = this.current;
    if (!work) return;
    const job = prepareJob(work, creationTimeFor(work, this.source));
    let solution: Solution | undefined;
    while (!solution) solution = verify(job, BigInt(Math.floor(random() * 2 ** 50))).solution;
    this.solved.add(work);
    this.current = undefined;
    const entry = { header: toHex(solution.header), work, verdicts: [] as Verdict[], atMs: Date.now() };
    this.found.push(entry);
    void this.source.submit(solution, this.stop.signal).then((verdict) => entry.verdicts.push(verdict));
  }
}

const SEEDS = 6;
const TIMEOUT_MS = 600_000;

/** @param outcomes gets each verdict's outcome @returns what must not have happened */
async function run(seed: number, outcomes: string[]): Promise<string[]> {
  const random = seeded(seed);
  const chance = (p: number) => random() < p;
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)];
  const nats = new FakeNats();
  const nodes = [new ModelNode(random), new ModelNode(random)];
  nodes[1].skewMs = pick([0, 0, -800, -5_000, 3_000]);
  const ownNodes = chance(0.5)
    ? [[nodes[0]], [nodes[0]]]
    : [
        [nodes[0], nodes[1]],
        [nodes[1], nodes[0]],
      ];
  const coordinators = ['c1', 'c2'].map((name, i) => new Member(nats, name, ownNodes[i]));
  for (const each of coordinators) await each.start();
  const rigs = Array.from({ length: 4 }, (_, i) => new ModelRig(nats, `r${i}`, random));
  let lossy = 0;
  let slowMs = 0;
  const cutOff = new Set<string>();
  nats.delivers = (_, to) => {
    if (cutOff.has(to.name)) return false;
    return !(lossy > 0 && random() < lossy);
  };
  nats.delayMs = () => (slowMs > 0 ? random() * slowMs : 0);
  await pass(1_500);
  const stepMs = 200;
  for (let step = 0; step < 150; step++) {
    if (chance(0.02)) lossy = chance(0.5) ? 0 : random() * 0.3;
    if (chance(0.02)) slowMs = chance(0.5) ? 0 : random() * 800;
    if (chance(0.03)) {
      const node = pick(nodes);
      node.isUp = !node.isUp;
    }
    if (chance(0.03)) pick(nodes).loses = chance(0.5) ? 0 : random();
    if (chance(0.03)) pick(nodes).slowMs = chance(0.5) ? 0 : random() * 6_000;
    if (chance(0.05)) pick(nodes).cut();
    if (chance(0.03)) {
      const link = pick([...rigs, ...coordinators.filter(({ isAlive }) => isAlive)]).link;
      if (link.state.isConnected) link.disconnect();
      else link.reconnect();
    }
    if (chance(0.02)) {
      const name = pick(['c1', 'c2', 'r0', 'r1']);
      if (!cutOff.delete(name)) cutOff.add(name);
    }
    if (chance(0.03)) {
      const each = pick(coordinators);
      if (each.isAlive) each.kill();
      else await Promise.race([each.start(), pass(7_000)]);
    }
    if (chance(0.3)) pick(rigs).find(random);
    await pass(stepMs);
  }
  lossy = 0;
  slowMs = 0;
  cutOff.clear();
  for (const node of nodes) {
    node.isUp = true;
    node.loses = 0;
    node.slowMs = 0;
  }
  for (const { link } of rigs) link.reconnect();
  for (const each of coordinators) {
    if (each.isAlive) each.link.reconnect();
    else await Promise.race([each.start(), pass(7_000)]);
  }
  await pass(5_000);
  const faults: string[] = [];
  const newest = new Set(nodes.map(({ work }) => toHex(work.header)));
  const checkWorks = () => {
    for (const [i, rig] of rigs.entries()) {
      if (!rig.current) faults.push(`rig ${i} rests`);
      else if (!newest.has(toHex(rig.current.header))) faults.push(`rig ${i} mines an old work`);
    }
  };
  checkWorks();
  // After 90 s without a New Cut, some rigs leave their coordinators, and mine works that they had left before.
  await pass(100_000);
  checkWorks();
  for (const rig of rigs) faults.push(...rig.faults);
  const isOpen = () => rigs.some(({ found }) => found.some(({ verdicts }) => verdicts.length === 0));
  for (let i = 0; i < 64 && isOpen(); i++) await pass(5_000);
  for (const rig of rigs) {
    for (const { header, verdicts, atMs } of rig.found) {
      if (verdicts.length !== 1) faults.push(`${verdicts.length} verdicts for one found at ${atMs}`);
      const wasAccepted = nodes.some(({ accepted }) => accepted.includes(header));
      const [verdict] = verdicts;
      if (!verdict) continue;
      outcomes.push(verdict.outcome);
      if (verdict.outcome === 'accepted' && !wasAccepted) faults.push('accepted, but by no node');
      if ((verdict.outcome === 'stale' || verdict.outcome === 'rejected') && wasAccepted) {
        faults.push(`${verdict.outcome}, but a node accepted it: ${verdict.reason}`);
      }
      if (verdict.outcome === 'rejected') faults.push(`rejected: ${verdict.reason}`);
    }
  }
  for (const node of nodes) {
    faults.push(...node.wrong.map((what) => `wrong submission: ${what}`));
    const twice = node.accepted.length - new Set(node.accepted).size;
    if (twice > 0) faults.push('accepted twice');
  }
  for (const rig of rigs) rig.stop.abort();
  for (const each of coordinators) each.stop.abort();
  await pass(12_000);
  await Promise.all([...rigs, ...coordinators].map(({ running }) => running));
  return faults;
}

it(
  'each solution gets one true verdict, and rigs come back to the newest work within 5 s',
  async () => {
    const outcomes: string[] = [];
    const faults: Record<number, string[]> = {};
    for (let seed = 1; seed <= SEEDS; seed++) {
      const found = await run(seed, outcomes);
      if (found.length > 0) faults[seed] = found;
    }
    expect(faults).toEqual({});
    // The faults are bad enough for the other outcomes, too.
    expect(new Set(outcomes)).toEqual(new Set(['accepted', 'stale', 'unknown']));
  },
  TIMEOUT_MS,
);
