/** What a rig shows of events drawn at random: its status, its pages, its status line, its log and its JSON lines. */

import { it } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { JsonLines } from '#pickaxe/rig/log/json-lines.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { connection, hashrates, health, results, workers } from '#pickaxe/rig/terminal/pages.js';
import { statusLine } from '#pickaxe/rig/terminal/status-line.js';
import { type Recorded, recordIn, written } from '../recorded.ts';
import { drawer } from '../variants.ts';
import { device, FakeClock, hashes, linesOf, relay, share, verdict, worker } from './status/fakes.ts';

const MOMENTS = 30;
/** Number of lines of the log that are recorded together. */
const LINES_AT_ONCE = 10;
/** Decimals whose last digits may differ between versions of Node.js. */
const LONG_DECIMAL = /\d*\.\d{4,}(?:e-?\d+)?/g;
const NODES = ['http://node:1848/ledger/0.0/mainnet01', 'http://other:1848'];

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

/** Paints a text, so that a wrong style is seen. */
const paint = (style: string, text: string) => `<${style}>${text}</>`;

/** @returns events that can follow one another in a rig of this kind */
function eventDrawer(seed: number, kind: 'node' | 'pool'): () => MinerEvent {
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
      telemetry: one({}, { temperatureCelsius: one(61.4, 72) }, { powerWatts: 400, fanRatio: 0.45 }),
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

function momentsOf(seed: number): Recorded[] {
  const one = drawer(seededRandom(100 + seed));
  const kind = seed % 2 === 0 ? 'node' : 'pool';
  const draw = eventDrawer(seed, kind);
  const clock = new FakeClock();
  const terms = seed % 3 === 0 ? {} : { coinsAt: () => 0.98, powerPrice: 0.3, ...one({}, { powerWatts: 500 }) };
  const tally = new Tally(clock, [{ name: 'cpu', kind: 'cpu' }], one([], [{ name: 'stratum' }]), kind, terms);
  const json: string[] = [];
  const jsonLines = new JsonLines((line) => json.push(line), clock);
  const outcomes: Recorded[] = [];
  const rounded = (text: string) => text.replace(LONG_DECIMAL, (decimal) => Number(decimal).toPrecision(6));
  const log = linesOf((logger) => {
    const logLines = new LogLines(logger, tally);
    for (let i = 0; i < MOMENTS; i++) {
      const happened = Array.from({ length: one(1, 3, 6) }, draw);
      const rate = one(0, 1e6, 8e9);
      for (const name of ['cpu', 'gpu0']) {
        happened.push(hashes(name, rate), { type: 'proof', device: name, hashes: rate, difficulty: rate });
      }
      for (const event of happened) {
        tally.listen(event);
        logLines.listen(event);
        jsonLines.listen(event);
      }
      if (one(true, false)) logLines.speed();
      clock.advance(one(1, 500, 1_000, 10_000, 60_000, 900_000));
      const status = tally.status();
      const lines = [200, 110, 80, 50, 20].map((columns) => statusLine(status, columns, paint, one(true, false)));
      const pages = [hashrates, health, results, connection, workers].flatMap((page) => page(status));
      jsonLines.hashrate(status);
      const outcome = rounded([written(status), ...lines, ...pages, ...json.splice(0)].join('\n'));
      outcomes.push({ input: `${i}: ${written(happened)}`, outcome });
    }
  });
  for (let i = 0; i < log.length; i += LINES_AT_ONCE) {
    outcomes.push({ input: `line ${i}`, outcome: rounded(log.slice(i, i + LINES_AT_ONCE).join('\n')) });
  }
  return outcomes;
}

it.each([0, 1, 2, 3, 4, 5, 6, 7])('rig %i shows what is recorded', (seed) => {
  expectRecorded(`rig ${seed}`, momentsOf(seed));
});
