import { expect, test } from 'vitest';
import { type RigsReport, rigsLines } from '#pickaxe/cli/mining/stats-table.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Status } from '#pickaxe/rig/status/status.js';
import { serve } from '../../rig/http/serving.ts';
import { device, hashes, relay, share, verdict, worker } from '../../rig/status/fakes.ts';

type Rig = RigsReport['rigs'][number];

const NODE: MinerEvent = { type: 'source', source: 'http://node', kind: 'node', state: 'connected', reason: '' };
const WORK: MinerEvent = { type: 'work', chain: 3, height: 42n, difficulty: 5e9 };
const HOT: MinerEvent = { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 71.6 } };

async function rigAfter(host: string, ...events: MinerEvent[]): Promise<Rig> {
  const { ask, emit, clock } = await serve();
  const isReading = ({ type }: MinerEvent) => type === 'telemetry';
  for (const event of events.filter((each) => !isReading(each))) emit(event);
  clock.advance(10_000);
  // A reading is old after some seconds.
  for (const event of events.filter(isReading)) emit(event);
  return { address: `http://${host}:8080`, status: Status.parse((await ask('/api/v1/status')).json), fault: null };
}

const working = (host: string) =>
  rigAfter(host, NODE, device('gpu0', 'ready'), WORK, hashes('gpu0', 3e9, 5e9), HOT, verdict('gpu0', 'accepted'), {
    type: 'hardware-error',
    device: 'gpu0',
    nonce: 1n,
  });
const GONE: Rig = {
  address: 'http://10.0.0.9:8080',
  status: null,
  fault: 'there is no miner at\nhttp://10.0.0.9:8080',
};

/** @returns the cells of each line, without the version */
function cells(rigs: readonly Rig[]): string[][] {
  return rigsLines({ rigs: [...rigs] }).map((line) =>
    line
      .replace(/ {2}\d+\.\d+\.\d+(?= |$)/, '')
      .trimEnd()
      .split(/ {2,}/),
  );
}

test('each rig has a row, one that does not answer has the reason in it, and the last row is of all', async () => {
  const [head, ...rows] = cells([await working('10.0.0.1'), GONE, await working('10.0.0.2')]);
  expect(head).toEqual([
    'rig',
    'at',
    'state',
    '30 s',
    'temperature',
    'blocks acc/rej/stale',
    'faults',
    'version',
    'reason',
  ]);
  expect(rows).toEqual([
    ['rig-7', '10.0.0.1:8080', 'mining', '300.0 MH/s', '72 °C', '1/0/0', '1'],
    ['-', '10.0.0.9:8080', 'no answer', '-', '-', '-', '-', '-', 'there is no miner at http://10.0.0.9:8080'],
    ['rig-7', '10.0.0.2:8080', 'mining', '300.0 MH/s', '72 °C', '1/0/0', '1'],
    ['all', '2 of 3 mining', '600.0 MH/s', '2/0/0', '2'],
  ]);
});

test('a rig that does not mine has no rate, and says why', async () => {
  const lost = await rigAfter('10.0.0.1', device('gpu0', 'ready'), WORK, hashes('gpu0', 3e9, 5e9), {
    ...NODE,
    state: 'lost',
    reason: 'it is gone',
  });
  const [, row, , all] = cells([lost, GONE]);
  expect(row).toEqual(['rig-7', '10.0.0.1:8080', 'no node', '-', '-', '0/0/0', '0', 'it is gone']);
  expect(all).toEqual(['all', '0 of 2 mining', '0 H/s', '0/0/0', '0']);
});

test('shares have a column where a rig is on a pool, and workers are in no sum', async () => {
  const pool = await rigAfter(
    '10.0.0.1',
    { ...NODE, kind: 'pool' },
    device('gpu0', 'ready'),
    { ...WORK, shareDifficulty: 2 ** 30 },
    hashes('gpu0', 3e9, 5e9),
    share('gpu0', 'accepted'),
    share('gpu0', 'stale'),
  );
  const relaying = await rigAfter('10.0.0.2', NODE, WORK, relay('stratum', worker('attic')));
  const [head, first, second, all] = cells([pool, relaying]);
  expect(head.slice(5, 7)).toEqual(['blocks acc/rej/stale', 'shares acc/rej/stale']);
  expect(first.slice(2)).toEqual(['mining', '300.0 MH/s', '-', '0/0/0', '1/0/1', '0']);
  expect(second.slice(2)).toEqual(['mining', '~700.0 GH/s', '-', '0/0/0', '-', '0']);
  expect(all).toEqual(['all', '2 of 2 mining', '300.0 MH/s', '0/0/0', '1/0/1', '0']);
});
