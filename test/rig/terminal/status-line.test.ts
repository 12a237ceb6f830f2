import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inColours, inPlain } from '#pickaxe/rig/terminal/screen.js';
import { statusLine } from '#pickaxe/rig/terminal/status-line.js';
import { device, hashes, relay, share, verdict, worker } from '../status/fakes.ts';
import { FakeRig, NODE, POOL } from './rig.ts';

const line = (rig: FakeRig, columns = 200) => statusLine(rig.status, columns, inPlain);

/** A rig that has been mining for 200 s, with a value for every figure. */
function busyRig(): FakeRig {
  const rig = new FakeRig().connected(1e12).mine({ cpu: 20e6, gpu0: 8e9, gpu1: 4e9 }, 200);
  for (let i = 0; i < 12; i++) rig.tell(verdict('gpu0', 'accepted'));
  rig.mine({ cpu: 20e6, gpu0: 8e9, gpu1: 4e9 }, 20);
  return rig.tell(
    verdict('gpu0', 'stale'),
    { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 61.4, powerWatts: 400 } },
    { type: 'telemetry', device: 'gpu1', telemetry: { temperatureCelsius: 72, powerWatts: 112 } },
  );
}

describe('the status line', () => {
  test('shows everything where there is room', () => {
    expect(line(busyRig())).toBe(
      ' 12.02 GH/s (10 s)  cpu 20.00 MH/s gpu0 8.000 GH/s gpu1 4.000 GH/s  accepted 12 rejected 0 stale 1  effort 24 %' +
        '  luck 454 %  block in ~1 min 23 s  72 °C  512 W  up 3 min 40 s  ? for keys',
    );
  });

  test('shows what the rig earns a day and what its power costs, where that is known', () => {
    const rig = FakeRig.earning({ coinsAt: () => 0.975, powerWatts: 500, powerPrice: 0.3 });
    rig.connected(41 * 86.4e9).mine({ cpu: 1e6 }, 40, { difficulty: 41 * 86.4e9 });
    expect(line(rig)).toContain('  block in ~41 d  ~0.0238 coins/day  power 3.6/day  up 40 s  ');
    expect(line(rig, 90)).toContain('  block in ~41 d  ~0.0238 coins/day');
    expect(line(rig.tell(device('cpu', 'paused', 'by the key p')))).not.toContain('coins');
  });

  test('omits the less important parts where there is less room', () => {
    const rig = busyRig().mine({ cpu: 20e6, gpu0: 8e9, gpu1: 4e9 }, 400);
    rig.tell({ type: 'telemetry', device: 'gpu1', telemetry: { temperatureCelsius: 72, powerWatts: 512 } });
    expect([120, 80, 40, 20, 12, 5].map((columns) => line(rig, columns))).toEqual([
      ' 12.02 GH/s (10 s)  accepted 12 rejected 0 stale 1  effort 505 %  block in ~1 min 23 s  72 °C  512 W' +
        '  up 10 min 20 s',
      ' 12.02 GH/s (10 s)  12/0/1  effort 505 %  block in ~1 min 23 s  72 °C  512 W',
      ' 12.02 GH/s  12/0/1  effort 505 %',
      ' 12.02 GH/s  12/0/1',
      ' 12.02 GH/s',
      '',
    ]);
  });

  test('names the key for keys in the first minutes on a terminal of the usual width, and where keys are read at all', () => {
    const rig = busyRig();
    expect([120, 80, 40, 20].map((columns) => line(rig, columns))).toEqual([
      ' 12.02 GH/s (10 s)  accepted 12 rejected 0 stale 1  effort 24 %  block in ~1 min 23 s  72 °C  512 W  ? for keys',
      ' 12.02 GH/s  12/0/1  effort 24 %  block in ~1 min 23 s  72 °C  ? for keys',
      ' 12.02 GH/s  12/0/1  72 °C  ? for keys',
      ' 12.02 GH/s  12/0/1',
    ]);
    expect(statusLine(rig.status, 200, inPlain, false)).not.toContain('keys');
  });

  test('on a pool shows shares, the proven rate and the time to a share, and not the effort for a block', () => {
    const rig = new FakeRig().onPool(1e18, 2 ** 40).mine({ gpu0: 180e6 }, 100, { difficulty: 1e18 });
    for (let i = 0; i < 12; i++) rig.tell(share('gpu0', 'accepted'));
    rig.tell(share('gpu0', 'stale'));
    expect(line(rig)).toBe(
      ' 180.0 MH/s (10 s)  shares 12/0/1  proven 180.0 MH/s  share in ~1 h 41 min  up 1 min 40 s  ? for keys',
    );
    expect(line(rig, 50)).toBe(' 180.0 MH/s  shares 12/0/1  proven 180.0 MH/s');
    expect(line(rig, 40)).toBe(' 180.0 MH/s  12/0/1  proven 180.0 MH/s');
    rig.tell(share('gpu0', 'accepted', '', { isBlock: true }), share('gpu0', 'unknown'));
    expect(line(rig)).toContain('  shares 13/0/1 unknown 1  blocks 1  proven 180.0 MH/s  share in ');
  });

  test('of a rig without devices shows no proven rate', () => {
    const rig = new FakeRig('stratum').onPool(1e18, 1e9);
    expect(line(rig)).toContain('  shares 0/0/0');
    expect(line(rig)).not.toContain('proven');
  });

  test('of a rig that mines for another process counts what was delivered', () => {
    const rig = new FakeRig().onPool(1e18, 1e9).mine({ gpu0: 180e6 }, 100, { difficulty: 1e18 });
    expect(line(rig.tell(share('gpu0', 'delivered')))).toContain('  shares 0/0/0 delivered 1  ');
    const solo = busyRig().tell(verdict('gpu0', 'delivered'));
    expect(line(solo)).toContain('stale 1 delivered 1');
  });

  test('shows workers beside the rig’s own hashrate, and alone where there is no device', () => {
    const both = new FakeRig('stratum').connected(1e15).mine({ cpu: 20e6 }, 20);
    both.tell(relay('stratum', worker('a'), worker('b')));
    expect(line(both)).toContain(' 20.00 MH/s (10 s)  workers 2 ~1.400 TH/s  accepted 0 ');
    const alone = new FakeRig('stratum').connected(1.4e15).tell(relay('stratum', worker('a'), worker('b')));
    expect(line(alone)).toBe(
      ' workers 2 ~1.400 TH/s  accepted 0 rejected 0 stale 0  block in ~16 min 40 s  up 0.0 s  ? for keys',
    );
    expect(line(new FakeRig('stratum'))).toMatch(
      /^ no node \(none has answered yet\), retrying {2}workers 0 ~0 H\/s {2}/,
    );
  });

  test('has no list of devices if there is only one', () => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e6 }, 5, { difficulty: 1e9 });
    const rest = 'accepted 0 rejected 0 stale 0  effort 1 %  block in ~16 min 40 s  up 5 s  ? for keys';
    expect(line(rig)).toBe(` 1.000 MH/s (10 s)  ${rest}`);
  });

  test('omits what is not known', () => {
    expect(line(new FakeRig())).toBe(
      ' starting (no device has been opened yet)  accepted 0 rejected 0 stale 0  effort 0 %  up 0.0 s' + '  ? for keys',
    );
  });

  test('shows the rate of the last ten seconds', () => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e6 }, 20).mine({ cpu: 3e6 }, 11);
    expect(line(rig)).toContain(' 3.000 MH/s (10 s)  ');
  });

  test('mentions lost answers only when there are some', () => {
    const rig = busyRig();
    expect(line(rig)).not.toContain('unknown');
    expect(line(rig.tell(verdict('cpu', 'unknown')))).toContain('stale 1 unknown 1');
  });

  test.each([
    ['paused', '(cpu paused: by the key p)', [device('cpu', 'paused', 'by the key p')]],
    ['no device', '(cpu reopening: it was lost)', [device('cpu', 'reopening', 'it was lost')]],
    ['no device', '(cpu parked: it was lost)', [device('cpu', 'parked', 'it was lost')]],
    [
      'paused',
      '(cpu paused: by the key p; gpu0 parked: it was lost)',
      [device('gpu0', 'parked', 'it was lost'), device('cpu', 'paused', 'by the key p')],
    ],
    [
      'no device',
      '(cpu reopening: it was lost; gpu0 paused: by the key p)',
      [device('cpu', 'reopening', 'it was lost'), device('gpu0', 'paused', 'by the key p')],
    ],
  ] as const)('says what keeps the rig from mining, without a hashrate: %s %s', (what, why, events) => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e6 }, 5);
    expect(line(rig)).not.toContain(what);
    rig.tell(...events).clock.advance(2_000);
    expect(line(rig)).toMatch(new RegExp(`^ ${what}( mines)? for 2 s `));
    expect(line(rig)).toContain(why);
    expect(line(rig, 40)).toContain(` ${what}`);
    expect(line(rig)).not.toContain('H/s');
  });

  test('says that the node is lost, and what is still hashed', () => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e6 }, 15);
    rig.tell({ type: 'source', source: NODE, kind: 'node', state: 'lost', reason: 'nothing\nlistens \u4f60there' });
    expect(line(rig)).toContain(' no node (nothing listens ?there), retrying  1.000 MH/s (10 s)  ');
    expect(line(rig, 30)).toBe(' no node  1.000 MH/s  0/0/0');
  });

  test('says that the pool is lost, where the rig mines on one', () => {
    const rig = new FakeRig().onPool(1e12, 1e6).mine({ cpu: 1e6 }, 15);
    rig.tell({ type: 'source', source: POOL, kind: 'pool', state: 'lost', reason: 'it has closed the connection' });
    expect(line(rig)).toContain(' no pool (it has closed the connection), retrying  1.000 MH/s (10 s)  ');
    expect(line(rig, 30)).toMatch(/^ no pool {2}1\.000 MH\/s/);
  });

  test('says that there is no node and no work yet', () => {
    const rig = new FakeRig().tell(device('cpu', 'ready'));
    expect(line(rig)).toContain(' no node (none has answered yet), retrying  accepted');
    rig.tell({ type: 'source', source: NODE, kind: 'node', state: 'connected', reason: '' });
    expect(line(rig)).toContain(' no work (the node has given none yet)  accepted');
  });

  test('names the devices that do not mine while others do', () => {
    const rig = new FakeRig().connected(1e9).mine({ cpu: 1e6, gpu0: 1e9 }, 5);
    expect(line(rig.tell(device('gpu0', 'parked', 'gone')))).toContain('  cpu 1.000 MH/s gpu0 parked  ');
  });

  test('omits the list of many devices before anything more important', () => {
    const rates = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`gpu${i}`, 1e9]));
    const rig = new FakeRig().connected(1e9).mine(rates, 5);
    expect(line(rig, 200)).not.toContain('gpu0');
    expect(line(rig, 200)).toMatch(/^ 16\.00 GH\/s \(10 s\) {2}accepted 0 .* {2}\? for keys$/);
    expect(line(rig, 1_000)).toContain('gpu15 1.000 GH/s');
  });

  test('is always narrower than the terminal, on one row, with characters that are one column wide', () => {
    const figures = fc.record({
      columns: fc.integer({ min: 1, max: 300 }),
      rates: fc.array(fc.double({ min: 0, max: 1e15, noNaN: true }), { maxLength: 12 }),
      difficulty: fc.double({ min: 1, max: 1e30, noNaN: true }),
      accepted: fc.integer({ min: 0, max: 50 }),
      shareDifficulty: fc.option(fc.double({ min: 1, max: 1e30, noNaN: true })),
      sessions: fc.option(fc.integer({ min: 0, max: 1e6 })),
    });
    fc.assert(
      fc.property(figures, ({ columns, rates, difficulty, accepted, shareDifficulty, sessions }) => {
        const rig = shareDifficulty
          ? new FakeRig().onPool(difficulty, shareDifficulty)
          : new FakeRig().connected(difficulty);
        if (sessions !== null)
          rig.tell(relay('stratum', worker('(others)', { sessions, hashesPerSecond: sessions * 1e12 })));
        rates.forEach((rate, i) => {
          rig.tell(device(`gpu${i}`, i % 3 === 2 ? 'paused' : 'ready'), hashes(`gpu${i}`, rate, difficulty));
        });
        for (let i = 0; i < accepted; i++) rig.tell(verdict('gpu0', 'accepted'), share('gpu0', 'accepted'));
        rig.clock.advance(12_345);
        const text = line(rig, columns);
        expect(text.length).toBeLessThan(columns);
        expect(text).toMatch(/^[\x20-\x7e°]*$/);
      }),
    );
  });

  test('says the same in colours', () => {
    const rig = busyRig().tell(verdict('gpu0', 'rejected', 'bad'));
    for (const columns of [40, 80, 120, 200]) {
      const painted = statusLine(rig.status, columns, inColours);
      expect(painted).toContain('\x1b[1m');
      expect(painted).toContain('\x1b[31m');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what it looks for
      expect(painted.replaceAll(/\x1b\[\d+m/g, '')).toBe(line(rig, columns));
    }
  });
});
