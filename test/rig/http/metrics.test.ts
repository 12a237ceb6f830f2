import { expect, it } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { device, hashes, relay, share, verdict, worker } from '../status/fakes.ts';
import { serve } from './serving.ts';

const RULES = /^pickaxe_[a-z0-9_]+$/;

/** The samples, by name and labels in the text format. */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

it('metrics agree with the summary', async () => {
  const { ask, emit, tally, clock } = await serve();
  emit({ type: 'source', source: 'http://127.0.0.1:1', kind: 'node', state: 'connected', reason: '' });
  emit({ type: 'source', source: 'http://127.0.0.1:2', kind: 'node', state: 'lost', reason: 'refused' });
  emit({ type: 'source', source: 'http://127.0.0.1:3', kind: 'node', state: 'connected', reason: '' });
  emit({ type: 'source', source: 'http://127.0.0.1:3', kind: 'node', state: 'unhealthy', reason: 'stands still' });
  emit({ type: 'missed-cut', source: 'http://127.0.0.1:1', chain: 3 });
  emit({ type: 'polling', source: 'http://127.0.0.1:1', chains: [{ chain: 3, reason: 'missed-block' }] });
  for (const name of ['cpu', 'gpu0']) emit(device(name, 'ready'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1_000 });
  emit({ type: 'new-cut', chain: 3 });
  clock.advance(10_000);
  emit(hashes('cpu', 2 ** 40));
  emit(hashes('gpu0', 7_000));
  emit({ type: 'proof', device: 'gpu0', hashes: 6_500, difficulty: 9_999 });
  for (const each of ['accepted', 'accepted', 'stale', 'unknown'] as const) emit(verdict('gpu0', each));
  emit({ type: 'hardware-error', device: 'cpu', nonce: 1n });
  emit(device('cpu', 'reopening', 'it was lost'));
  emit({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61, fanRatio: 0.45, coreHertz: 1980e6 } });
  for (const switchSeconds of [0.004, 0.03]) emit({ type: 'job-switch', device: 'gpu0', switchSeconds });

  const { headers, text } = await ask('/metrics');
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const samples = samplesOf(text);
  const summary = tally.summary();
  expect(samples.get('pickaxe_node_missed_cuts_total{node="http://127.0.0.1:1"}')).toBe(1);
  expect(samples.get('pickaxe_node_missed_cuts_total{node="http://127.0.0.1:2"}')).toBe(0);
  const polled = [...samples].filter(([name]) => name.startsWith('pickaxe_node_polled_chain'));
  expect(polled).toEqual([['pickaxe_node_polled_chain{node="http://127.0.0.1:1",chain="3",reason="missed-block"}', 1]]);
  for (const [name, books] of Object.entries(summary.devices)) {
    const of = `{device="${name}"}`;
    expect(samples.get(`pickaxe_hashes_total${of}`)).toBe(books.hashes);
    expect(samples.get(`pickaxe_proven_hashes_total${of}`)).toBe(books.proven?.hashes ?? 0);
    expect(samples.get(`pickaxe_hardware_errors_total${of}`)).toBe(books.hardwareErrors);
    expect(samples.get(`pickaxe_device_reopens_total${of}`)).toBe(books.reopens);
    for (const verdict of ['accepted', 'rejected', 'stale', 'unknown'] as const) {
      expect(samples.get(`pickaxe_verdicts_total{device="${name}",verdict="${verdict}"}`)).toBe(books[verdict]);
    }
  }
  const { newCuts, expectedBlocks, bestDifficulty } = summary;
  expect(Object.fromEntries(samples)).toMatchObject({
    pickaxe_new_cuts_total: newCuts,
    pickaxe_expected_blocks_total: expectedBlocks,
    pickaxe_best_difficulty_hashes: bestDifficulty,
    pickaxe_work_difficulty_hashes: 1_000,
    'pickaxe_work_height{chain="3"}': 42,
    'pickaxe_hashrate_hashes_per_second{device="gpu0"}': 700,
    'pickaxe_device_up{device="gpu0"}': 1,
    'pickaxe_device_up{device="cpu"}': 0,
    'pickaxe_device_state{device="cpu",state="reopening"}': 1,
    'pickaxe_device_state{device="cpu",state="ready"}': 0,
    'pickaxe_temperature_celsius{device="gpu0",sensor="core"}': 61,
    'pickaxe_fan_ratio{device="gpu0"}': 0.45,
    'pickaxe_clock_hertz{device="gpu0",clock="core"}': 1.98e9,
    'pickaxe_source_up{source="http://127.0.0.1:1",kind="node"}': 1,
    'pickaxe_source_up{source="http://127.0.0.1:2",kind="node"}': 0,
    'pickaxe_source_up{source="http://127.0.0.1:3",kind="node"}': 1,
    'pickaxe_node_unhealthy{node="http://127.0.0.1:1"}': 0,
    'pickaxe_node_unhealthy{node="http://127.0.0.1:3"}': 1,
    'pickaxe_source_losses_total{source="http://127.0.0.1:2"}': 1,
    'pickaxe_job_switch_seconds_count{device="gpu0"}': 2,
    'pickaxe_job_switch_seconds_sum{device="gpu0"}': 0.034,
    'pickaxe_job_switch_seconds_bucket{le="0.005",device="gpu0"}': 1,
  });
  expect(text).toContain(`pickaxe_build_info{version="`);
  expect(text).toContain('pickaxe_rig_info{rig="rig-7"} 1');
  expect(text).toContain('process_cpu_seconds_total');
  expect([...samples.keys()].filter((name) => name.includes('hotspot'))).toEqual([]);
});

it('metrics say of a pool that it is one, and have nothing about streams that it lacks', async () => {
  const { ask, emit } = await serve();
  emit({ type: 'source', source: 'stratum+tcp://a:1', kind: 'pool', state: 'connected', reason: '' });
  const samples = samplesOf((await ask('/metrics')).text);
  expect(samples.get('pickaxe_source_up{source="stratum+tcp://a:1",kind="pool"}')).toBe(1);
  expect(samples.get('pickaxe_source_losses_total{source="stratum+tcp://a:1"}')).toBe(0);
  expect([...samples.keys()].filter((name) => name.startsWith('pickaxe_node_'))).toEqual([]);
});

it('metrics count a pool’s shares apart from blocks', async () => {
  const { ask, emit, clock } = await serve();
  emit(device('gpu0', 'ready'));
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1e6 });
  expect([...samplesOf((await ask('/metrics')).text).keys()]).not.toContain('pickaxe_share_difficulty_hashes');
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1e6, shareDifficulty: 500 });
  for (const each of ['accepted', 'accepted', 'rejected', 'delivered'] as const) emit(share('gpu0', each));
  emit(share('gpu0', 'accepted', '', { isBlock: true }));
  clock.advance(10_000);
  emit({ type: 'proof', device: 'gpu0', hashes: 5_000, difficulty: 1 });
  const samples = samplesOf((await ask('/metrics')).text);
  expect(Object.fromEntries(samples)).toMatchObject({
    pickaxe_share_difficulty_hashes: 500,
    'pickaxe_share_verdicts_total{device="gpu0",verdict="accepted"}': 3,
    'pickaxe_share_verdicts_total{device="gpu0",verdict="rejected"}': 1,
    'pickaxe_share_verdicts_total{device="gpu0",verdict="stale"}': 0,
    'pickaxe_share_verdicts_total{device="gpu0",verdict="delivered"}': 1,
    'pickaxe_accepted_share_hashes_total{device="gpu0"}': 1_500,
    'pickaxe_verdicts_total{device="gpu0",verdict="accepted"}': 1,
    'pickaxe_verdicts_total{device="gpu0",verdict="rejected"}': 0,
    'pickaxe_proven_hashrate_hashes_per_second{device="gpu0"}': 500,
  });
});

it('metrics have each relay and its workers, by names that are safe as labels, and say what is estimated', async () => {
  const { ask, emit } = await serve();
  expect((await ask('/metrics')).text).not.toMatch(/^pickaxe_(relay|worker)_\w+\{/m);
  const {
    difficulty: _,
    lastShareSeconds: __,
    ...gone
  } = worker('a "b" \\', { sessions: 0, hashesPerSecond: 0, blocks: 1 });
  emit(relay('stratum', worker('asic', { sessions: 2 }), gone, worker(OTHER_WORKERS)));
  emit(share('stratum', 'accepted', '', { isRelay: true, isBlock: true }));
  emit(verdict('stratum', 'stale', '', { isRelay: true }));
  const { text } = await ask('/metrics');
  const of = 'relay="stratum",worker="asic"';
  const other = 'relay="stratum",worker="a \\"b\\" \\\\"';
  const samples = samplesOf(text);
  expect(Object.fromEntries(samples)).toMatchObject({
    'pickaxe_relay_refused_total{relay="stratum",reason="banned"}': 2,
    'pickaxe_relay_refused_total{relay="stratum",reason="full"}': 0,
    'pickaxe_relay_sessions{relay="stratum"}': 3,
    'pickaxe_relay_estimated_hashrate_hashes_per_second{relay="stratum"}': 1.4e12,
    'pickaxe_relay_verdicts_total{relay="stratum",verdict="accepted"}': 1,
    'pickaxe_relay_verdicts_total{relay="stratum",verdict="stale"}': 1,
    'pickaxe_relay_share_verdicts_total{relay="stratum",verdict="accepted"}': 1,
    'pickaxe_relay_share_verdicts_total{relay="stratum",verdict="stale"}': 0,
    'pickaxe_relay_accepted_share_hashes_total{relay="stratum"}': 500,
    [`pickaxe_worker_sessions{${of}}`]: 2,
    [`pickaxe_worker_estimated_hashrate_hashes_per_second{${of}}`]: 700e9,
    [`pickaxe_worker_share_difficulty_hashes{${of}}`]: 2 ** 40,
    [`pickaxe_worker_last_share_seconds{${of}}`]: 4,
    [`pickaxe_worker_shares_total{${of},verdict="accepted"}`]: 12,
    [`pickaxe_worker_shares_total{${of},verdict="duplicate"}`]: 3,
    [`pickaxe_worker_blocks_total{${other}}`]: 1,
    'pickaxe_worker_sessions{relay="stratum",worker="(others)"}': 1,
  });
  expect([...samples.keys()].filter((name) => name.includes('difficulty') && name.includes(other))).toEqual([]);
  expect([...samples.keys()].filter((name) => name.includes('device="stratum"'))).toEqual([]);
  const helps = text.split('\n').filter((each) => /^# HELP pickaxe_\w*estimated/.test(each));
  expect(helps.map((help) => help.includes('estimated from'))).toEqual([true, true]);
});

it('metrics describe each device, with empty labels for what is not known', async () => {
  const { ask, emit } = await serve();
  emit({ ...device('gpu0', 'ready'), model: 'a "card"', kernel: 'wgsl', bus: '0000:65:00.0' });
  emit(device('cpu', 'ready'));
  const { text } = await ask('/metrics');
  const labels = 'device="gpu0",kind="gpu",model="a \\"card\\"",kernel="wgsl",bus="0000:65:00.0"';
  expect(text).toContain(`pickaxe_device_info{${labels}} 1`);
  expect(text).toContain('pickaxe_device_info{device="cpu",kind="cpu",model="",kernel="",bus=""} 1');
});

it('metrics say how long each source took to give work, once it has given some', async () => {
  const { ask, emit } = await serve();
  for (const source of ['http://a', 'http://b'])
    emit({ type: 'source', source, kind: 'node', state: 'connected', reason: '' });
  for (const latencySeconds of [0.5, 0.012]) emit({ type: 'fetch', source: 'http://a', latencySeconds });
  const { text } = await ask('/metrics');
  expect(text).toContain('pickaxe_source_latency_seconds{source="http://a"} 0.012');
  expect(text).not.toContain('pickaxe_source_latency_seconds{source="http://b"}');
});

it('metrics have no sample for a sensor that falls silent', async () => {
  const { ask, emit, clock } = await serve();
  emit(device('gpu0', 'ready'));
  emit({ type: 'telemetry', device: 'gpu0', telemetry: { powerWatts: 200 } });
  expect((await ask('/metrics')).text).toContain('pickaxe_power_watts{device="gpu0"} 200');
  clock.advance(60_000);
  const { text } = await ask('/metrics');
  expect(text).not.toContain('pickaxe_power_watts{');
  expect(text).toContain('# TYPE pickaxe_power_watts gauge');
});

it('the job switches of a device begin at zero, and go on when it comes into service again', async () => {
  const { ask, emit } = await serve();
  emit(device('gpu0', 'ready'));
  expect((await ask('/metrics')).text).toContain('pickaxe_job_switch_seconds_count{device="gpu0"} 0');
  emit({ type: 'job-switch', device: 'gpu0', switchSeconds: 0.004 });
  emit(device('gpu0', 'ready'));
  expect((await ask('/metrics')).text).toContain('pickaxe_job_switch_seconds_count{device="gpu0"} 1');
});

it('metrics are named by Prometheus’ rules', async () => {
  const { ask } = await serve();
  const { text } = await ask('/metrics');
  const types = [...text.matchAll(/^# TYPE (pickaxe_\S+) (\w+)$/gm)];
  expect(types.length).toBeGreaterThan(20);
  for (const [, name, type] of types) {
    expect(name).toMatch(RULES);
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
  }
});

it('a label’s value is escaped', async () => {
  const { ask, emit } = await serve();
  emit({ type: 'source', source: 'http://x/"}\n\\evil 1', kind: 'node', state: 'connected', reason: '' });
  const { text } = await ask('/metrics');
  expect(text).toContain('pickaxe_source_up{source="http://x/\\"}\\n\\\\evil 1",kind="node"} 1');
});

it('metrics have no sample for what is not known yet', async () => {
  const { ask, emit } = await serve();
  const difficulty = async () => samplesOf((await ask('/metrics')).text).get('pickaxe_work_difficulty_hashes');
  expect(await difficulty()).toBeUndefined();
  emit({ type: 'work', chain: 3, height: 42n, difficulty: 1_000 });
  expect(await difficulty()).toBe(1_000);
  expect(await difficulty()).toBe(1_000);
});
