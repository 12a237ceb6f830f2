/** Events of a rig that are drawn at random, and what is shown of them without digits that may differ. */

import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { drawer } from '../variants.ts';
import { device, relay, share, verdict, worker } from './status/fakes.ts';

/** Decimals whose last digits may differ between versions of Node.js. */
const LONG_DECIMAL = /\d*\.\d{4,}(?:e-?\d+)?/g;
const NODES = ['http://node:1848/ledger/0.0/mainnet01', 'http://other:1848'];

export const rounded = (text: string) => text.replace(LONG_DECIMAL, (decimal) => Number(decimal).toPrecision(6));

/** @returns events that can follow one another in a rig of this kind */
export function eventDrawer(seed: number, kind: 'node' | 'pool'): () => MinerEvent {
  const one = drawer(seededRandom(seed));
  const about = () => {
    const where = { chain: one(3, 4), height: one(42n, 43n), nonce: one(5n, 2n ** 63n) };
    return { ...where, device: one('cpu', 'gpu0'), isRelay: one(false, false, true), difficulty: one(1_000, 1e9) };
  };
  const block = () => ({ ...about(), isBlock: true, isShare: false, header: new Uint8Array(286), source: NODES[0] });
  const known = () => ({
    chain: 3,
    height: 42n,
    blockHash: 'h'.repeat(43),
    device: one('cpu', 'asic'),
    isRelay: one(false, true),
  });
  const paid = () => one({}, { reward: '0.98', fees: '0.001' }, { reward: '0.98', fees: '0.0' }, { paidTo: 'k:other' });
  const makers: (() => MinerEvent)[] = [
    () => ({
      type: 'work',
      chain: one(3, 4),
      height: one(42n, 43n),
      networkCode: one(5, 7),
      difficulty: one(1e9, 1e12, 1e15),
      ...(kind === 'pool' && { shareDifficulty: one(1e6, 1e9) }),
    }),
    () => ({ type: 'new-cut', chain: one(3, 4) }),
    () => ({ type: 'work-ended', chain: 3, reason: one('solved', 'expired', 'cancelled') }),
    () =>
      (kind === 'pool' ? share : verdict)(
        one('cpu', 'gpu0'),
        one('accepted', 'accepted', 'rejected', 'stale', 'unknown', 'delivered'),
        one('', 'too late'),
        { isRelay: one(false, false, true), isBlock: one(true, false), difficulty: one(500, 1e9) },
      ),
    () => ({ type: 'accepted-block', ...block(), answerSeconds: one(0.02, 3) }),
    () => ({ type: one('unanswered-block', 'refused-block'), ...block(), answerSeconds: 0.02 }),
    () => ({
      type: 'block-state',
      ...known(),
      ...paid(),
      state: one(
        'pending',
        'won',
        'settled',
        'orphaned',
        'never-entered',
        'lost',
        'unknown',
        'contested',
        'unanswered',
      ),
      ...one({}, { previous: one('won', 'unanswered', 'pending') }),
      ...one({}, { isEarlier: true }),
      depth: one(0, 1, 6),
      nodesDisagree: one(false, false, true),
      settledDepth: 6,
      ...one({}, { settledInSeconds: one(30, 180) }),
      reason: one('', 'another block has its place'),
    }),
    () => ({
      type: 'block-reward',
      ...known(),
      ...paid(),
      ...one({}, { fault: 'http://one: wrong' }),
      account: 'k:me',
      ...one({}, { source: NODES[0] }),
      ...one({}, { isEarlier: true }),
    }),
    () => ({ type: 'job-switch', device: one('cpu', 'gpu0'), switchSeconds: one(0.001, 0.02, 1.5) }),
    () => ({ type: 'hardware-error', device: one('cpu', 'gpu0'), nonce: 5n }),
    () => ({
      ...device(
        one('cpu', 'gpu0', 'gpu1'),
        one('ready', 'ready', 'ready', 'paused', 'reopening', 'parked'),
        one(undefined, 'too hot'),
      ),
      ...one({}, { kernel: 'avx2' }, { detail: '8 threads', bus: '0000:01:00.0', model: 'M' }),
    }),
    () => ({ type: 'progress', device: 'gpu0', what: one('compiles', 'measures'), done: one(0, 0.5, 1) }),
    () => ({
      type: 'telemetry',
      device: one('cpu', 'gpu0'),
      telemetry: one(
        {},
        { temperatureCelsius: one(61.4, 72) },
        { powerWatts: 400, fanRatio: 0.95, coreHertz: 1.98e9 },
        { hotspotCelsius: 80, memoryHertz: 2.6e9 },
      ),
    }),
    () => ({
      type: 'alarm',
      alarm: 'low-hashrate',
      state: one('raised', 'cleared'),
      ...one({}, { device: 'gpu0' }),
      hashesPerSecond: 1e6,
      limitHashesPerSecond: 2e6,
    }),
    () => ({ type: 'missed-cut', source: NODES[0], chain: 3 }),
    () => ({
      type: 'polling',
      source: NODES[0],
      chains: one([], [{ chain: 3, reason: one('no-stream', 'missed-block') }]),
    }),
    () => {
      const more = { sessions: one(0, 1, 2), hashesPerSecond: one(0, 700e9), blocks: one(0, 1) };
      return relay(
        'stratum',
        ...one([], [worker('asic', more)], [worker('asic', more), worker(OTHER_WORKERS), worker('b')]),
      );
    },
    () => ({ type: 'fetch', source: one(...NODES), latencySeconds: one(0.01, 0.5) }),
    () => ({
      type: 'source',
      source: one(...NODES),
      kind,
      state: one('connected', 'connected', 'lost', 'standby', 'unhealthy', 'healthy', 'warning', 'info'),
      reason: one('it gives work', 'it is away'),
    }),
  ];
  return () => one(...makers)();
}
