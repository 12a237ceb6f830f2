/** The stratum server with simulated ASICs, in virtual time, over faulty connections. */

import { describe, expect, it } from 'vitest';
import { sharedController } from '#pickaxe/base/system/abort.js';
import type { StratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';
import { StratumRelay } from '#pickaxe/miner/relay/stratum/stratum-server.js';
import { randomBytes, seededRandom } from '#pickaxe/mock-node/random.js';
import { HEADER_BYTES, HEADER_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf, workOfHeader } from '#pickaxe/protocol/chain/work.js';
import { FakeSource, Recorder } from '../fakes.ts';
import { SimulatedAsic } from './asic.ts';
import type { AsicHabits, ShareKind } from './asic-habits.ts';
import { PipePort } from './pipe.ts';
import { VirtualTime } from './virtual-time.ts';

const MINUTE_MS = 60_000;
/** Its hashes are never found. */
const NO_BLOCK = 2 ** 60;

interface World {
  readonly limits?: Partial<StratumLimits>;
  /** Hashes per block. */
  readonly difficulty?: number;
  /** Time between two blocks of others; 0 for none. */
  readonly blockMs?: number;
  readonly seed?: number;
}

/** A stratum server on a source in memory. */
async function serving({ limits = {}, difficulty = NO_BLOCK, blockMs = 15_000, seed = 1 }: World = {}) {
  const time = new VirtualTime();
  const random = seededRandom(seed);
  const rig = time.start('rig');
  const port = new PipePort({ clock: rig.clock, address: '192.0.2.80' }, { random });
  const source = new FakeSource();
  source.latestUs = () => rig.clock.nowUs();
  const newBlock = () => {
    const header = randomBytes(random, HEADER_BYTES);
    header.writeBigInt64LE(rig.clock.nowUs() - 5_000_000n, HEADER_OFFSET.creationTime);
    header.set(targetForDifficulty(difficulty), HEADER_OFFSET.target);
    header.writeUInt32LE(Math.floor(random() * 20), HEADER_OFFSET.chain);
    source.stale();
    source.work(workOfHeader(header));
  };
  // A solution is followed by the next block, as at a node.
  source.verdict = () => {
    rig.clock.setTimeout(newBlock, 50);
    return { outcome: 'accepted', reason: '' };
  };
  const recorder = new Recorder();
  const warnings: string[] = [];
  const relay = new StratumRelay({
    source,
    emit: recorder.listen,
    clock: rig.clock,
    log: { debug() {}, info() {}, warn: (line) => void warnings.push(line) },
    listen: port.listen,
    limits,
  });
  await relay.open();
  const stop = sharedController();
  const running = relay.run(stop.signal);
  newBlock();
  const blocks = blockMs > 0 ? rig.clock.setInterval(newBlock, blockMs) : undefined;
  const asics: SimulatedAsic[] = [];
  /** Turns on an ASIC of its own address and name. */
  const start = (habits: Partial<AsicHabits> = {}) => {
    const number = asics.length + 1;
    const { clock } = time.start(`asic ${number}`);
    const asic = new SimulatedAsic({
      clock,
      random,
      connect: (signal) => port.connect({ clock, address: `198.51.100.${number}` }, 10_000, signal),
      habits: { user: `k:abc.${number}`, hashesPerSecond: 300, ...habits },
    });
    asics.push(asic);
    return asic;
  };
  const end = async () => {
    for (const asic of asics) asic.end();
    await time.runUntil(time.nowMs + 1_000);
    blocks?.cancel();
    stop.abort();
    await time.runUntil(time.nowMs + 5_000);
    await running;
    return { timers: rig.timers, connections: port.pipes.size };
  };
  const told = () => recorder.of('relay').at(-1);
  return { time, rig, port, source, relay, recorder, warnings, asics, start, end, told };
}

/** No server may accept a share twice or a wrong one, whatever else happens. */
function expectFair(asics: readonly SimulatedAsic[]) {
  for (const asic of asics) {
    expect(asic.faults).toEqual([]);
    expect([asic.count('duplicate', 'accepted'), asic.count('wrong', 'accepted')]).toEqual([0, 0]);
    // Only a work that was replaced while the share was on its way costs a good share.
    expect(Object.keys(asic.answers.good).filter((answer) => !['accepted', 'stale'].includes(answer))).toEqual([]);
  }
}

const sumOf = (asics: readonly SimulatedAsic[], kind: ShareKind, answer?: string) =>
  asics.reduce((sum, asic) => sum + asic.count(kind, answer), 0);

describe('a stratum server', () => {
  it('serves ASICs of all habits, and accepts every good share of a work that lives', async () => {
    const { time, asics, start, end, told, warnings } = await serving();
    start();
    start({ authorizesFirst: true, subscription: ['asic/2'] });
    start({ subscription: [], omitsZeros: true });
    start({ subscription: ['asic/4', null], hashesPerSecond: 1_000 });
    await time.runUntil(90_000);
    expect(new Set(asics.map(({ nonce1 }) => nonce1)).size).toBe(4);
    const accepted = sumOf(asics, 'good', 'accepted') + sumOf(asics, 'old', 'accepted');
    const workers = told()?.workers ?? [];
    expect(workers).toHaveLength(4);
    const credited = workers.reduce((sum, worker) => sum + worker.accepted, 0);
    expect(accepted - credited).toBeLessThan(30);
    expect(accepted).toBeGreaterThan(200);
    expect(sumOf(asics, 'good', 'stale')).toBeLessThan(0.03 * accepted);
    expect(await end()).toEqual({ timers: 0, connections: 0 });
    expectFair(asics);
    expect([asics.map(({ connections }) => connections), warnings]).toEqual([[1, 1, 1, 1], []]);
  });

  it('refuses duplicates, wrong shares and old jobs, and disconnects nobody for them', async () => {
    const { time, asics, start, end } = await serving({ blockMs: 4_000 });
    start({ duplicates: 0.3 });
    start({ wrong: 0.5 });
    start({ lagMs: 2_000 });
    await time.runUntil(90_000);
    await end();
    expectFair(asics);
    const [doubling, wrong, slow] = asics;
    expect(doubling.count('duplicate', 'duplicate share')).toBeGreaterThan(10);
    expect(wrong.count('wrong', 'low difficulty share')).toBeGreaterThan(10);
    expect(slow.count('old', 'stale')).toBeGreaterThan(10);
    expect(asics.map(({ connections }) => connections)).toEqual([1, 1, 1]);
  });

  it('gives blocks to its source, each once, with a time that has come', async () => {
    const { time, source, recorder, asics, start, end, rig } = await serving({ difficulty: 2_000, blockMs: 0 });
    for (let count = 0; count < 3; count++) start();
    await time.runUntil(MINUTE_MS);
    const latest = rig.clock.nowUs();
    await end();
    expectFair(asics);
    const works = source.submitted.map(({ work }) => work);
    expect(works.length).toBeGreaterThan(10);
    expect(new Set(works).size).toBe(works.length);
    for (const { header } of source.submitted) expect(creationTimeOf(header)).toBeLessThan(latest);
    const verdicts = recorder.of('verdict');
    expect(verdicts.map(({ outcome }) => outcome)).toEqual(works.map(() => 'accepted'));
  });

  it('finds the hashrate of an ASIC that suggests a difficulty, and follows it when it slows down', async () => {
    const { time, start, end, told } = await serving({ blockMs: 0 });
    const asic = start({ password: 'x', suggestion: 20 / 2 ** 32, hashesPerSecond: 400 });
    await time.runUntil(5 * MINUTE_MS);
    expect(told()?.hashesPerSecond).toBeGreaterThan(320);
    expect(told()?.hashesPerSecond).toBeLessThan(480);
    const before = told()?.workers[0].difficulty ?? 0;
    // Ten seconds a share.
    expect(before / 400).toBeGreaterThan(7);
    asic.hashesPerSecond = 40;
    await time.runUntil(12 * MINUTE_MS);
    expect(told()?.hashesPerSecond).toBeLessThan(80);
    await end();
    expectFair([asic]);
  });
});

describe('the connections of a stratum server', () => {
  it('may break in every way: the ASICs come back, and no place stays taken', async () => {
    const { time, port, asics, start, end, told } = await serving();
    for (let count = 0; count < 4; count++) start({ reconnectMs: count === 3 ? 10_000 : 0 });
    const break_ = ['reset', 'close', 'deafen'] as const;
    for (let fault = 0; fault < 9; fault++) {
      await time.runUntil((fault + 1) * 10_000);
      const [pipe] = [...port.pipes].filter(({ isOpen }) => isOpen);
      if (fault % 4 === 3) pipe.stall(5_000);
      else pipe[break_[fault % 3]]();
    }
    await time.runUntil(4 * MINUTE_MS);
    expect(told()?.workers.length).toBe(4);
    expect(asics.every(({ nonce1 }) => nonce1 !== undefined)).toBe(true);
    expect(asics[3].connections).toBeGreaterThan(5);
    expect(await end()).toEqual({ timers: 0, connections: 0 });
    expectFair(asics);
  });

  it('wait while the server is frozen, and go on with it', async () => {
    const { time, rig, asics, start, end } = await serving();
    start();
    start();
    await time.runUntil(20_000);
    const before = sumOf(asics, 'good', 'accepted');
    rig.freeze();
    await time.runUntil(30_000);
    expect(sumOf(asics, 'good', 'accepted') - before).toBeLessThan(3);
    rig.thaw();
    await time.runUntil(50_000);
    await end();
    expectFair(asics);
    expect(asics.map(({ connections }) => connections)).toEqual([1, 1]);
    expect(sumOf(asics, 'good', 'accepted')).toBeGreaterThan(2 * before);
  });

  it('are no more than the server may have; the others get a place when one is free', async () => {
    const { time, asics, start, end, told } = await serving({ limits: { connections: 2 } });
    for (let count = 0; count < 3; count++) start();
    await time.runUntil(20_000);
    const waiting = asics.filter(({ nonce1 }) => nonce1 === undefined);
    expect([waiting.length, told()?.sessions]).toEqual([1, 2]);
    expect(told()?.refused?.full).toBeGreaterThan(1);
    asics.find((asic) => asic !== waiting[0])?.end();
    await time.runUntil(30_000);
    expect(waiting.map(({ nonce1 }) => nonce1)).not.toContain(undefined);
    await end();
    expectFair(asics);
  });
});

it('the same seed gives the same run, and another seed another one', async () => {
  const run = async (seed: number) => {
    const { time, asics, start, end, told } = await serving({ seed });
    for (let count = 0; count < 3; count++) start({ duplicates: 0.1, wrong: 0.1, reconnectMs: 20_000 });
    await time.runUntil(40_000);
    await end();
    return JSON.stringify([time.steps, asics.map(({ answers }) => answers), told()]);
  };
  expect(await run(1)).toBe(await run(1));
  expect(await run(2)).not.toBe(await run(1));
});
