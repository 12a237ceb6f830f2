import { expect, test } from 'vitest';
import { statsLines } from '#pickaxe/cli/mining/stats-table.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { serve } from '../../rig/http/serving.ts';
import { device, hashes, relay, share, worker } from '../../rig/status/fakes.ts';

const source: MinerEvent = {
  type: 'source',
  source: 'stratum+tcp://pool.example:3333',
  kind: 'pool',
  state: 'connected',
  reason: '',
};
const work: MinerEvent = { type: 'work', chain: 3, height: 42n, difficulty: 5e18, shareDifficulty: 2 ** 40 };

async function linesAfter(...events: MinerEvent[]): Promise<string[]> {
  const { ask, emit, clock } = await serve();
  for (const event of events) emit(event);
  clock.advance(10_000);
  return statsLines((await ask('/api/v1/status')).json);
}

test('a rig on a pool has a row of shares, with the proven rate', async () => {
  const lines = await linesAfter(
    source,
    device('gpu0', 'ready'),
    work,
    hashes('gpu0', 1.8e9, 5e18),
    { type: 'proof', device: 'gpu0', hashes: 1.81e9, difficulty: 9 },
    share('gpu0', 'accepted'),
    share('gpu0', 'stale'),
  );
  expect(lines).toContain(
    'shares    1 accepted, 0 rejected, 1 stale; the last one 10 s ago; proven 181.0 MH/s over 15 min',
  );
  expect(lines).toContain('blocks    0 accepted, 0 rejected, 0 stale; 0.0 expected, effort 0 %');
  expect(lines).toContain('work      chain 3, height 42, difficulty 5.000 E, of a share 1.100 T');
  expect(lines).toContain(
    'earnings  the rewards of this network are not known; 0.00031 % for a block in a day, 0.0093 % in 30 days',
  );
  expect(lines).toContain('pool      stratum+tcp://pool.example:3333: connected for 10 s');
  expect(lines.join()).not.toContain('workers');
});

test('a rig whose shares were all refused has no time of the last one', async () => {
  const lines = await linesAfter(source, device('gpu0', 'ready'), work, share('gpu0', 'rejected'));
  expect(lines).toContainEqual(
    expect.stringMatching(/^shares {4}0 accepted, 1 rejected, 0 stale; none accepted yet; /),
  );
});

test('a rig that has lost its pool says so', async () => {
  const lines = await linesAfter(device('gpu0', 'ready'), source, { ...source, state: 'lost', reason: 'it is gone' });
  expect(lines).toContain('state     no pool for 10 s (it is gone)');
});

test('a rig on an unhealthy node mines, and says what is wrong with the node', async () => {
  const node = { ...source, source: 'http://node', kind: 'node' } as const;
  const lines = await linesAfter(device('gpu0', 'ready'), work, node, {
    ...node,
    state: 'unhealthy',
    reason: 'stands still',
  });
  expect(lines).toContain('state     mining for 10 s');
  expect(lines).toContain('node      http://node: unhealthy for 10 s (stands still)');
});

test('a rig without devices has a table of its workers in place of that of devices', async () => {
  const { difficulty: _, lastShareSeconds: __, ...gone } = worker('gone', { sessions: 0, hashesPerSecond: 0 });
  const lines = await linesAfter(source, work, relay('stratum', worker('attic', { sessions: 2 }), gone));
  expect(lines.slice(lines.indexOf(''))).toEqual([
    '',
    'stratum: workers 1 ~700.0 GH/s, estimated from shares; sessions 2',
    'worker  sessions   estimated  difficulty  acc/rej/stale/dup  blocks  last share',
    'attic          2  700.0 GH/s     1.100 T           12/1/2/3       0    14 s ago',
    'gone           0       0 H/s           -           12/1/2/3       0           -',
  ]);
  expect(lines.join()).not.toContain('hashrate');
});

test('averages over a longer time than the rig has run are left out', async () => {
  const { ask, emit, clock } = await serve();
  const ratesAfter = async (ms: number) => {
    clock.advance(ms);
    emit(hashes('gpu0', 1e9 * (ms / 1_000), 5e18));
    const lines = statsLines((await ask('/api/v1/status')).json);
    return [...lines.find((line) => line.startsWith('hashrate'))!.matchAll(/(over|since) [^,]*/g)].map(
      ([what]) => what,
    );
  };
  emit(device('gpu0', 'ready'));
  expect(await ratesAfter(1_000)).toEqual(['since the start']);
  expect(await ratesAfter(20_000)).toEqual(['over 10 s', 'since the start']);
  expect(await ratesAfter(60_000)).toEqual(['over 10 s', 'over 60 s', 'since the start']);
  expect(await ratesAfter(900_000)).toEqual(['over 10 s', 'over 60 s', 'over 15 min', 'since the start']);
});
