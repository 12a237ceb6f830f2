import { describe, expect, it } from 'vitest';
import {
  RateChangeDetector,
  RememberedRates,
  Vardiff,
  type VardiffOptions,
} from '#pickaxe/miner/relay/stratum/vardiff.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';

const FIRST = 2 ** 42;
const AIM = 10;
const TICK_MS = 1_000;

/** A miner whose shares come as a Poisson process, on a simulated clock. */
class Simulation {
  readonly vardiff: Vardiff;
  readonly #random: () => number;
  nowMs = 0;
  /** When the difficulty changed, and the shares that came, in ms. */
  readonly changes: number[] = [];
  readonly shares: number[] = [];

  constructor(seed: number, options: Partial<VardiffOptions> = {}) {
    const random = seededRandom(seed);
    this.#random = () => random() || Number.MIN_VALUE;
    this.vardiff = new Vardiff({ aimSeconds: AIM, learningSeconds: () => 0.15, difficulty: FIRST, ...options });
    this.vardiff.offer(this.vardiff.difficulty, 0);
  }

  /** @param rate H/s; 0 for a miner that does not hash */
  run(rate: number, seconds: number): this {
    const endMs = this.nowMs + 1000 * seconds;
    let tickMs = this.nowMs + TICK_MS;
    let shareMs = this.#nextShare(rate);
    while (Math.min(tickMs, shareMs) <= endMs) {
      this.nowMs = Math.min(tickMs, shareMs);
      if (shareMs <= tickMs) {
        this.shares.push(shareMs);
        this.vardiff.share(this.vardiff.difficulty, shareMs);
      } else tickMs += TICK_MS;
      const isShare = this.nowMs === shareMs;
      if (this.vardiff.retarget(this.nowMs)) {
        this.changes.push(this.nowMs);
        this.vardiff.offer(this.vardiff.difficulty, this.nowMs);
        shareMs = this.#nextShare(rate);
      } else if (isShare) shareMs = this.#nextShare(rate);
    }
    this.nowMs = endMs;
    return this;
  }

  /** The seconds between two shares that the difficulty leads to ÷ those that it should. */
  off(rate: number): number {
    return this.vardiff.difficulty / rate / AIM;
  }

  #nextShare(rate: number): number {
    return rate === 0
      ? Number.POSITIVE_INFINITY
      : this.nowMs - (1000 * Math.log(this.#random()) * this.vardiff.difficulty) / rate;
  }
}

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);
const RATES = [1e9, 5e9, 22e9, 100e9, 500e9, 2e12, 10e12, 40e12, 140e12];
const isNear = (off: number) => Math.abs(off - 1) <= 0.1;
const shareOf = (hits: readonly boolean[]) => hits.filter(Boolean).length / hits.length;

describe('the difficulty of a session', () => {
  it.each(RATES)('is within a tenth of its aim after three minutes for 95 of 100 miners of %d H/s', (rate) => {
    expect(shareOf(SEEDS.map((seed) => isNear(new Simulation(seed).run(rate, 180).off(rate))))).toBeGreaterThanOrEqual(
      0.95,
    );
  });

  it('tells the hashrate to 10 %, too', () => {
    const near = SEEDS.map((seed) => isNear(new Simulation(seed).run(5e12, 600).vardiff.hashesPerSecond / 5e12));
    expect(shareOf(near)).toBeGreaterThanOrEqual(0.95);
  });

  it('hardly changes once it is settled', () => {
    const hours = SEEDS.map((seed) => {
      const simulation = new Simulation(seed).run(5e12, 240);
      const before = simulation.changes.length;
      return simulation.run(5e12, 36_000).changes.length - before;
    });
    const aHour = hours.reduce((sum, count) => sum + count, 0) / SEEDS.length / 10;
    expect(aHour).toBeLessThan(2);
  });

  it.each([10, 0.1])('follows a hashrate that becomes %d times as high', (factor) => {
    const all = SEEDS.map((seed) => {
      const simulation = new Simulation(seed).run(2e12, 900).run(2e12 * factor, 300);
      const soon = simulation.off(2e12 * factor);
      return { soon, later: simulation.run(2e12 * factor, 240).off(2e12 * factor) };
    });
    // After five minutes shares come at least as often as they should, and after nine as often as they should.
    expect(shareOf(all.map(({ soon }) => soon < 2))).toBeGreaterThanOrEqual(0.95);
    expect(shareOf(all.map(({ later }) => Math.abs(later - 1) < 0.15))).toBeGreaterThanOrEqual(0.95);
  });

  it('falls for a miner that nothing is known of, so that 1 MH/s is found, too', () => {
    const off = new Simulation(1).run(1e6, 1_200).off(1e6);
    expect(off).toBeGreaterThan(0.8);
    expect(off).toBeLessThan(1.25);
  });

  it('does not fall so far in a silence that an ASIC which comes back floods the server', () => {
    const paused = new Simulation(2).run(100e12, 600).run(0, 36_000);
    const before = paused.shares.length;
    paused.run(100e12, 1);
    expect(paused.shares.length - before).toBeLessThan(600);
    expect(isNear(paused.run(100e12, 179).off(100e12))).toBe(true);
  });

  it('begins with what is known of the worker, and stays there', () => {
    const { known } = new Simulation(3).run(40e12, 600).vardiff;
    const again = new Simulation(4, { known });
    expect(Math.abs(again.off(40e12) - 1)).toBeLessThan(0.15);
    again.run(40e12, 600);
    expect(again.changes.length).toBeLessThanOrEqual(1);
  });

  it('falls for a slow machine under the name of one that was a million times as fast', () => {
    const { known } = new Simulation(11).run(140e12, 600).vardiff;
    const slow = new Simulation(12, { known }).run(100e6, 900);
    expect(slow.shares.length).toBeGreaterThan(10);
    expect(slow.off(100e6)).toBeLessThan(1.25);
  });

  it('stays as the worker has chosen it, unless shares become a flood', () => {
    const options = { difficulty: 1e13, isChosen: true };
    const calm = new Simulation(5, options).run(1e12, 3_600);
    expect(calm.vardiff.difficulty).toBe(1e13);
    expect(calm.changes).toEqual([]);
    const silent = new Simulation(6, options).run(1e9, 3_600);
    expect(silent.vardiff.difficulty).toBe(1e13);
    const flood = new Simulation(7, { difficulty: 1e9, isChosen: true }).run(1e12, 60);
    expect(flood.vardiff.difficulty).toBeGreaterThan(5e10);
    expect(flood.vardiff.difficulty).toBeLessThan(2e11);
  });

  it('starts where the worker suggests, as long as nothing is known', () => {
    const { vardiff } = new Simulation(8);
    vardiff.suggest(1e9);
    expect(vardiff.difficulty).toBe(1e9);
    const known = new Simulation(9).run(1e12, 600).vardiff;
    const before = known.difficulty;
    known.suggest(1e9);
    expect(known.difficulty).toBe(before);
  });

  it('forgets nothing in a silence at which it falls no lower', () => {
    const vardiff = new Vardiff({ aimSeconds: AIM, learningSeconds: () => 0.15, difficulty: 2 ** 20 });
    vardiff.offer(2 ** 20, 0);
    for (const ms of [0, 1_000, 2_000]) vardiff.share(2 ** 20, ms);
    expect(vardiff.known.shares).toBe(2);
    expect(vardiff.retarget(120_000)).toBe(false);
    vardiff.share(2 ** 20, 121_000);
    expect([vardiff.known.shares, vardiff.difficulty]).toEqual([3, 2 ** 20]);
  });

  it('asks for fewer shares while all sessions together learn too fast', () => {
    const simulation = new Simulation(10, { learningSeconds: () => 2 }).run(1e12, 300);
    expect(simulation.vardiff.isLearning).toBe(true);
    const before = simulation.shares.length;
    simulation.run(1e12, 60);
    expect(simulation.shares.length - before).toBeLessThan(70);
  });

  it.each([0.15, 8, 65])(
    'falls soon for a miner without a share, also while others have a share each %d s',
    (seconds) => {
      const found = SEEDS.map((seed) => {
        const { shares } = new Simulation(seed, { learningSeconds: () => seconds }).run(1e9, 60);
        return shares.length > 0;
      });
      expect(shareOf(found)).toBe(1);
    },
  );

  it('rises where it was chosen too low and the shares of an address are too many, until they are few', () => {
    const simulation = new Simulation(12, { difficulty: 1e9, isChosen: true }).run(10e9, 60);
    expect(simulation.vardiff.difficulty).toBe(1e9);
    for (let second = 0; second < 15; second++) simulation.vardiff.slowDown(1_000 * second);
    simulation.run(10e9, 60);
    expect(simulation.vardiff.difficulty / 1e9).toBeCloseTo(4, 0);
    for (let second = 0; second < 1_000; second++) simulation.vardiff.slowDown(100_000 + 1_000 * second);
    simulation.run(10e9, 60);
    expect(simulation.vardiff.difficulty / 100e9).toBeCloseTo(1, 0);
  });

  it('is the same for shares of an easier job that come late: they stand for less', () => {
    const one = new Vardiff({ aimSeconds: AIM, learningSeconds: () => 0.15, difficulty: 1e9 });
    one.offer(1e9, 0);
    for (let ms = 0; ms <= 4_000; ms += 1_000) one.share(1e9, ms);
    const before = one.hashesPerSecond;
    one.offer(1e12, 4_000);
    for (let count = 0; count < 10; count++) one.share(1e9, 4_001);
    expect(one.hashesPerSecond / before).toBeLessThan(1.01);
  });

  it.each([
    [30, 1],
    [200, 1],
    [200, 30],
    [200, 100],
  ])('is right again soon after %d shares that come at the same instant, %d s after the start', (count, seconds) => {
    const simulation = new Simulation(13).run(1e12, seconds);
    const { vardiff, nowMs } = simulation;
    const { difficulty } = vardiff;
    for (let share = 0; share < count; share++) {
      vardiff.share(difficulty, nowMs);
      if (vardiff.retarget(nowMs)) vardiff.offer(vardiff.difficulty, nowMs);
      expect(vardiff.difficulty / difficulty).toBeLessThan(1e5);
    }
    simulation.run(1e12, 60);
    expect(vardiff.hashesPerSecond / 1e12).toBeGreaterThan(0.5);
    expect(vardiff.hashesPerSecond / 1e12).toBeLessThan(2);
    expect(simulation.off(1e12)).toBeLessThan(0.5);
  });
});

it('a rate is remembered for a bounded number of workers', () => {
  const rates = new RememberedRates(2);
  const known = (shares: number) => ({ shares, exposure: 1 });
  for (const [index, worker] of ['a', 'b', 'a', 'c'].entries()) rates.put('192.0.2.1', worker, known(index));
  expect(['a', 'b', 'c'].map((worker) => rates.get('192.0.2.1', worker)?.shares)).toEqual([2, undefined, 3]);
});

it('a rate counts for clients of the same network only', () => {
  const rates = new RememberedRates(10);
  const known = { shares: 600, exposure: 1 };
  rates.put('2001:db8::1', 'rig', known);
  const addresses = ['2001:db8::2', '2001:db8:0:1::1', '192.0.2.1'];
  expect(addresses.map((address) => rates.get(address, 'rig'))).toEqual([known, undefined, undefined]);
});

describe('a surprise', () => {
  it('is a rate that is far higher or lower, and soon', () => {
    const [low, high] = [new RateChangeDetector(), new RateChangeDetector()];
    let waited = 0;
    while (!low.note(0, 1)) waited++;
    expect(waited).toBe(16);
    let came = 0;
    let since: ReturnType<RateChangeDetector['note']>;
    while (!since) {
      came++;
      since = high.note(1, 0.1);
    }
    expect(came).toBe(14);
    expect(since).toMatchObject({ shares: 14, expected: expect.closeTo(1.4) });
  });

  it('is not a rate that stays', () => {
    const surprise = new RateChangeDetector();
    for (let count = 0; count < 10_000; count++) expect(surprise.note(1, 1)).toBeUndefined();
  });
});
