import { arch, cpus } from 'node:os';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { featuresIn } from '#pickaxe/rig/http/compat.js';
import { device, hashes, share, verdict } from '../../status/fakes.ts';
import { serve } from '../serving.ts';

/*
 * The shapes of xmrig 6 (doc/api/1/summary.json, doc/api/2/summary.json, doc/api/2/backends.json, and the sources that
 * print them): every key, and no other.
 */
const count = z.int().nonnegative();
const rate = z.number().nonnegative().nullable();
const windows = z.tuple([rate, rate, rate]);

const results = { diff_current: count, shares_good: count, shares_total: count, avg_time: count, avg_time_ms: count };
const connection = { pool: z.string(), ip: z.string().nullable(), uptime: count, uptime_ms: count, ping: count };
const tls = { tls: z.string().nullable(), 'tls-fingerprint': z.string().nullable(), failures: count };
const books = { accepted: count, rejected: count, avg_time: count, avg_time_ms: count, hashes_total: count };
const errors = { error_log: z.array(z.never()) };
const sizes = { l2: count, l3: count, cores: count, threads: count, packages: count, nodes: count };
const common = {
  id: z.string().regex(/^[0-9a-f]{16}$/),
  worker_id: z.literal('rig-7'),
  uptime: count,
  restricted: z.boolean(),
  resources: z.strictObject({
    memory: z.strictObject({ free: count, total: count, resident_set_memory: count }),
    load_average: z.tuple([z.number(), z.number(), z.number()]),
    hardware_concurrency: count,
  }),
  features: z.array(z.string()),
  algo: z.string(),
  version: z.string(),
  kind: z.literal('miner'),
  ua: z.string(),
  cpu: z.strictObject({
    brand: z.string(),
    // Present only if the system reports them.
    aes: z.boolean().optional(),
    avx2: z.boolean().optional(),
    x64: z.boolean(),
    '64_bit': z.boolean(),
    ...sizes,
    backend: z.string(),
    msr: z.string(),
    assembly: z.string(),
    arch: z.string(),
    flags: z.array(z.string()).optional(),
  }),
  donate_level: z.literal(0),
  paused: z.boolean(),
  algorithms: z.array(z.string()),
};
const best = z.array(count).length(10);

const Summary1 = z.strictObject({
  ...common,
  results: z.strictObject({ ...results, hashes_total: count, best, ...errors }),
  connection: z.strictObject({ ...connection, ...tls, algo: z.string(), diff: count, ...books, ...errors }),
  hashrate: z.strictObject({ total: windows, highest: rate, threads: z.array(windows) }),
  hugepages: z.boolean(),
});
const Summary2 = z.strictObject({
  ...common,
  results: z.strictObject({ ...results, hashes_total: count, best }),
  connection: z.strictObject({ ...connection, ...tls, algo: z.string(), diff: count, ...books }),
  hashrate: z.strictObject({ total: windows, highest: rate }),
  hugepages: z.tuple([count, count]),
});
const health = { temperature: z.number(), power: z.number(), clock: z.number(), mem_clock: z.number() };
const Backends = z.array(
  z.strictObject({
    type: z.enum(['cpu', 'opencl', 'cuda']),
    enabled: z.boolean(),
    algo: z.string(),
    profile: z.string(),
    hashrate: windows.optional(),
    threads: z
      .array(
        z.strictObject({
          index: count,
          affinity: z.int(),
          hashrate: windows,
          name: z.string(),
          health: z.strictObject({ ...health, fan_speed: z.array(z.number()) }).optional(),
        }),
      )
      .optional(),
  }),
);

const SHAPES = { '/api.json': Summary1, '/1/summary': Summary1, '/2/summary': Summary2, '/2/backends': Backends };

async function rig() {
  const served = await serve();
  const { emit, clock } = served;
  emit({ type: 'source', source: 'https://node.example:1848/ledger', kind: 'node', state: 'connected', reason: '' });
  emit(device('cpu', 'ready'));
  emit(device('gpu0', 'ready'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1234.5 });
  clock.advance(11_000);
  emit(hashes('cpu', 20_000));
  emit(hashes('gpu0', 500_000));
  emit({ type: 'proof', device: 'gpu0', hashes: 9, difficulty: 77_777.7 });
  for (const each of ['accepted', 'accepted', 'accepted', 'rejected', 'stale'] as const) emit(verdict('gpu0', each));
  emit({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61, powerWatts: 161.5, fanRatio: 0.4 } });
  return served;
}

it.each(Object.entries(SHAPES))('%s has xmrig’s shape, from the first moment on', async (path, shape) => {
  const { ask } = await serve();
  expect(shape.safeParse((await ask(path)).json).error).toBeUndefined();
  const busy = await rig();
  expect(shape.safeParse((await busy.ask(path)).json).error).toBeUndefined();
});

it('the fields that mining systems read are right', async () => {
  const { ask } = await rig();
  const { json } = await ask('/api.json');
  // The expressions in their scripts: .hashrate.total[0], [.hashrate.threads[][0]], .results, .connection.uptime
  expect(json.hashrate).toEqual({
    total: [52_000, null, null],
    highest: expect.any(Number),
    threads: [
      [2_000, null, null],
      [50_000, null, null],
    ],
  });
  expect(json.results).toMatchObject({ shares_good: 3, shares_total: 5, diff_current: 1235, hashes_total: 520_000 });
  expect(json.results.best[0]).toBe(77_778);
  expect(json.connection).toMatchObject({ pool: 'node.example:1848', uptime: 11, ping: 12, failures: 0, tls: 'TLS' });
  expect(json).toMatchObject({ uptime: 11, restricted: true, paused: false });
});

it('the processor is that of this machine', async () => {
  const { ask } = await serve();
  const { cpu } = (await ask('/2/summary')).json;
  const [first] = cpus();
  const count = cpus().length;
  expect(cpu).toMatchObject({ brand: first?.model.trim() || arch(), cores: count, threads: count, arch: arch() });
  expect(cpu).toMatchObject({ l2: 0, l3: 0, packages: 1, nodes: 1 });
  expect(cpu['64_bit']).toBe(cpu.x64);
});

it('a pool’s shares are shares, and its address is that of the pool', async () => {
  const { ask, emit, clock } = await serve();
  emit({ type: 'source', source: 'stratum+tls://pool.example:3333', kind: 'node', state: 'connected', reason: '' });
  emit(device('gpu0', 'ready'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1e15, shareDifficulty: 2 ** 40 });
  for (const each of ['accepted', 'accepted', 'rejected', 'stale'] as const) emit(share('gpu0', each));
  clock.advance(11_000);
  for (const [path, shape] of Object.entries(SHAPES)) shape.parse((await ask(path)).json);
  const { json } = await ask('/1/summary');
  expect(json.results).toMatchObject({ shares_good: 2, shares_total: 4, diff_current: 2 ** 40, avg_time: 5 });
  expect(json.connection).toMatchObject({
    pool: 'pool.example:3333',
    accepted: 2,
    rejected: 2,
    diff: 2 ** 40,
    tls: 'TLS',
  });
});

it('the connection is that to a healthy node, or to an unhealthy one while there is no other', async () => {
  const { ask, emit, clock } = await serve();
  const tell = (source: string, state: 'connected' | 'unhealthy' | 'lost') =>
    emit({ type: 'source', source, kind: 'node', state, reason: '' });
  const connection = async () => {
    clock.advance(10_000);
    const { pool, uptime } = (await ask('/1/summary')).json.connection;
    return [pool, uptime];
  };
  tell('http://a:1', 'connected');
  tell('http://a:1', 'unhealthy');
  tell('http://b:1', 'lost');
  expect(await connection()).toEqual(['a:1', 10]);
  tell('http://b:1', 'connected');
  expect(await connection()).toEqual(['b:1', 10]);
});

it('/2/backends has the devices of each kind, and their sensors', async () => {
  const { ask } = await rig();
  const [cpu, gpu] = (await ask('/2/backends')).json;
  expect(cpu).toMatchObject({ type: 'cpu', enabled: true, hashrate: [2_000, null, null] });
  expect(gpu).toMatchObject({ type: 'opencl', enabled: true, hashrate: [50_000, null, null] });
  expect(gpu.threads).toMatchObject([{ index: 0, name: 'gpu0 model of gpu0', hashrate: [50_000, null, null] }]);
  expect(gpu.threads[0].health).toEqual({ temperature: 61, power: 161.5, clock: 0, mem_clock: 0, fan_speed: [40] });
});

it.each([
  [
    'flags\t\t: fpu sse2 aes sse4_1 avx avx2 avx512f',
    { aes: true, avx2: true, flags: ['aes', 'avx', 'avx2', 'avx512f', 'sse2', 'sse4.1'] },
  ],
  ['model name\t: x\nflags\t\t: fpu sse2\nflags\t\t: aes', { aes: false, avx2: false, flags: ['sse2'] }],
  ['Features\t: fp asimd aes', { aes: true, avx2: false, flags: ['aes'] }],
  ['isa : rv64gc', {}],
])('the CPU has the features that Linux names: %j', (cpuinfo, expected) => {
  expect(featuresIn(cpuinfo)).toEqual(expected);
});

it.each([
  [{ temperatureCelsius: 71 }, { temperature: 71, power: 0 }],
  [{ powerWatts: 250 }, { temperature: 0, power: 250 }],
])('a device whose sensors are %j has the health %j', async (telemetry, expected) => {
  const { ask, emit } = await serve();
  emit(device('gpu0', 'ready'));
  emit({ type: 'telemetry', device: 'gpu0', telemetry });
  const { json } = await ask('/2/backends');
  const [{ health }] = json.flatMap(({ threads = [] }: { threads?: object[] }) => threads);
  expect(health).toMatchObject({ ...expected, clock: 0, mem_clock: 0, fan_speed: [] });
});
