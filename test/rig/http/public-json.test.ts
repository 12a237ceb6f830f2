/** Public JSON follows naming rules for fields, values and quantities, and what is printed has its documented shape. */

import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { DryRunPlan } from '#pickaxe/app/composition/dry-run.js';
import { PrintedConfig } from '#pickaxe/app/config/raw-settings.js';
import { BalanceReport } from '#pickaxe/cli/coins/balance.js';
import { BlocksReport } from '#pickaxe/cli/coins/blocks.js';
import { SweepReport } from '#pickaxe/cli/coins/sweep/sweep.js';
import { PaymentReport } from '#pickaxe/cli/coins/sweep/transfer.js';
import { ShownTransactions } from '#pickaxe/cli/coins/tx/explain.js';
import { FoundProof, SentPrivately, ShownResults } from '#pickaxe/cli/coins/tx/results.js';
import { NodesReport } from '#pickaxe/cli/ledger/nodes.js';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { TuneReport } from '#pickaxe/cli/measuring/tune.js';
import { VerifyReport } from '#pickaxe/cli/measuring/verify.js';
import { RigsReport } from '#pickaxe/cli/mining/stats-table.js';
import { ReplReport } from '#pickaxe/cli/repl/report.js';
import { DoctorReport } from '#pickaxe/cli/setup/doctor.js';
import * as fleetApi from '#pickaxe/fleet/operator/fleet-answers.js';
import { FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { LedgerLine } from '#pickaxe/miner/relay/stratum/share-log.js';
import { Answer, Request } from '#pickaxe/protocol/wire/worker.js';
import { BenchResult, StressResult } from '#pickaxe/rig/bench/bench-result.js';
import * as api from '#pickaxe/rig/http/api-answers.js';
import { JsonLine, JsonLines } from '#pickaxe/rig/log/json-lines.js';
import { LogLine } from '#pickaxe/rig/log/log-tail.js';
import { Notice, sendNotices } from '#pickaxe/rig/notify/notices.js';
import { Status } from '#pickaxe/rig/status/status.js';
import { expectShape } from '../../expect-shape.ts';
import { BALANCE, device, relay, SETUP, share, verdict, worker } from '../status/fakes.ts';
import { serve } from './serving.ts';

/**
 * Every public document by its name. The formats of xmrig, mining systems, Prometheus and Discord have their own rules.
 */
const DOCUMENTS: Readonly<Record<string, z.ZodType>> = {
  'a line of --json': JsonLine,
  'a line of --log-format json': LogLine,
  'a line of the share ledger': LedgerLine,
  'a notice of hooks and the webhook': Notice,
  'mine --dry-run --json': DryRunPlan,
  'mine --print-config --json': PrintedConfig,
  'bench --json': BenchResult,
  'bench --stress --json': StressResult,
  'bench --tune --json': TuneReport,
  'devices --json': DevicesReport,
  'balance --json': BalanceReport,
  'blocks --json': BlocksReport,
  'doctor --json': DoctorReport,
  'verify --json': VerifyReport,
  'repl --json': ReplReport,
  'tx show --json': ShownTransactions,
  'tx local, send and poll --json': ShownResults,
  'tx private --json': SentPrivately,
  'tx spv --json': FoundProof,
  'nodes --json': NodesReport,
  'sweep --json': SweepReport,
  'stats --json of several rigs': RigsReport,
  'tx transfer --json': PaymentReport,
  'a line of a worker': Answer,
  'a line to a worker': Request,
  'the API’s Status': Status,
  'fleet --json': FleetStatus,
  ...Object.fromEntries([...Object.entries(api), ...Object.entries(fleetApi)].flatMap(documentOf)),
};

/** Leaves out the values of the modules that are no documents. */
function documentOf([name, schema]: [string, unknown]): [string, z.ZodType][] {
  return schema instanceof z.ZodType ? [[`the API’s ${name}`, schema]] : [];
}

const CAMEL_CASE = /^[a-z][a-z0-9]*([A-Z][a-z0-9]*)*$/;
const KEBAB_CASE = /^[a-z0-9]+(-[a-z0-9]+)*$/;

/** The one way to write each quantity, as the last words of a name, and the ways that contradict it. */
const QUANTITIES: readonly { readonly unit: string; readonly others: RegExp }[] = [
  { unit: 'celsius', others: /^(c|kelvin|fahrenheit|degrees?|temp|temperature)$/ },
  { unit: 'watts', others: /^(w|watt|milliwatts?|kilowatts?|power)$/ },
  { unit: 'hashes per second', others: /^(hashrate|hs|hps|rate|speed|hashes (a|per) (minute|hour))$/ },
  { unit: 'hashes per joule', others: /^(efficiency|hashes per watt|joules per hash)$/ },
  { unit: 'hertz', others: /^(hz|mhz|ghz|kilohertz|megahertz|gigahertz|clock|frequency)$/ },
  { unit: 'ratio', others: /^(percent|percentage|part|fraction)$/ },
  { unit: 'seconds', others: /^(s|sec|secs|ms|msec|milliseconds?|us|microseconds?|minutes?|hours?|duration)$/ },
  { unit: 'millis', others: /^(time|timestamp|epoch|at)$/ },
];

interface Node {
  readonly [keyword: string]: unknown;
  readonly properties?: Record<string, Node>;
}

interface Word {
  readonly is: 'name' | 'value';
  readonly word: string;
  /** The path to the word: `.devices.sensors`. */
  readonly place: string;
}

/** @returns every name, and every value of a closed set, in a schema and in its parts */
function wordsOf(schema: z.ZodType): Word[] {
  const words: Word[] = [];
  const visit = (node: unknown, place: string): void => {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const each of node) visit(each, place);
      return;
    }
    const { properties = {}, enum: values = [], const: value, ...others } = node as Node;
    for (const each of [...(values as unknown[]), value]) {
      if (typeof each === 'string') words.push({ is: 'value', word: each, place });
    }
    for (const [name, inner] of Object.entries(properties)) {
      words.push({ is: 'name', word: name, place: `${place}.${name}` });
      visit(inner, `${place}.${name}`);
    }
    for (const inner of Object.values(others)) visit(inner, place);
  };
  visit(z.toJSONSchema(schema, { io: 'input', reused: 'inline' }), '');
  return words;
}

/** @returns everything that breaks a rule */
function faultsOf(schema: z.ZodType): string[] {
  return wordsOf(schema).flatMap(({ is, word, place }) => {
    if (is === 'name') return faultsOfName(word).map((fault) => `${place}: ${fault}`);
    return KEBAB_CASE.test(word) ? [] : [`${place}: the value '${word}'`];
  });
}

function faultsOfName(name: string): string[] {
  if (!CAMEL_CASE.test(name)) return ['not camelCase'];
  const words = name.replace(/[A-Z]/g, ' $&').toLowerCase().split(' ');
  const ends = [1, 2, 3].map((count) => words.slice(-count).join(' '));
  return QUANTITIES.filter(({ others }) => ends.some((end) => others.test(end))).map(({ unit }) => `write it …${unit}`);
}

describe('every public document', () => {
  it.each(Object.entries(DOCUMENTS))('follows the naming rules: %s', (_, schema) => {
    expect(faultsOf(schema)).toEqual([]);
  });

  const docs = ['wrappers', 'workers', 'devices', 'unattended', 'watching', 'coins', 'commands', 'node', 'repl'].map(
    (name) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8'),
  );
  it.each(Object.entries(DOCUMENTS))('is explained in the documentation: %s', (_, schema) => {
    const unexplained = wordsOf(schema).filter(({ word }) => !docs.some((text) => text.includes(`\`${word}\``)));
    expect(unexplained).toEqual([]);
  });

  const { object, string, literal } = z;
  it.each([
    ['a name in snake_case', object({ hardware_errors: string() }), '.hardware_errors: not camelCase'],
    ['a name that begins with a digit', object({ '10s': string() }), '.10s: not camelCase'],
    ['a wrong name within a list', object({ a: z.array(object({ B: string() })) }), '.a.B: not camelCase'],
    ['a wrong name in a map', z.record(string(), object({ 'a-b': string() })), '.a-b: not camelCase'],
    [
      'a wrong name in one of several shapes',
      z.union([object({ a: string() }), object({ b_c: string() })]),
      '.b_c: not camelCase',
    ],
    [
      'a wrong name in an object that may be null',
      object({ a: object({ b_c: string() }).nullable() }),
      '.a.b_c: not camelCase',
    ],
    ['a value with spaces', object({ state: z.enum(['ok', 'no node']) }), ".state: the value 'no node'"],
    ['a value in snake_case', object({ type: literal('new_cut') }), ".type: the value 'new_cut'"],
    ['a value in capitals', object({ type: literal('OK') }), ".type: the value 'OK'"],
    ['a temperature', object({ temperatureC: string() }), '.temperatureC: write it …celsius'],
    ['another temperature', object({ memoryTemperature: string() }), '.memoryTemperature: write it …celsius'],
    ['a power', object({ powerW: string() }), '.powerW: write it …watts'],
    ['a hashrate', object({ averageHashrate: string() }), '.averageHashrate: write it …hashes per second'],
    ['a clock rate', object({ coreMHz: string() }), '.coreMHz: write it …hertz'],
    ['a share', object({ fanPercent: string() }), '.fanPercent: write it …ratio'],
    ['a length of time', object({ answerMs: string() }), '.answerMs: write it …seconds'],
    ['a moment', object({ time: string() }), '.time: write it …millis'],
  ])('breaks the naming rules with %s', (_, schema, fault) => {
    expect(faultsOf(schema)).toEqual([fault]);
  });
});

const SENSORS = {
  temperatureCelsius: 61,
  hotspotCelsius: 70,
  memoryCelsius: 80,
  powerWatts: 100,
  fanRatio: 0.45,
  fanRpm: 1_200,
  coreHertz: 1.98e9,
  memoryHertz: 2.6e9,
};
const SOURCE = 'http://127.0.0.1:1848/ledger';

const BLOCK = { chain: 3, height: 42n, blockHash: 'h'.repeat(43), device: 'gpu0', isRelay: true };

const SENT = {
  device: 'gpu0',
  chain: 3,
  height: 42n,
  nonce: 1n,
  isRelay: false,
  isBlock: true,
  isShare: false,
  difficulty: 500,
  header: new Uint8Array(286),
  source: SOURCE,
  isElsewhere: true,
} as const;
const FOUND = { ...SENT, answerSeconds: 0.02 };

/** Each event in its fullest form: a type or a field that is missing here does not compile. */
const EVENTS: { readonly [Type in MinerEvent['type']]: Required<Extract<MinerEvent, { type: Type }>> } = {
  work: { type: 'work', chain: 3, height: 42n, networkCode: 5, difficulty: 1_000, shareDifficulty: 500 },
  job: { type: 'job', chain: 3, height: 42n, creationTimeMicros: 1_700_000_000_000_000n },
  'new-cut': { type: 'new-cut', chain: 3 },
  'work-ended': { type: 'work-ended', chain: 3, reason: 'cancelled' },
  solution: {
    type: 'solution',
    device: 'gpu0',
    chain: 3,
    height: 42n,
    nonce: 2n ** 64n - 1n,
    isRelay: true,
    isBlock: true,
    isShare: true,
    difficulty: 500,
    hash: new Uint8Array(32),
  },
  verdict: verdict('gpu0', 'rejected', 'a reason'),
  'sent-block': { type: 'sent-block', ...SENT },
  'accepted-block': { type: 'accepted-block', ...FOUND },
  'unanswered-block': { type: 'unanswered-block', ...FOUND },
  'refused-block': { type: 'refused-block', ...FOUND },
  'block-state': {
    type: 'block-state',
    ...BLOCK,
    state: 'won',
    previous: 'pending',
    isEarlier: true,
    depth: 1,
    nodesDisagree: false,
    settledDepth: 6,
    settledInSeconds: 150,
    reward: '0.98123',
    fees: '0.0',
    paidTo: 'k:another',
    reason: '',
  },
  'block-reward': {
    type: 'block-reward',
    ...BLOCK,
    reward: '0.98123',
    fees: '0.0',
    fault: 'it is false',
    paidTo: 'k:another',
    account: 'k:me',
    source: 'http://node:1848',
    isEarlier: true,
  },
  hashes: { type: 'hashes', device: 'gpu0', hashes: 40_000, difficulty: 1_000 },
  proof: { type: 'proof', device: 'gpu0', hashes: 900, difficulty: 5_000 },
  'job-switch': { type: 'job-switch', device: 'gpu0', switchSeconds: 0.004 },
  'hardware-error': { type: 'hardware-error', device: 'gpu0', nonce: 1n },
  device: {
    type: 'device',
    device: 'gpu0',
    kind: 'gpu',
    state: 'reopening',
    description: 'a card',
    model: 'a card',
    kernel: 'wgsl',
    cores: [{ kind: 'efficiency', threads: 16, kernel: 'sse41' }],
    detail: 'kernel wgsl: the fastest here',
    bus: '0000:65:00.0',
    reason: 'it was lost',
    fault: 'lost',
  },
  progress: { type: 'progress', device: 'gpu0', what: 'measuring', done: 0.5 },
  telemetry: { type: 'telemetry', device: 'gpu0', telemetry: SENSORS },
  alarm: {
    type: 'alarm',
    alarm: 'low-hashrate',
    state: 'raised',
    device: 'gpu0',
    hashesPerSecond: 1e9,
    limitHashesPerSecond: 2e9,
  },
  'missed-cut': { type: 'missed-cut', source: SOURCE, chain: 3 },
  polling: { type: 'polling', source: SOURCE, chains: [{ chain: 3, reason: 'missed-block' }] },
  relay: relay('stratum', worker('asic-1'), worker('(others)', { sessions: 7 })),
  fetch: { type: 'fetch', source: SOURCE, latencySeconds: 0.012 },
  source: {
    type: 'source',
    source: SOURCE,
    kind: 'node',
    state: 'lost',
    reason: 'the node does not know this miner',
    nodeConfiguration: ['mining:'],
  },
};

/** A rig that has had every event, and whose devices work again. */
async function busyRig() {
  const rig = await serve({ control: true });
  for (const name of ['cpu', 'gpu0']) rig.emit(device(name, 'ready'));
  for (const event of [...Object.values(EVENTS), share('stratum', 'accepted', '', { isRelay: true })]) rig.emit(event);
  rig.clock.advance(10_000);
  for (const event of [EVENTS.telemetry, EVENTS.hashes, device('gpu0', 'ready')]) rig.emit(event);
  return rig;
}

describe('printed JSON has its documented shape', () => {
  test('in each line of --json, and there is a line of each type', async () => {
    const { events, tally, clock } = await busyRig();
    const lines: string[] = [];
    const jsonLines = new JsonLines((line) => lines.push(line), clock);
    events.on(jsonLines.listen);
    jsonLines.start('rig-7', { ...SETUP, user: 'me' }, [{ name: 'cpu' }]);
    for (const event of Object.values(EVENTS)) events.emit(event);
    jsonLines.hashrate(tally.status());
    jsonLines.summary(tally.summary());
    const documents = lines.map((line) => JSON.parse(line));
    for (const document of documents) expectShape(JsonLine, document);
    const types = JsonLine.options.map(({ shape }) => shape.type.value);
    expect(documents.map(({ type }) => type).sort()).toEqual(types.sort());
  });

  test('in each notice, and there is one of each type', async () => {
    const { events, tally, clock } = await serve();
    const notices: Notice[] = [];
    const end = sendNotices({ rigName: 'rig-7', events, tally, clock }, (notice) => notices.push(notice));
    const { alarm, device, 'block-state': state, 'block-reward': reward } = EVENTS;
    const blocks = [verdict('gpu0', 'accepted'), state, reward];
    for (const event of [...blocks, device, alarm, { ...alarm, state: 'cleared' } as const]) events.emit(event);
    end();
    const documents = notices.map((notice) => JSON.parse(JSON.stringify(notice)));
    for (const document of documents) expectShape(Notice, document);
    const types = Notice.options.map(({ shape }) => shape.type.value);
    expect(documents.map(({ type }) => type).sort()).toEqual(types.sort());
  });

  test('in /api/v1/balance', async () => {
    const { ask } = await serve({}, async () => BALANCE);
    const { json } = await ask('/api/v1/balance');
    expectShape(api.BalanceAnswer, json);
    expect(json).toMatchObject(BALANCE);
  });

  test.each([
    ['/api/v1/status', Status],
    ['/api/v1/history', api.HistoryAnswer],
    ['/api/v1/log', api.LogAnswer],
    ['/healthz', api.Health],
    ['/readyz', api.Readiness],
    ['/api/v1/history?range=x', api.ErrorAnswer],
    ['/api/v1/balance', api.ErrorAnswer],
    ['/nope', api.ErrorAnswer],
  ])('in %s of a busy rig, and of one that knows nothing yet', async (path, schema) => {
    for (const { ask } of [await busyRig(), await serve()]) expectShape(schema, (await ask(path)).json);
  });
});
