import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock, hashes, relay, share, verdict, worker } from '../status/fakes.ts';

function log(...relays: string[]) {
  const lines: { level: string; tag: string; msg: string }[] = [];
  const clock = new FakeClock();
  const tally = new Tally(
    clock,
    [],
    relays.map((name) => ({ name })),
  );
  const formatters = { level: (level: string) => ({ level }) };
  const options = { level: 'debug', base: null, timestamp: false, formatters };
  const logger = pino(options, { write: (line: string) => lines.push(JSON.parse(line)) });
  const logLines = new LogLines(logger, tally);
  const tell = (...events: MinerEvent[]) => {
    for (const event of events) {
      tally.listen(event);
      logLines.listen(event);
    }
  };
  return { lines, clock, logLines, tell };
}

describe('the speed line', () => {
  test('of one device without sensors is its hashrate', () => {
    const { lines, clock, logLines, tell } = log();
    tell(device('cpu', 'ready'));
    clock.advance(1_000);
    tell(hashes('cpu', 21_500_000));
    lines.length = 0;
    logLines.speed();
    expect(lines).toEqual([{ level: 'info', tag: 'miner', msg: 'speed 30s 21.50 MH/s' }]);
  });

  test('of one device with sensors has their readings, without its name', () => {
    const { lines, clock, logLines, tell } = log();
    tell(device('gpu0', 'ready'));
    clock.advance(1_000);
    tell(hashes('gpu0', 22e9));
    tell({
      type: 'telemetry',
      device: 'gpu0',
      telemetry: { temperatureCelsius: 61.4, powerWatts: 500, fanRatio: 0.45 },
    });
    logLines.speed();
    expect(lines.at(-1)!.msg).toBe('speed 30s 22.00 GH/s (61 °C 500 W 45 % fan 44.00 MH/J)');
  });

  test('of several devices names each, with its sensors if it has any', () => {
    const { lines, clock, logLines, tell } = log();
    tell(device('cpu', 'ready'), device('gpu0', 'ready'), device('gpu1', 'ready'));
    clock.advance(1_000);
    tell(hashes('cpu', 20e6), hashes('gpu0', 8e9), hashes('gpu1', 2e9));
    tell({ type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 70 } });
    tell({ type: 'telemetry', device: 'gpu1', telemetry: { powerWatts: 100 } });
    logLines.speed();
    const each = 'cpu 20.00 MH/s, gpu0 8.000 GH/s 70 °C, gpu1 2.000 GH/s 100 W 20.00 MH/J';
    expect(lines.at(-1)!.msg).toBe(`speed 30s 10.02 GH/s (${each})`);
  });

  test('omits readings that are old', () => {
    const { lines, clock, logLines, tell } = log();
    tell(device('gpu0', 'ready'), { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 70 } });
    clock.advance(20_000);
    tell(hashes('gpu0', 20e6));
    logLines.speed();
    expect(lines.at(-1)!.msg).toBe('speed 30s 1.000 MH/s');
  });

  test('is omitted while the rig does not mine and nothing is hashed', () => {
    const { lines, clock, logLines, tell } = log();
    logLines.speed();
    tell(device('cpu', 'ready'));
    logLines.speed();
    tell({ type: 'source', source: 'http://node', kind: 'node', state: 'connected', reason: '' });
    tell({ type: 'work', chain: 3, height: 42n, difficulty: 1e9 });
    clock.advance(1_000);
    tell(hashes('cpu', 20e6), device('cpu', 'paused', 'it is night'));
    lines.length = 0;
    logLines.speed();
    expect(lines).toEqual([]);
  });

  test('reports 0 H/s for a device that should hash and does not', () => {
    const { lines, logLines, tell } = log();
    tell(device('cpu', 'ready'), {
      type: 'source',
      source: 'http://node',
      kind: 'node',
      state: 'connected',
      reason: '',
    });
    tell({ type: 'work', chain: 3, height: 42n, difficulty: 1e9 });
    logLines.speed();
    expect(lines.at(-1)!.msg).toBe('speed 30s 0 H/s');
  });

  test('has no rate for a paused device, whose average still includes the time before', () => {
    const { lines, clock, logLines, tell } = log();
    tell(device('cpu', 'ready'), device('gpu0', 'ready'));
    clock.advance(1_000);
    tell(hashes('cpu', 20e6), hashes('gpu0', 8e9), device('gpu0', 'paused', 'it is at 90 °C'));
    logLines.speed();
    expect(lines.at(-1)!.msg).toBe('speed 30s 20.00 MH/s (cpu 20.00 MH/s, gpu0 paused)');
  });
});

describe('news of a node', () => {
  test('has below it the lines that the node’s configuration must have, and says each once', () => {
    const { lines, tell } = log();
    const nodeConfiguration = ['mining:', '  coordination:', '    enabled: true'];
    const source = { type: 'source', source: 'http://node', kind: 'node' } as const;
    tell({ ...source, state: 'lost', reason: 'does not know this miner.', nodeConfiguration });
    tell({ ...source, state: 'connected', reason: 'the node gives work' });
    expect(lines).toEqual([
      { level: 'warn', tag: 'node', msg: 'http://node does not know this miner.' },
      ...nodeConfiguration.map((msg) => ({ level: 'warn', tag: 'node', isSnippet: true, msg })),
      { level: 'info', tag: 'node', msg: 'http://node the node gives work' },
    ]);
  });
});

describe('progress', () => {
  test('is logged once for each step of each device', () => {
    const { lines, tell } = log();
    const progress = (name: string, what: string, done: number): MinerEvent => {
      return { type: 'progress', device: name, what, done };
    };
    for (let i = 0; i < 10; i++)
      tell(progress('gpu0', 'measuring variants', i / 10), progress('gpu1', 'measuring variants', 0));
    tell(progress('gpu0', 'measuring batches', 0), progress('gpu0', 'measuring batches', 0.5));
    expect(lines.map(({ tag, msg }) => `${tag} ${msg}`)).toEqual([
      'gpu0 measuring variants',
      'gpu1 measuring variants',
      'gpu0 measuring batches',
    ]);
  });
});

describe('a device', () => {
  test('that is ready is logged in one short line, and the choice of its kernel in full at debug', () => {
    const { lines, tell } = log();
    tell({ ...device('cpu', 'ready'), detail: 'kernel avx2: the fastest here (avx2 50.0 MH/s)' });
    expect(lines).toEqual([
      { level: 'info', tag: 'cpu', msg: 'model of cpu' },
      { level: 'debug', tag: 'cpu', msg: 'kernel avx2: the fastest here (avx2 50.0 MH/s)' },
    ]);
  });

  test('that is parked is logged differently when others go on and when it is the last', () => {
    const { lines, tell } = log();
    const missing = { ...device('gpu9', 'parked', 'there is no gpu9.'), fault: 'missing' as const };
    tell(device('cpu', 'ready'), missing, device('cpu', 'parked', 'it was lost'));
    const alone = log();
    alone.tell(missing);
    expect([...lines.slice(1), ...alone.lines].map(({ level, tag, msg }) => `${level} ${tag} ${msg}`)).toEqual([
      'error gpu9 cannot be used: there is no gpu9.',
      'error cpu parked, and no other device is left: it was lost',
      'error gpu9 no device can mine: there is no gpu9. pickaxe devices lists what there is; choose with --devices, such as --devices cpu.',
    ]);
  });

  test('that fails is logged at a higher level the longer it will be gone', () => {
    const { lines, tell } = log();
    tell(device('cpu', 'ready'));
    lines.length = 0;
    tell(device('gpu0', 'ready'), device('gpu0', 'paused', 'it is at 90 °C'));
    tell(device('gpu0', 'reopening', 'it was lost'), device('gpu0', 'parked', 'it was lost'));
    expect(lines).toEqual([
      { level: 'info', tag: 'gpu0', msg: 'model of gpu0' },
      { level: 'warn', tag: 'gpu0', msg: 'paused: it is at 90 °C' },
      { level: 'warn', tag: 'gpu0', msg: 'reopening: it was lost' },
      { level: 'error', tag: 'gpu0', msg: 'parked until pickaxe is restarted, the others go on: it was lost' },
    ]);
  });

  test('that reports a wrong nonce is logged', () => {
    const { lines, tell } = log();
    tell({ type: 'hardware-error', device: 'gpu0', nonce: 77n });
    expect(lines).toEqual([
      { level: 'error', tag: 'gpu0', msg: 'hardware error: the candidate with nonce 77 is wrong' },
    ]);
  });

  test('does not cause a line for each report and reading', () => {
    const { lines, tell } = log();
    tell(hashes('gpu0', 5), { type: 'telemetry', device: 'gpu0', telemetry: { temperatureCelsius: 70 } });
    expect(lines).toEqual([]);
  });
});

test('the line of a verdict has the counts of all devices', () => {
  const { lines, tell } = log();
  // Nobody asks why a block was accepted.
  tell(verdict('cpu', 'accepted', 'good'), verdict('gpu0', 'stale', 'late'), verdict('gpu0', 'rejected', 'bad'));
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'info accepted (1/0/0) cpu chain 3 height 42 12 ms',
    'warn stale (1/0/1) gpu0 chain 3 height 42 12 ms: late',
    'error rejected (1/1/1) gpu0 chain 3 height 42 12 ms: bad',
  ]);
});

test('lines of blocks are bounded for each outcome, and say how many had none', () => {
  const { lines, clock, tell } = log();
  for (let i = 0; i < 10_000; i++) {
    tell(verdict('cpu', 'rejected', 'no'), share('cpu', 'accepted', '', { isBlock: true }));
    if (i === 0) tell(verdict('cpu', 'stale', 'late'));
    clock.advance(10);
  }
  const of = (level: string) => lines.filter((line) => line.level === level);
  // 30 at once, and one each ten seconds.
  expect([of('error').length, of('info').length, of('warn').length]).toEqual([39, 39, 1]);
  expect(lines.at(-1)?.msg).toMatch(
    /^block accepted! \(blocks \d+\/\d+\/1\) cpu chain 3 height 42; 999 more since the last/,
  );
  expect(lines.at(-2)?.msg).toMatch(/^rejected .* 12 ms: no; 999 more since the last such line$/);
});

describe('a pool’s shares', () => {
  const says = ({ level, msg }: { level: string; msg: string }) => `${level} ${msg}`;

  test('have a short line each while they are rare, with the counts of shares', () => {
    const { lines, clock, tell } = log();
    tell(share('gpu0', 'accepted'));
    clock.advance(10_000);
    tell(share('cpu', 'accepted'), share('gpu0', 'rejected', 'low difficulty'), share('cpu', 'stale', 'too late'));
    expect(lines.map(says)).toEqual([
      'info share accepted (shares 1/0/0) gpu0 chain 3 12 ms',
      'info share accepted (shares 2/0/0) cpu chain 3 12 ms',
      'warn share rejected (shares 2/1/0) gpu0 chain 3 12 ms: low difficulty',
      'warn share stale (shares 2/1/1) cpu chain 3 12 ms: too late',
    ]);
  });

  test('do not flood the log: one line in ten seconds for each outcome, with their number', () => {
    const { lines, clock, tell } = log();
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 20; i++) tell(share('gpu0', 'accepted'), share('gpu0', 'rejected', `bad ${i}`));
      clock.advance(1_000);
    }
    expect(lines).toHaveLength(12);
    expect(lines.slice(2, 6).map(says)).toEqual([
      'info 200 shares accepted in 10 s (shares 201/200/0), last gpu0 12 ms',
      'warn 200 shares rejected in 10 s (shares 201/201/0), last gpu0 12 ms: bad 0',
      'info 200 shares accepted in 10 s (shares 401/400/0), last gpu0 12 ms',
      'warn 200 shares rejected in 10 s (shares 401/401/0), last gpu0 12 ms: bad 0',
    ]);
  });

  test('that are blocks always have a line that stands out, with the counts of blocks', () => {
    const { lines, tell } = log();
    const isBlock = true;
    tell(
      share('gpu0', 'accepted'),
      share('gpu0', 'accepted', '', { isBlock }),
      share('gpu0', 'accepted', '', { isBlock }),
    );
    tell(share('gpu0', 'rejected', 'the pool is full', { isBlock }));
    expect(lines.slice(1).map(says)).toEqual([
      'info block accepted! (blocks 1/0/0) gpu0 chain 3 height 42',
      'info block accepted! (blocks 2/0/0) gpu0 chain 3 height 42',
      'error block rejected (blocks 2/1/0) gpu0 chain 3 height 42: the pool is full',
    ]);
    expect(lines.map((line) => 'outcome' in line)).toEqual([false, true, true, true]);
  });

  test('that are left out because they are too easy are logged once for each device, when that lasts', () => {
    const { lines, clock, tell } = log();
    const finds = (name: string, proofHashes: number) => {
      const { type: _, outcome, reason, answerSeconds, ...about } = share(name, 'accepted');
      const solution: MinerEvent = { ...about, type: 'solution', hash: new Uint8Array(32) };
      tell({ type: 'proof', device: name, hashes: proofHashes, difficulty: proofHashes }, solution);
    };
    const warnings = () => lines.flatMap(({ level, tag, msg }) => (level === 'warn' ? [`${tag} ${msg}`] : []));
    finds('gpu0', 700);
    clock.advance(29_999);
    finds('gpu0', 700);
    // The pool has made shares harder meanwhile.
    finds('gpu0', 400);
    finds('gpu0', 700);
    clock.advance(29_999);
    finds('gpu0', 700);
    expect(warnings()).toEqual([]);
    for (let i = 0; i < 10; i++) {
      clock.advance(1);
      finds('gpu0', 700);
      finds('cpu', 500);
    }
    expect(warnings()).toEqual([
      'gpu0 shares are so easy that about 29 % of them are left out and not paid: a device sends some 100 a second. Set a harder target',
    ]);
  });

  test('are logged at debug when they are found, with their nonce', () => {
    const { lines, tell } = log();
    const { type: _, outcome, reason, answerSeconds, ...about } = share('gpu0', 'accepted');
    tell({ ...about, type: 'solution', nonce: 77n, hash: new Uint8Array(32) });
    const { chain, height } = about;
    const msg = `solution for chain ${chain} height ${height}, nonce 77`;
    expect(lines).toEqual([{ level: 'debug', tag: 'gpu0', msg }]);
  });

  test('that a parent took have only their number, and no warning', () => {
    const { lines, tell } = log();
    tell(share('cpu', 'delivered'), verdict('cpu', 'delivered'));
    expect(lines.map(says)).toEqual([
      'info share delivered (shares 1) cpu chain 3 12 ms',
      'info delivered (1) cpu chain 3 height 42 12 ms',
    ]);
  });

  test('are in the summary at the end, if there were any', () => {
    const { lines, clock, logLines, tell } = log();
    clock.advance(1_000);
    tell(hashes('cpu', 2e6));
    logLines.summary();
    tell(share('gpu0', 'accepted'), share('gpu0', 'stale'), share('gpu0', 'unknown'));
    logLines.summary();
    const rest = '0 hardware errors; 2.000 Mhashes in 1 s, 2.000 MH/s on average';
    expect([lines[0].msg, lines.at(-1)?.msg]).toEqual([
      `0 accepted, 0 rejected, 0 stale, ${rest}`,
      `shares: 1 accepted, 0 rejected, 1 stale, 1 unknown; blocks: 0 accepted, 0 rejected, 0 stale, ${rest}`,
    ]);
  });

  test.each([
    [1, '1 block pays'],
    [2, '2 blocks pay'],
  ])('that pay somebody else are in the summary: %i', (count, what) => {
    const { lines, logLines, tell } = log();
    const block = { device: 'gpu0', chain: 3, height: 42n, account: 'k:me', source: 'http://one' };
    for (let i = 0; i < count; i++) {
      const blockHash = `${i}`.padEnd(43);
      tell({ type: 'block-state', ...block, blockHash, state: 'won' } as never);
      tell({ type: 'block-reward', ...block, blockHash, paidTo: 'k:thief' } as never);
    }
    logLines.summary();
    const msg = `${what} another account than yours: pickaxe blocks lists them`;
    expect(lines.at(-1)).toEqual({ level: 'error', tag: 'block', msg });
  });

  test('that pay somebody else have a line each, ten at once, and one with each further token', () => {
    const { lines, clock, tell } = log();
    const block = { device: 'gpu0', chain: 3, height: 42n, account: 'k:me', source: 'http://one', paidTo: 'k:thief' };
    const pays = (times: number) => {
      for (let i = 0; i < times; i++) {
        tell({ type: 'block-reward', ...block, blockHash: `${lines.length}-${i}`.padEnd(43) } as never);
      }
      return lines.splice(0).map(({ level }) => level);
    };
    expect(pays(12)).toEqual(Array(10).fill('error'));
    clock.advance(60_000);
    expect(pays(1)).toEqual(['error']);
    // The reward of the user's own block is always logged.
    tell({ type: 'block-reward', ...block, paidTo: undefined, blockHash: 'own'.padEnd(43), reward: '0.98' } as never);
    expect(lines).toHaveLength(1);
  });

  test('have their difficulty in the line of new work', () => {
    const { lines, tell } = log();
    tell({ type: 'work', chain: 3, height: 42n, difficulty: 2e15, shareDifficulty: 2 ** 40 });
    expect(lines.map(says)).toEqual(['info new job chain 3 difficulty 2.000 P, of a share 1.100 T']);
  });
});

describe('relays', () => {
  test('have a line beside the speed line, and their own messages are not logged', () => {
    const { lines, clock, logLines, tell } = log('stratum');
    tell(device('cpu', 'ready'));
    clock.advance(1_000);
    tell(hashes('cpu', 20e6), relay('stratum', worker('a'), worker('b')));
    lines.length = 0;
    logLines.speed();
    expect(lines.map(({ msg }) => msg)).toEqual(['speed 30s 20.00 MH/s', 'workers 2 ~1.400 TH/s']);
  });

  test('of a rig without devices have the only line', () => {
    const { lines, logLines, tell } = log('stratum');
    tell({ type: 'source', source: 'http://node', kind: 'node', state: 'connected', reason: '' });
    tell({ type: 'work', chain: 3, height: 42n, difficulty: 1e9 });
    lines.length = 0;
    logLines.speed();
    expect(lines.map(({ msg }) => msg)).toEqual(['workers 0 ~0 H/s']);
  });
});

test.each(['node', 'pool', 'parent'] as const)(
  'news of a source and New Cuts have its kind as their tag: %s',
  (kind) => {
    const { lines, tell } = log();
    tell({ type: 'source', source: 'http://a', kind, state: 'connected', reason: 'gives work' });
    tell({ type: 'new-cut', chain: 3 });
    expect(lines.map(({ tag, msg }) => [tag, msg])).toEqual([
      [kind, 'http://a gives work'],
      [kind, 'New Cut on chain 3'],
    ]);
  },
);

test('an unhealthy source is a warning', () => {
  const { lines, tell } = log();
  for (const state of ['unhealthy', 'healthy'] as const) {
    tell({ type: 'source', source: 'http://a', kind: 'node', state, reason: `is ${state}` });
  }
  expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
    'warn http://a is unhealthy',
    'info http://a is healthy',
  ]);
});

describe('new work', () => {
  const work = (height: bigint, shareDifficulty?: number): MinerEvent => {
    return { type: 'work', chain: 3, height, difficulty: 2e9, ...(shareDifficulty && { shareDifficulty }) };
  };

  test('is announced once, because what follows changes nothing for people: that is for debug', () => {
    const { lines, tell } = log();
    tell(work(42n), work(42n), { type: 'job', chain: 3, height: 42n, creationTimeMicros: 1n });
    tell({ type: 'new-cut', chain: 3 }, work(43n));
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      'info new job chain 3 height 42 difficulty 2.000 G',
      'debug new job chain 3 height 42 difficulty 2.000 G',
      'debug creation time rolled forward, chain 3 height 42',
      'debug New Cut on chain 3',
      'debug new job chain 3 height 43 difficulty 2.000 G',
    ]);
  });

  test('is announced again when a pool changes what its shares are worth', () => {
    const { lines, tell } = log();
    tell(work(42n, 1e6), work(43n, 1e6), work(43n, 2e6), work(44n, 2e6));
    expect(lines.map(({ level, msg }) => `${level} ${msg.slice(-7)}`)).toEqual([
      'info 1.000 M',
      'debug 1.000 M',
      'info 2.000 M',
      'debug 2.000 M',
    ]);
  });

  test('is not announced while all devices are paused, but by the first work after that', () => {
    const { lines, tell } = log();
    tell(device('cpu', 'ready'), device('cpu', 'paused', 'it is night'));
    tell({ type: 'source', source: 'http://node', kind: 'node', state: 'connected', reason: 'gives work' });
    tell(work(42n), work(43n), device('cpu', 'ready'), work(44n), work(45n));
    const jobs = lines.filter(({ tag }) => tag === 'work').map(({ level, msg }) => `${level} ${msg.slice(0, 25)}`);
    expect(jobs).toEqual([42, 43, 44, 45].map((n) => `${n === 44 ? 'info' : 'debug'} new job chain 3 height ${n}`));
  });
});

test('blocks that a stream did not announce are warnings, with the chains that are polled for that reason, until that is over', () => {
  const { lines, tell } = log();
  const source = 'http://node';
  tell({ type: 'missed-cut', source, chain: 3 });
  const chains = [
    { chain: 3, reason: 'missed-block' as const },
    { chain: 4, reason: 'no-stream' as const },
  ];
  tell({ type: 'polling', source, chains }, { type: 'polling', source, chains: [] });
  expect(lines.map(({ level, msg }) => `${level}: ${msg}`)).toEqual([
    'warn: http://node has a block on chain 3 that its open update stream did not announce: stale work was mined',
    'warn: http://node is polled for work every few seconds on chains 3 (missed block), 4 (no stream)',
    'info: http://node has reliable update streams for all chains again',
  ]);
});

test('an alarm is logged as a warning and its end as information, each under the name of its device', () => {
  const { lines, tell } = log();
  tell({ type: 'alarm', alarm: 'low-hashrate', state: 'raised', hashesPerSecond: 1.5e9, limitHashesPerSecond: 2e9 });
  tell({
    type: 'alarm',
    alarm: 'low-hashrate',
    state: 'cleared',
    device: 'gpu0',
    hashesPerSecond: 3e9,
    limitHashesPerSecond: 2e9,
  });
  expect(lines).toEqual([
    { level: 'warn', tag: 'miner', msg: 'low hashrate: 1.500 GH/s (limit 2.000 GH/s)' },
    { level: 'info', tag: 'gpu0', msg: 'hashrate is back: 3.000 GH/s (limit 2.000 GH/s)' },
  ]);
});

describe('lines that a node can cause as often as it wants', () => {
  const harder = (i: number): MinerEvent => {
    return { type: 'work', chain: 3, height: 42n, difficulty: 2e9, shareDifficulty: 1 + i };
  };
  const news = (i: number): MinerEvent => {
    const state = i % 2 === 0 ? 'lost' : 'connected';
    return { type: 'source', source: 'http://node', kind: 'node', state, reason: `is ${state}` };
  };
  const polling = (i: number): MinerEvent => {
    const chains = i % 2 === 0 ? [{ chain: 3, reason: 'no-stream' as const }] : [];
    return { type: 'polling', source: 'http://node', chains };
  };

  test.each<[string, (i: number) => MinerEvent, number, number]>([
    ['difficulties of shares', harder, 5, 1 / 60],
    ['news of a source', news, 100, 0.1],
    ['changes of the polled chains', polling, 20, 0.1],
    ['missed blocks', (i) => ({ type: 'missed-cut', source: 'http://node', chain: i % 20 }), 20, 0.1],
  ])('are bounded: %s', (_, event, atOnce, perSecond) => {
    const { lines, clock, tell } = log();
    const loud = () => lines.filter(({ level }) => level !== 'debug');
    for (let i = 0; i < 1_000; i++) tell(event(i));
    expect(loud()).toHaveLength(atOnce);
    expect(loud().every(({ msg }) => !msg.includes('left out'))).toBe(true);
    // A developer still gets each.
    expect(lines).toHaveLength(1_000);
    clock.advance(1_000 / perSecond);
    tell(event(1_000));
    expect(loud()).toHaveLength(atOnce + 1);
    expect(loud().at(-1)!.msg).toContain(`(${1_000 - atOnce} lines like this one were left out)`);
  });
});
