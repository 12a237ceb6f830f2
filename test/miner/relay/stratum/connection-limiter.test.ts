import { describe, expect, it } from 'vitest';
import { ConnectionLimiter, SharedLines } from '#pickaxe/miner/relay/stratum/connection-limiter.js';
import { stratumLimits } from '#pickaxe/miner/relay/stratum/stratum-limits.js';

describe('bans', () => {
  it('are logged at a bounded rate', () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
    const limiter = new ConnectionLimiter(stratumLimits, log, 0);
    for (let last = 0; last < 100; last++) limiter.note(`192.0.2.${last}`, 1_000, 'junk', 0);
    expect(warnings).toHaveLength(10);
    limiter.note('198.51.100.1', 1_000, 'junk', 10_000);
    expect(warnings.at(-1)).toBe('198.51.100.1 is banned for 5 minutes: junk; so were 90 others');
  });

  it('are logged with how many were not, from one on', () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
    const limiter = new ConnectionLimiter(stratumLimits, log, 0);
    for (let last = 0; last < 11; last++) limiter.note(`192.0.2.${last}`, 1_000, 'junk', 0);
    for (const last of [21, 22]) limiter.note(`192.0.2.${last}`, 1_000, 'flood', 20_000);
    const told = (last: number, rest: string) => `192.0.2.${last} is banned for 5 minutes: ${rest}`;
    expect(warnings.slice(9)).toEqual([told(9, 'junk'), told(21, 'flood; so were 1 others'), told(22, 'flood')]);
  });

  it('are logged also while there is no pause between them', () => {
    const warnings: string[] = [];
    const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
    const limiter = new ConnectionLimiter(stratumLimits, log, 0);
    for (let second = 0; second < 60; second++) limiter.note(`192.0.2.${second}`, 1_000, 'junk', 1_000 * second);
    expect(warnings).toHaveLength(10 + 5);
  });
});

it('penalties are of one point and more, and a client without one makes no place in their memory', () => {
  const warnings: string[] = [];
  const log = { debug() {}, info() {}, warn: (line: string) => void warnings.push(line) };
  const limiter = new ConnectionLimiter({ ...stratumLimits, remembered: 2 }, log, 0);
  for (let point = 0; point <= 100; point++) limiter.note('192.0.2.1', 1, 'junk', 0);
  expect(warnings).toHaveLength(1);
  for (const last of [2, 3, 4]) limiter.note(`192.0.2.${last}`, 0, 'it has closed the connection', 0);
  expect(limiter.enter('192.0.2.1', 0)).toBe('banned');
});

describe('connections from one address', () => {
  const SILENT = { debug() {}, info() {}, warn() {} };
  const limiterWith = (limits: Partial<typeof stratumLimits>) =>
    new ConnectionLimiter({ ...stratumLimits, ...limits }, SILENT, 0);
  /** Takes as many lines as there are. */
  const drain = (lines: unknown) => {
    let count = 0;
    while ((lines as SharedLines).take(false, 0)) count++;
    return count;
  };

  it('are bounded, with IPv6 for each network of 48 bits, and those that have ended do not count', () => {
    const limiter = limiterWith({ connectionsPerAddress: 2 });
    const enter = (address: string) => typeof limiter.enter(address, 0) !== 'string';
    expect([1, 2, 3].map((n) => enter(`2001:db8:0:${n}::1`))).toEqual([true, true, false]);
    expect(enter('2001:db8:1::1')).toBe(true);
    limiter.leave('2001:db8:0:1::1');
    expect([7, 8].map((n) => enter(`2001:db8:0:${n}::1`))).toEqual([true, false]);
  });

  it('may all come at once, as those of a farm do after a restart', () => {
    const limiter = limiterWith({});
    const refused = Array.from({ length: 8_193 }, () => limiter.enter('192.0.2.1', 0)).filter(
      (got) => typeof got === 'string',
    );
    expect(refused).toEqual(['crowded']);
  });

  it('may all be restarted twice in quick succession, and are banned where that does not end', () => {
    const limiter = limiterWith({});
    const restart = () => {
      const got = Array.from({ length: 8_192 }, () => limiter.enter('192.0.2.1', 0));
      for (const lines of got) if (typeof lines !== 'string') limiter.leave('192.0.2.1');
      return got.filter((lines) => lines === 'banned').length;
    };
    expect([restart(), restart(), restart()]).toEqual([0, 0, 0]);
    expect(restart()).toBeGreaterThan(7_000);
  });

  it('share their lines, and have no more after they have come again', () => {
    const limiter = limiterWith({ addressLineBurst: 50 });
    const [one, other] = [limiter.enter('192.0.2.1', 0), limiter.enter('192.0.2.1', 0)];
    expect([drain(one), drain(other), drain(limiter.enter('192.0.2.2', 0))]).toEqual([50, 0, 50]);
    limiter.leave('192.0.2.1');
    limiter.leave('192.0.2.1');
    expect(drain(limiter.enter('192.0.2.1', 0))).toBe(0);
  });

  it('have their lines served until the last one ends', () => {
    const limiter = limiterWith({});
    const lines = limiter.enter('192.0.2.1', 0) as SharedLines;
    limiter.enter('192.0.2.1', 0);
    let turns = 0;
    lines.wait(() => {
      turns++;
      return 'waits';
    });
    limiter.leave('192.0.2.1');
    limiter.serve(0);
    expect(turns).toBe(1);
    limiter.leave('192.0.2.1');
    limiter.serve(0);
    expect(turns).toBe(1);
  });

  it('that have come again take no place among those that have ended', () => {
    const limiter = limiterWith({ addressLineBurst: 50, remembered: 2 });
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) drain(limiter.enter(address, 0));
    limiter.leave('192.0.2.1');
    limiter.leave('192.0.2.2');
    limiter.enter('192.0.2.2', 0);
    limiter.leave('192.0.2.3');
    expect(drain(limiter.enter('192.0.2.1', 0))).toBe(0);
  });

  it('are remembered for a bounded number of addresses once all have ended', () => {
    const limiter = limiterWith({ addressLineBurst: 50, remembered: 3 });
    const visit = (address: string) => {
      const count = drain(limiter.enter(address, 0));
      limiter.leave(address);
      return count;
    };
    const visitors = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.1', '192.0.2.4', '192.0.2.5'];
    expect(visitors.map(visit)).toEqual([50, 0, 50, 50, 0, 50, 50]);
    expect(['192.0.2.1', '192.0.2.2'].map(visit)).toEqual([0, 50]);
  });
});

describe('clients of one address that wait for lines', () => {
  type State = ReturnType<Parameters<SharedLines['wait']>[0]>;

  /** @returns a function that serves the clients once, and returns whose turn it was, in order */
  function waiting(plans: Record<string, State[]>) {
    const lines = new SharedLines({ ...stratumLimits, addressLineBurst: 1, addressLinesPerSecond: 1_000 }, 0);
    const turns: string[] = [];
    const goOns = Object.entries(plans).map(([name, states]) => () => {
      turns.push(name);
      return states.shift() ?? 'waits';
    });
    for (const goOn of goOns) lines.wait(goOn);
    const serve = () => {
      lines.serve();
      return turns.splice(0).join('');
    };
    return { lines, goOns, serve };
  }

  it('take turns, a line each, until all has been read', () => {
    const { lines, serve } = waiting({ a: ['taken', 'taken', 'read'], b: ['taken', 'read'], c: ['read'] });
    expect(lines.take(false, 0)).toBe(false);
    expect(serve()).toBe('abcaba');
    expect(serve()).toBe('');
    expect(lines.take(false, 0)).toBe(true);
  });

  it('keep their turns where there are no more lines, and others wait behind them', () => {
    const { lines, serve } = waiting({ a: ['taken', 'waits', 'read'], b: ['waits', 'taken', 'read'] });
    expect(serve()).toBe('aba');
    // The one whose turn it was comes first.
    expect(serve()).toBe('bab');
    expect([lines.take(false, 0), serve()]).toEqual([true, '']);
  });

  it('have the lines for themselves', () => {
    const { lines, goOns } = waiting({ a: [] });
    expect([lines.take(false, 0), lines.take(true, 0), lines.take(true, 0)]).toEqual([false, true, false]);
    expect([lines.take(false, 1), lines.take(true, 1)]).toEqual([false, true]);
    lines.leave(goOns[0]);
    expect([lines.take(false, 1), lines.take(false, 2)]).toEqual([false, true]);
  });
});

it('a server that serves no lines for a second is held up until it does', () => {
  const limiter = new ConnectionLimiter(stratumLimits, { debug() {}, info() {}, warn() {} }, 0);
  expect([limiter.heldUpMs(999), limiter.heldUpMs(1_000)]).toEqual([Number.NEGATIVE_INFINITY, 1_000]);
  limiter.serve(999);
  expect([limiter.heldUpMs(999), limiter.heldUpMs(1_998)]).toEqual([
    Number.NEGATIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]);
  expect(limiter.heldUpMs(1_999)).toBe(1_999);
  limiter.serve(5_000);
  limiter.serve(5_100);
  expect([limiter.heldUpMs(5_100), limiter.heldUpMs(5_200)]).toEqual([5_000, 5_000]);
});
