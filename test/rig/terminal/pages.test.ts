import { describe, expect, test } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { connection, hashrates, health, help, results, workers } from '#pickaxe/rig/terminal/pages.js';
import { device, FakeClock, relay, share, verdict, worker } from '../status/fakes.ts';
import { FakeRig, NODE } from './rig.ts';

describe('the page of hashrates', () => {
  test('shows those of each device and of all, over the windows that are filled', () => {
    const rig = new FakeRig().connected(1e12).mine({ cpu: 20e6, gpu0: 8e9 }, 70);
    expect(hashrates(rig.status).slice(0, 4)).toEqual([
      '            10 s        60 s  15 min     highest',
      'cpu   20.00 MH/s  20.00 MH/s       -  20.00 MH/s',
      'gpu0  8.000 GH/s  8.000 GH/s       -  8.000 GH/s',
      'all   8.020 GH/s  8.020 GH/s       -  8.020 GH/s',
    ]);
  });

  test('shows what is proven beside what is counted', () => {
    const rig = new FakeRig().connected(1e12).mine({ cpu: 20e6, gpu0: 8e9 }, 100);
    expect(hashrates(rig.status).slice(4)).toEqual([
      'over the whole run, 1 min 40 s; verified candidates prove it:',
      'cpu  proven 20.00 MH/s (95 %: 18.09 … 22.06); counted 20.00 MH/s',
      'gpu0 proven 8.000 GH/s (95 %: 7.235 … 8.824); counted 8.000 GH/s',
    ]);
  });

  test.each([
    [0.5, 'counted 8.000 GH/s: MORE THAN IT PROVES'],
    [0.95, 'counted 8.000 GH/s'],
    [1.05, 'counted 8.000 GH/s'],
    [2, 'counted 8.000 GH/s: LESS THAN IT PROVES'],
  ])('judges a device that proves %d of what it counts', (honesty, says) => {
    const rig = new FakeRig().connected(1e12).mine({ gpu0: 8e9 }, 100, { honesty });
    expect(hashrates(rig.status).at(-1)).toMatch(new RegExp(`; ${says}$`));
  });

  test('does not doubt a device at once that comes into service late', () => {
    const rig = new FakeRig().connected(1e12).mine({ cpu: 1e6 }, 3_600);
    rig.mine({ gpu0: 8e9 }, 1, { proofs: 0 });
    expect(hashrates(rig.status).at(-1)).toMatch(/^gpu0 nothing yet; counted \S+ MH\/s$/);
  });

  test('doubts a device that proves nothing once it should have', () => {
    const rig = new FakeRig().connected(1e12).mine({ gpu0: 8e9 }, 100, { proofs: 0 });
    expect(hashrates(rig.status).at(-1)).toBe('gpu0 nothing yet; counted 8.000 GH/s');
    rig.mine({ gpu0: 8e9 }, 100, { proofs: 0 });
    expect(hashrates(rig.status).at(-1)).toBe(
      'gpu0 nothing yet; counted 8.000 GH/s: IT PROVES NOTHING of what it counts',
    );
  });
});

describe('the page of results', () => {
  test('shows the verdicts, luck and effort', () => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e8 }, 50, { difficulty: 1e9 });
    rig.tell(...Array.from({ length: 4 }, () => verdict('cpu', 'accepted')), verdict('cpu', 'rejected'));
    rig.mine({ cpu: 1e8 }, 5, { difficulty: 1e9 }).clock.advance(1_000);
    expect(results(rig.status)).toEqual([
      'accepted 4, rejected 1, stale 0, unknown 0',
      'luck     73 %: 5.5 blocks expected',
      'effort   50 % of what a block takes on average, since the last block',
      'best     difficulty 25.00 M; a block takes 1.000 G',
      'last     6 s ago',
      'next     in ~10 s, on average',
      'earns    the rewards of this network are not known',
      'chance   more than 99.9 % for a block in a day, more than 99.9 % in 30 days',
    ]);
  });

  test('on a pool shows the shares, what one takes and the proven rate', () => {
    const rig = new FakeRig().onPool(1e18, 1e12).mine({ cpu: 1e8 }, 50, { difficulty: 1e18 });
    for (let i = 0; i < 3; i++) rig.tell(share('cpu', 'accepted', '', { difficulty: 1e12 }));
    rig.tell(share('cpu', 'rejected')).clock.advance(60_000);
    rig.mine({ cpu: 1e8 }, 50, { difficulty: 1e18 });
    expect(results(rig.status)).toEqual([
      'shares   3 accepted, 1 rejected, 0 stale; the accepted ones stand for 3.000 T hashes',
      'share    takes 1.000 T hashes, in ~2 h 46 min, on average; the last one 1 min 50 s ago',
      'proven   62.50 MH/s over 15 min, by verified candidates',
      'blocks   0 accepted, 0 rejected, 0 stale',
      'luck     not known yet: 0.0 blocks expected',
      'effort   0 % of what a block takes on average, since the last block',
      'best     difficulty 25.00 M; a block takes 1.000 E',
      'last     no block yet',
      'next     a block in ~317 y, on average',
      'earns    the rewards of this network are not known',
      'chance   0.00086 % for a block in a day, 0.026 % in 30 days',
    ]);
  });

  test('has no effort where there is no device', () => {
    const rig = new FakeRig('stratum').connected(1.4e15).tell(relay('stratum', worker('a'), worker('b')));
    rig.tell(verdict('stratum', 'accepted', '', { isRelay: true })).clock.advance(3_000);
    expect(results(rig.status)).toEqual([
      'accepted 1, rejected 0, stale 0, unknown 0',
      'last     3 s ago',
      'next     in ~16 min 40 s, on average',
      'earns    the rewards of this network are not known',
      'chance   more than 99.9 % for a block in a day, more than 99.9 % in 30 days',
    ]);
  });

  test('has solutions that were only delivered, if there are any', () => {
    const rig = new FakeRig().connected(1e9).tell(verdict('cpu', 'delivered'), verdict('cpu', 'accepted'));
    expect(results(rig.status)[0]).toBe('accepted 1, rejected 0, stale 0, unknown 0, delivered 1');
  });

  test('says so before anything has happened', () => {
    expect(results(new FakeRig().status)).toEqual([
      'accepted 0, rejected 0, stale 0, unknown 0',
      'luck     not known yet: 0.0 blocks expected',
      'effort   0 % of what a block takes on average, since the last block',
      'best     difficulty 0',
      'last     no block yet',
      'next     not known yet',
      'earns    not known yet',
    ]);
  });

  test('has what the rig earns and what its power costs, where that is known', () => {
    const terms = { coinsAt: () => 0.975, powerWatts: 412, powerPrice: 0.3 };
    const tally = new Tally(new FakeClock(), [], [{ name: 'stratum' }], 'node', terms);
    tally.listen({ type: 'work', chain: 3, height: 42n, networkCode: 5, difficulty: 41 * 86.4e9 });
    tally.listen(relay('stratum', worker('asic', { hashesPerSecond: 1e6 })));
    expect(results(tally.status()).slice(-4)).toEqual([
      'next     in ~41 d, on average',
      'earns    ~0.0238 coins a day (0.975 coins a block)',
      'chance   2.4 % for a block in a day, 52 % in 30 days',
      'power    412 W cost 2.97 a day',
    ]);
  });

  test('of a rig that mines for another process has no earnings', () => {
    const tally = new Tally(new FakeClock(), [], [], 'parent', { coinsAt: () => 1 });
    expect(results(tally.status()).join('\n')).not.toContain('earns');
  });
});

describe('the page of the connection', () => {
  test('shows each node, the work and what New Cuts cost', () => {
    const rig = new FakeRig().connected(1e9);
    rig.clock.advance(60_000);
    rig.tell(
      { type: 'source', source: NODE, kind: 'node', state: 'lost', reason: 'nothing listens there' },
      { type: 'source', source: NODE, kind: 'node', state: 'warning', reason: 'mining is disabled' },
      { type: 'source', source: 'http://second', kind: 'node', state: 'connected', reason: 'the node gives work' },
      { type: 'source', source: 'http://third', kind: 'node', state: 'connected', reason: 'the node gives work' },
      { type: 'source', source: 'http://third', kind: 'node', state: 'unhealthy', reason: 'stands still' },
      { type: 'new-cut', chain: 3 },
      { type: 'job-switch', device: 'cpu', switchSeconds: 0.00125 },
    );
    rig.clock.advance(5_000);
    expect(connection(rig.status)).toEqual([
      `node     ${NODE}`,
      '         lost for 5 s, lost 1 time',
      '         nothing listens there',
      '         warning: mining is disabled',
      'node     http://second',
      '         connected for 5 s, never lost',
      'node     http://third',
      '         unhealthy for 5 s, never lost',
      '         stands still',
      'work     chain 3 height 42 difficulty 1.000 G, 1 min 5 s old',
      'New Cuts 1; New Cut → new job: median 1.3 ms, 99th percentile 1.3 ms, last 1.3 ms',
    ]);
  });

  test('names what the rig mines on before there is a connection', () => {
    const tally = new Tally(new FakeClock(), [], [], 'parent');
    const [first] = connection(tally.status());
    expect(first).toBe('parent   none has connected yet');
  });

  test('names pools as such, and shows which are on standby', () => {
    const source = 'stratum+tcp://pool.example:3333';
    const rig = new FakeRig().tell({ type: 'source', source, kind: 'pool', state: 'standby', reason: 'not needed' });
    expect(connection(rig.status).slice(0, 2)).toEqual([
      `pool     ${source}`,
      '         standby for 0.0 s, never lost',
    ]);
  });

  test('says so before there is a connection', () => {
    expect(connection(new FakeRig().status)).toEqual([
      'node     none has answered yet',
      'work     none yet',
      'New Cuts 0',
    ]);
  });
});

describe('the page of health', () => {
  test('shows each device’s state, failures and sensors', () => {
    const rig = new FakeRig().connected(1e12).mine({ cpu: 20e6, gpu0: 8e9 }, 30);
    rig.tell(device('gpu0', 'reopening', 'it was lost'), device('gpu0', 'paused', 'it is at 90 °C'));
    rig.tell({ type: 'hardware-error', device: 'gpu0', nonce: 1n });
    rig.tell({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 90, powerWatts: 400 } });
    rig.tell(device('gpu1', 'parked', 'there is no such GPU'));
    expect(health(rig.status)).toEqual([
      'cpu    ready, 0 failures, 0 hardware errors',
      '       model of cpu',
      'gpu0   paused, 1 failure, 1 hardware error, 90 °C 400 W 20.00 MH/J',
      '       it is at 90 °C',
      '       model of gpu0',
      'gpu1   parked',
      '       there is no such GPU',
      '       model of gpu1',
    ]);
  });

  test('says so before there is a device', () => {
    expect(health(new FakeRig().status)).toEqual(['no device has been opened yet']);
  });
});

describe('the page of workers', () => {
  test('shows each of them, with names that fit a terminal', () => {
    const rig = new FakeRig('stratum', 'external');
    const {
      difficulty: _,
      lastShareSeconds: __,
      ...never
    } = worker('gone', { sessions: 0, hashesPerSecond: 0, accepted: 0 });
    const long = worker('x'.repeat(63), { sessions: 2, blocks: 1, lastShareSeconds: 100 });
    rig.tell(relay('stratum', worker('attic\x1b[31m \u4f60'), long, never, worker(OTHER_WORKERS, { sessions: 5 })));
    rig.tell(share('stratum', 'accepted', '', { isRelay: true }));
    expect(workers(rig.status)).toEqual([
      'stratum: workers 7 ~2.100 TH/s, estimated from shares; sessions 8',
      'brought shares: 1 accepted, 0 rejected, 0 stale; blocks: 0 accepted, 0 rejected, 0 stale',
      'worker                    sessions   estimated  difficulty  acc/rej/stale/dup  blocks      last share',
      'attic [31m ?                     1  700.0 GH/s     1.100 T           12/1/2/3       0         4 s ago',
      'xxxxxxxxxxxxxxxxxxxxxxx…         2  700.0 GH/s     1.100 T           12/1/2/3       1  1 min 40 s ago',
      'gone                             0       0 H/s           -            0/1/2/3       0               -',
      '(others)                         5  700.0 GH/s     1.100 T           12/1/2/3       0         4 s ago',
      'external: workers 0 ~0 H/s, estimated from shares; sessions 0',
      'brought 0 accepted, 0 rejected, 0 stale',
      'no worker has connected yet',
    ]);
  });

  test('can tell the rigs of one key apart', () => {
    const rig = new FakeRig('stratum');
    const rigs = ['rig1', 'rig2'].map((name) => worker(`k:${'3f'.repeat(32)}.${name}`));
    rig.tell(relay('stratum', ...rigs));
    expect(workers(rig.status).join('\n')).toMatch(/^k:3f3f3f…3f3f\.rig1 .*\nk:3f3f3f…3f3f\.rig2 /m);
  });

  test('says so where no work is handed on', () => {
    expect(workers(new FakeRig().status)).toEqual(['there are no workers: this rig hands its work on to nobody']);
  });
});

test('the page of help names each key', () => {
  expect(help().map((line) => line[0])).toEqual(['h', 'p', 'r', 's', 'c', 'w', 'e', 'l', '?', 'q']);
});
