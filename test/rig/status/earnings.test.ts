import { describe, expect, it } from 'vitest';
import { earningsTerms } from '#pickaxe/app/nodes/ledger-views.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { type EarningsTerms, earningsOf, timeToBlockSeconds } from '#pickaxe/rig/status/earnings.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import {
  approximately,
  describeChance,
  describeCoins,
  describePowerCost,
  formatChance,
  formatDuration,
  formatEstimate,
} from '#pickaxe/rig/status/units.js';
import { device, FakeClock, hashes, NO_EARNINGS, relay, worker } from './fakes.ts';

const MAINNET = 5;
/** A day has 86,400 s: at 1 MH/s, a block of this difficulty takes a day on average. */
const ONE_A_DAY = 86.4e9;

describe('an estimate', () => {
  it('has a block a day where a block takes as many hashes as a day has', () => {
    const earnings = earningsOf({ hashesPerSecond: 1e6, chains: [{ difficulty: ONE_A_DAY, coins: 0.975 }] });
    expect(earnings).toEqual({
      ...NO_EARNINGS,
      blocksPerDay: expect.closeTo(1, 9),
      // 1 − 1/e, and 1 − e^−30.
      chanceInDayRatio: expect.closeTo(0.632_120_558_8, 9),
      chanceInMonthRatio: expect.closeTo(0.999_999_999_999_906, 12),
      coinsPerBlock: expect.closeTo(0.975, 9),
      coinsPerDay: expect.closeTo(0.975, 9),
    });
    expect(timeToBlockSeconds(earnings)).toBeCloseTo(86_400, 6);
  });

  it('keeps its digits where a block takes years', () => {
    // 1e20 hashes at 10 MH/s are 1e13 s, some 317,000 years: 8.64e-9 blocks a day.
    const { blocksPerDay, chanceInDayRatio, chanceInMonthRatio } = earningsOf({
      hashesPerSecond: 1e7,
      chains: [{ difficulty: 1e20 }],
    });
    expect(blocksPerDay! / 8.64e-9).toBeCloseTo(1, 9);
    expect(chanceInDayRatio! / 8.64e-9).toBeCloseTo(1, 7);
    expect(chanceInMonthRatio! / 2.592e-7).toBeCloseTo(1, 6);
  });

  it('gives each chain the same part of the hashes', () => {
    // Half of 864e6 hashes a day on each: 0.432 blocks of 1 coin, and 0.144 blocks of 4 coins.
    const chains = [
      { difficulty: 1e9, coins: 1 },
      { difficulty: 3e9, coins: 4 },
    ];
    expect(earningsOf({ hashesPerSecond: 1e4, chains })).toMatchObject({
      blocksPerDay: expect.closeTo(0.576, 9),
      coinsPerDay: expect.closeTo(1.008, 9),
      coinsPerBlock: expect.closeTo(1.75, 9),
    });
  });

  it('has no coins unless what a block brings is known on every chain', () => {
    const chains = [{ difficulty: 1e9, coins: 1 }, { difficulty: 1e9 }];
    const earnings = earningsOf({ hashesPerSecond: 1e4, chains });
    expect(earnings).toHaveProperty('blocksPerDay');
    expect(earnings).toMatchObject({ coinsPerDay: null, coinsPerBlock: null });
  });

  it('has nothing of blocks without a rate or without work', () => {
    expect(earningsOf({ hashesPerSecond: 0, chains: [{ difficulty: 1e9, coins: 1 }] })).toEqual(NO_EARNINGS);
    expect(earningsOf({ hashesPerSecond: 1e6, chains: [] })).toEqual(NO_EARNINGS);
  });

  it('has the cost of power where both are known', () => {
    const basis = { hashesPerSecond: 0, chains: [] };
    // 500 W × 24 h = 12 kWh.
    expect(earningsOf({ ...basis, powerWatts: 500, powerPrice: 0.3 })).toEqual({
      ...NO_EARNINGS,
      powerWatts: 500,
      powerPrice: 0.3,
      powerCostPerDay: expect.closeTo(3.6, 9),
    });
    expect(earningsOf({ ...basis, powerWatts: 500 })).toEqual({ ...NO_EARNINGS, powerWatts: 500 });
    expect(earningsOf({ ...basis, powerPrice: 0.3 })).toEqual({ ...NO_EARNINGS, powerPrice: 0.3 });
  });
});

describe('a rig', () => {
  const work = (chain: number, difficulty: number, more: Partial<MinerEvent & { type: 'work' }> = {}): MinerEvent => {
    return { type: 'work', chain, height: 6_000_000n, networkCode: MAINNET, difficulty, ...more };
  };

  function rig(terms: EarningsTerms, ...relays: string[]) {
    const clock = new FakeClock();
    const named = relays.map((name) => ({ name }));
    const tally = new Tally(clock, [], named, 'node', terms);
    return { clock, tally, tell: (...events: MinerEvent[]) => events.forEach(tally.listen) };
  }

  /** A tally of a rig that hashes at 1 MH/s. */
  function mining(terms: EarningsTerms = {}) {
    const made = rig(terms);
    made.tell(device('cpu', 'ready'), work(0, ONE_A_DAY));
    made.clock.advance(10_000);
    made.tell(hashes('cpu', 10e6));
    return made;
  }

  const perDay = (tally: Tally) => tally.status().earnings.coinsPerDay;
  const won = { chain: 0, height: 1n, blockHash: 'b', device: 'cpu', isRelay: false } as const;
  const state = { type: 'block-state', ...won, depth: 1, nodesDisagree: false, settledDepth: 6, reason: '' } as const;

  it('earns what the table of a known network says for the height of its work', () => {
    const { tally } = mining(earningsTerms({ node: { insecureTls: false }, power: {} }));
    // The 69th reward of the table, 18.93605, for 20 chains.
    expect(perDay(tally)).toBeCloseTo(0.946_802_5, 9);
    expect(tally.summary().earnings.coinsPerDay).toBeCloseTo(0.946_802_5, 9);
  });

  it.each([
    ['the settings name another network', { network: 'another01' }, MAINNET],
    ['the number in its headers is another', {}, 1],
  ])('earns by no table where %s', (_, node, networkCode) => {
    const { tally, tell } = mining(earningsTerms({ node: { insecureTls: false, ...node }, power: {} }));
    tell(work(0, ONE_A_DAY, { networkCode }));
    expect(perDay(tally)).toBeNull();
    expect(tally.status().earnings.blocksPerDay).toBeCloseTo(1, 9);
  });

  it('earns by no table while the work does not name its network', () => {
    const { tally, tell } = mining({ coinsAt: () => 1 });
    expect(perDay(tally)).toBeCloseTo(1, 9);
    tell({ type: 'work', chain: 0, height: 6_000_000n, difficulty: ONE_A_DAY });
    expect(perDay(tally)).toBeNull();
  });

  it('earns what its last won block brought, where there is no table', () => {
    const { tally, tell } = mining();
    expect(perDay(tally)).toBeNull();
    for (const event of [
      { ...state, state: 'pending', reward: '7.0' },
      { ...state, state: 'orphaned', reward: '7.0' },
      { ...state, state: 'won', reward: '7.0', paidTo: 'k:another' },
      { ...state, state: 'settled', reward: '7.0', isEarlier: true },
      { type: 'block-reward', ...won, fault: 'it is false' },
    ] as const) {
      tell(event);
      expect(perDay(tally)).toBeNull();
    }
    tell({ ...state, state: 'won', reward: '2.5' });
    expect(perDay(tally)).toBeCloseTo(2.5, 9);
    tell({ type: 'block-reward', ...won, reward: '2.4', fees: '0.1' });
    expect(perDay(tally)).toBeCloseTo(2.4, 9);
  });

  it('does not let a block change what the table says', () => {
    const { tally, tell } = mining({ coinsAt: () => 1 });
    tell({ ...state, state: 'won', reward: '1000000.0' });
    expect(perDay(tally)).toBeCloseTo(1, 9);
  });

  it('counts the chains of the last hour, and those of the network that is mined', () => {
    const { clock, tally, tell } = mining({ coinsAt: () => 1 });
    tell(work(1, ONE_A_DAY / 3));
    expect(perDay(tally)).toBeCloseTo((1 + 3) / 2, 9);
    tell(work(2, ONE_A_DAY, { networkCode: 7 }));
    expect(perDay(tally)).toBeCloseTo(1, 9);
    tell(work(1, ONE_A_DAY / 3));
    clock.advance(3_600_001);
    tell(hashes('cpu', 30e6), work(3, ONE_A_DAY));
    expect(tally.status().timeToBlockSeconds).toBeCloseTo(86_400, 6);
    clock.advance(3_600_001);
    tell(hashes('cpu', 30e6));
    // Old work is still better than none.
    expect(tally.status().timeToBlockSeconds).toBeCloseTo(86_400, 6);
  });

  it('earns with the workers of relays, too, and nothing while nobody hashes', () => {
    const { tally, tell } = rig({ coinsAt: () => 1 }, 'stratum');
    tell(work(0, ONE_A_DAY));
    expect(tally.status().earnings).toEqual(NO_EARNINGS);
    tell(relay('stratum', worker('asic', { hashesPerSecond: 2e6 })));
    expect(perDay(tally)).toBeCloseTo(2, 9);
  });

  const node = (state: 'connected' | 'lost'): MinerEvent => {
    return { type: 'source', source: 'http://node', kind: 'node', state, reason: 'it does not answer' };
  };

  it.each<[string, ...MinerEvent[]]>([
    ['its devices are paused', device('cpu', 'paused', 'by the key p')],
    ['its devices are gone', device('cpu', 'parked', 'it was lost')],
    ['it has no node', node('lost')],
    ['it waits for work', { type: 'new-cut', chain: 0 }],
  ])('has no chance of a block and no cost of power while %s', (_, ...events) => {
    const { clock, tally, tell } = mining({ coinsAt: () => 1, powerWatts: 450, powerPrice: 0.5 });
    expect(tally.status()).toMatchObject({
      earnings: { coinsPerDay: expect.anything(), powerCostPerDay: expect.anything() },
    });
    tell(...events);
    clock.advance(6_000);
    // The rate over half a minute has not fallen yet.
    expect(tally.status().hashesPerSecond).toBeGreaterThan(0);
    expect(tally.status().earnings).toEqual(NO_EARNINGS);
    expect(tally.status().timeToBlockSeconds).toBeNull();
    tell(device('cpu', 'ready'), work(0, ONE_A_DAY), node('connected'));
    expect(tally.status().earnings).toMatchObject({ powerCostPerDay: expect.closeTo(5.4, 9) });
  });

  it('knows its power when each device that hashes tells it, or somebody has said it', () => {
    const telemetry = (name: string, powerWatts: number): MinerEvent => {
      return { type: 'telemetry', device: name, telemetry: { powerWatts } };
    };
    const { tally, tell } = mining({ powerPrice: 0.5 });
    tell(device('gpu0', 'ready'), telemetry('gpu0', 300));
    expect(tally.status().earnings.powerWatts).toBeNull();
    tell(telemetry('cpu', 0));
    expect(tally.status().earnings).toMatchObject({ powerWatts: 300, powerCostPerDay: expect.closeTo(3.6, 9) });
    tell(device('cpu', 'parked', 'it was lost'), telemetry('cpu', 50));
    expect(tally.status().earnings).toMatchObject({ powerWatts: 300 });
    expect(mining({ powerPrice: 0.5, powerWatts: 450 }).tally.status().earnings).toMatchObject({
      powerWatts: 450,
      powerCostPerDay: expect.closeTo(5.4, 9),
    });
  });
});

describe('in words', () => {
  it.each([
    [0, '0'],
    [1e-13, '0'],
    [0.000_000_42, '0.00000042'],
    [0.975, '0.975'],
    [0.5, '0.5'],
    [1.008, '1.01'],
    [12.34, '12.3'],
    [120, '120'],
    [99_999, '99999'],
    [86.4e9, '86.40 G'],
    [999e18, '999.0 E'],
    [999_999, '999999'],
    [1e6, '1.000 M'],
    [1e21, 'more than 1000 E'],
    [1e22, 'more than 1000 E'],
    [Number.POSITIVE_INFINITY, 'more than 1000 E'],
  ])('%d is %s', (value, text) => {
    expect(formatEstimate(value)).toBe(text);
  });

  it.each([
    [1e-9, 'less than 0.0001 %'],
    [3.14e-5, '0.0031 %'],
    [0.0238, '2.4 %'],
    [0.5163, '52 %'],
    [1e-6, '0.00010 %'],
    [0.0999, '10 %'],
    [0.000_999_9, '0.10 %'],
    [0.9899, '99 %'],
    [0.99, '99 %'],
    [0.9949, '99.5 %'],
    [0.9989, '99.9 %'],
    [0.999, '99.9 %'],
    [0.9995, 'more than 99.9 %'],
    [1 - Number.EPSILON, 'more than 99.9 %'],
  ])('a chance of %d is %s', (ratio, text) => {
    expect(formatChance(ratio)).toBe(text);
  });

  it.each([
    [0.4, '0.4 s'],
    [0.6, '0.6 s'],
    [0.94, '0.9 s'],
    [0.96, '1 s'],
    [400 * 86_400, '1 y 35 d'],
    [99 * 365 * 86_400, '99 y'],
    [(100 * 365 - 1) * 86_400, '99 y 364 d'],
    [(100 * 365 + 180) * 86_400, '100 y'],
    [12_345 * 365 * 86_400, '12300 y'],
    [1e13, '317000 y'],
    [1e6 * 365 * 86_400, '1000000 y'],
    [3.2e13, 'more than 1 M y'],
    [1e40, 'more than 1 M y'],
  ])('%d s are %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });

  it('say what is not known, and why', () => {
    expect(describeCoins(NO_EARNINGS)).toBe('not known yet');
    for (const known of [{}, { chanceInDayRatio: 0.1 }, { chanceInMonthRatio: 0.1 }])
      expect(describeChance({ ...NO_EARNINGS, ...known })).toBe('not known yet');
    expect(describePowerCost(NO_EARNINGS)).toBe('');
    expect(describeCoins({ ...NO_EARNINGS, chanceInDayRatio: 0.1 })).toBe('the rewards of this network are not known');
    expect(describePowerCost({ ...NO_EARNINGS, powerPrice: 0.3 })).toContain(
      'not every device that mines has a sensor',
    );
    expect(describePowerCost({ ...NO_EARNINGS, powerPrice: 0.3 }, false)).toMatch(
      /: this rig has no devices; give --power-watts$/,
    );
    expect(describeCoins({ ...NO_EARNINGS, coinsPerDay: 1e30, coinsPerBlock: 1 })).toBe(
      'more than 1000 E coins a day (1 coins a block)',
    );
    expect([approximately('5 d'), approximately(formatDuration(1e20))]).toEqual(['~5 d', 'more than 1 M y']);
    const earnings = earningsOf({
      hashesPerSecond: 1e6,
      chains: [{ difficulty: 41 * ONE_A_DAY, coins: 0.975 }],
      powerWatts: 412,
      powerPrice: 0.3,
    });
    expect(describeCoins(earnings)).toBe('~0.0238 coins a day (0.975 coins a block)');
    expect(describeChance(earnings)).toBe('2.4 % for a block in a day, 52 % in 30 days');
    expect(describePowerCost(earnings)).toBe('412 W cost 2.97 a day');
  });
});
