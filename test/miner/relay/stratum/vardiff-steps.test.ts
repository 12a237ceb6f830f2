/** How the difficulty of a session changes, step by step, where shares come at exact times. */

import { describe, expect, it } from 'vitest';
import { Vardiff, type VardiffOptions } from '#pickaxe/miner/relay/stratum/vardiff.js';

const FIRST = 2 ** 42;
const QUICK_FLOOR = 2 ** 27;
const SLOW_FLOOR = 2 ** 20;

/** A session whose first job comes at 5 s, and whose times count from then. */
class Session {
  readonly vardiff: Vardiff;
  #nowMs = 5_000;

  constructor(options: Partial<VardiffOptions> = {}) {
    this.vardiff = new Vardiff({ aimSeconds: 10, learningSeconds: () => 0.15, difficulty: FIRST, ...options });
    this.vardiff.offer(this.vardiff.difficulty, this.#nowMs);
  }

  /** Shares at the present difficulty, each so long after the one before. */
  shares(count: number, everyMs: number): this {
    for (let share = 0; share < count; share++) {
      this.#nowMs += everyMs;
      this.vardiff.share(this.vardiff.difficulty, this.#nowMs);
    }
    return this;
  }

  /** Like `shares`; after each, the miner gets a new job if the difficulty has changed. */
  mine(count: number, everyMs: number): this {
    for (let share = 0; share < count; share++) {
      this.shares(1, everyMs);
      this.look();
    }
    return this;
  }

  /** Like `mine`, with a miner of this rate in H/s, whose shares come as regularly as a clock. */
  mineAt(rate: number, count: number): this {
    for (let share = 0; share < count; share++) this.mine(1, (1000 * this.vardiff.difficulty) / rate);
    return this;
  }

  /** Lets time pass, and looks whether the difficulty has changed; the miner then gets a new job. */
  look(afterMs = 0): boolean {
    this.#nowMs += afterMs;
    const hasChanged = this.vardiff.retarget(this.#nowMs);
    if (hasChanged) this.vardiff.offer(this.vardiff.difficulty, this.#nowMs);
    return hasChanged;
  }

  /** @returns the new difficulties of so many milliseconds without a share, each with its time */
  silence(ms: number, stepMs = 500): [number, number][] {
    const falls: [number, number][] = [];
    for (let passed = stepMs; passed <= ms; passed += stepMs) {
      if (this.look(stepMs)) falls.push([passed, this.vardiff.difficulty]);
    }
    return falls;
  }
}

/** @returns what is known of a miner from so many shares */
const knownOf = (shares: number, rate = 1e12) => ({ shares, exposure: shares / rate });

describe('before its first job, a session', () => {
  it('counts no share, and changes nothing', () => {
    const vardiff = new Vardiff({ aimSeconds: 10, learningSeconds: () => 0.15, difficulty: FIRST });
    vardiff.share(FIRST, 1_000);
    vardiff.share(FIRST, 2_000);
    vardiff.suggest(1e9);
    expect(vardiff.retarget(600_000)).toBe(false);
    expect([vardiff.known, vardiff.hashesPerSecond]).toEqual([{ shares: 0, exposure: 0 }, 0]);
  });
});

describe('the estimate', () => {
  it('begins with the first share, which does not count, and neither does the time before it', () => {
    const session = new Session().shares(1, 1_900);
    expect(session.vardiff.known).toEqual({ shares: 0, exposure: 0 });
    session.shares(5, 1_000);
    expect(session.vardiff.known).toEqual({ shares: 5, exposure: expect.closeTo(5 / FIRST, 20) });
    expect(session.vardiff.hashesPerSecond / FIRST).toBeCloseTo(1);
  });

  it('counts a late share of an easier job for less, and one of a harder job for one', () => {
    const session = new Session().shares(1, 1_000);
    session.vardiff.share(FIRST / 4, 7_000);
    expect(session.vardiff.known.shares).toBe(0.25);
    session.vardiff.share(FIRST * 4, 8_000);
    expect(session.vardiff.known.shares).toBe(1.25);
  });

  it('counts the time before a job of another difficulty at that of the job before', () => {
    const { vardiff } = new Session().shares(1, 1_000);
    vardiff.offer(FIRST / 1_000, 9_000);
    vardiff.share(FIRST / 1_000, 10_000);
    expect(vardiff.known.shares).toBe(1);
    expect(vardiff.known.exposure * FIRST).toBeCloseTo(3 + 1_000);
  });

  it('takes at least 0.05 ms for a share', () => {
    const { vardiff } = new Session().shares(1, 1_000).shares(20, 0);
    expect(vardiff.known.exposure * FIRST).toBeCloseTo(20 * 0.000_05, 8);
  });

  it('is known from 32 shares on, and learning ends with 600, of which no more count', () => {
    const session = new Session().shares(1, 1_000).shares(31, 150);
    expect([session.vardiff.isKnown, session.vardiff.isLearning]).toEqual([false, true]);
    session.shares(1, 150);
    expect([session.vardiff.isKnown, session.vardiff.isLearning]).toEqual([true, true]);
    session.shares(567, 150);
    expect([session.vardiff.known.shares, session.vardiff.isLearning]).toEqual([599, true]);
    session.shares(1, 150);
    expect([session.vardiff.known.shares, session.vardiff.isLearning]).toEqual([600, false]);
    const { exposure } = session.vardiff.known;
    session.shares(1, 150);
    expect(session.vardiff.known).toEqual({ shares: 600, exposure: expect.closeTo(exposure, 20) });
    // One share in the time of ten.
    session.shares(1, 10 * 150);
    expect(session.vardiff.known.shares).toBe(600);
    expect(session.vardiff.known.exposure / exposure).toBeCloseTo((610 / 600) * (600 / 601), 6);
  });

  it('is right at once where the shares cease, and no other shares are needed for that', () => {
    const session = new Session({ known: knownOf(32, 1e9) });
    const { difficulty } = session.vardiff;
    expect(difficulty).toBeCloseTo(1.5e8);
    // 15.3 shares would have come.
    session.look(2_300);
    expect(session.vardiff.known.shares).toBe(32);
    const other = new Session({ known: knownOf(32, 1e9) });
    // 20 shares would have come: the rate so far counts as much as one share.
    other.look(3_000);
    expect(other.vardiff.known.shares).toBe(1);
    expect(other.vardiff.hashesPerSecond / (32 / (32e-9 + 3 / difficulty) / 21)).toBeCloseTo(1);
  });

  it('is right at once where ten times as many shares come', () => {
    const session = new Session({ known: knownOf(100, 1e9) }).shares(40, 15);
    // The estimate of the first shares would be 1.3e9 by now.
    expect(session.vardiff.hashesPerSecond / 1e10).toBeGreaterThan(0.8);
    expect(session.vardiff.hashesPerSecond / 1e10).toBeLessThan(1.2);
    expect(session.vardiff.known.shares).toBeLessThan(45);
    expect(session.vardiff.difficulty / 1e9).toBeGreaterThan(1);
  });
});

describe('the difficulty falls to a tenth', () => {
  it('each two seconds while no share comes, then each minute, and not without end', () => {
    expect(new Session().silence(600_000)).toEqual([
      [2_000, FIRST / 10],
      [4_000, FIRST / 100],
      [6_000, expect.closeTo(FIRST / 1_000, 3)],
      [8_000, expect.closeTo(FIRST / 10_000, 3)],
      [10_000, QUICK_FLOOR],
      [70_000, QUICK_FLOOR / 10],
      [130_000, QUICK_FLOOR / 100],
      [190_000, SLOW_FLOOR],
    ]);
  });

  it.each([
    [0.15, 2_000],
    [0.2, 2_000],
    [0.5, 5_000],
  ])('after a share, with one each %d s planned, only in a silence of %d ms', (seconds, ms) => {
    const session = new Session({ learningSeconds: () => seconds }).shares(1, 1_000);
    expect(session.look(ms - 1)).toBe(false);
    expect(session.look(1)).toBe(true);
    expect(session.vardiff.difficulty).toBe(FIRST / 10);
  });

  it.each([
    [31, true],
    [32, false],
  ])('at a silence after %i shares: %s', (shares, falls) => {
    const session = new Session({ learningSeconds: () => 1 }).shares(1, 1_000).mine(shares, 1_000);
    const { difficulty } = session.vardiff;
    expect(session.look(10_000)).toBe(falls);
    expect(session.vardiff.difficulty).toBe(falls ? difficulty / 10 : difficulty);
  });

  it('and the next share begins the estimate anew', () => {
    const session = new Session().shares(1, 1_000).shares(3, 150);
    session.look(2_000);
    expect(session.vardiff.known.shares).toBe(3);
    session.shares(1, 1_000);
    expect(session.vardiff.known).toEqual({ shares: 0, exposure: 0 });
  });

  it('not below what the miner needs if it comes back as fast as it was', () => {
    const session = new Session().shares(1, 1_000).mine(200, 150);
    const rate = session.vardiff.hashesPerSecond;
    session.silence(3_600_000);
    // The estimate falls a little before the silence is noticed.
    expect(session.vardiff.difficulty / (rate / 500)).toBeGreaterThan(0.9);
    expect(session.vardiff.difficulty / (rate / 500)).toBeLessThanOrEqual(1);
  });
});

describe('a rate that is known from an earlier session', () => {
  it.each([
    [7, FIRST],
    [8, 1.5e11],
    [599, 1.5e11],
    [600, 1e13],
  ])('of %i shares begins with a difficulty of %d, and no new one follows', (shares, difficulty) => {
    const session = new Session({ known: knownOf(shares) });
    expect(session.vardiff.difficulty).toBeCloseTo(difficulty, -2);
    expect(session.look()).toBe(false);
    expect(session.vardiff.known.shares).toBe(shares < 8 ? 0 : shares);
  });

  it('has a share no less often than planned for later while learning is slow, and is never below one hash', () => {
    expect(new Session({ known: knownOf(8), learningSeconds: () => 65 }).vardiff.difficulty).toBeCloseTo(1e13, -2);
    expect(new Session({ known: knownOf(8, 0.001) }).vardiff.difficulty).toBe(1);
  });

  it('does not change the difficulty that the worker has chosen', () => {
    const { vardiff } = new Session({ known: knownOf(600, 1e6), difficulty: 1e9, isChosen: true });
    expect([vardiff.difficulty, vardiff.hashesPerSecond, vardiff.isLearning]).toEqual([
      1e9,
      expect.closeTo(1e6),
      false,
    ]);
  });

  it('counts with the first share', () => {
    expect(new Session({ known: knownOf(8) }).shares(1, 150).vardiff.known.shares).toBe(9);
  });

  it('is another machine’s if no share comes for a minute', () => {
    const falls = new Session({ known: knownOf(31) }).silence(600_000);
    expect(falls.map(([ms, difficulty]) => [ms, Math.round(difficulty)])).toEqual([
      [2_000, 1.5e10],
      // As hard as for 500 shares a second.
      [4_000, 2e9],
      [64_000, 2e8],
      [66_000, QUICK_FLOOR],
      [126_000, Math.round(QUICK_FLOOR / 10)],
      [186_000, Math.round(QUICK_FLOOR / 100)],
      [246_000, SLOW_FLOOR],
    ]);
  });

  it('of a slow machine is approached as quickly as that of a fast one', () => {
    const falls = new Session({ known: knownOf(31, 1e9) }).silence(60_000);
    expect(falls.map(([ms, difficulty]) => [ms, Math.round(difficulty)])).toEqual([
      [2_000, 1.5e7],
      [4_000, 2e6],
    ]);
  });

  it('is this machine’s as soon as a share comes, however long none comes after that', () => {
    const session = new Session({ known: knownOf(31) });
    session.silence(10_000);
    session.shares(1, 0);
    expect(session.silence(3_600_000)).toEqual([]);
    expect(session.vardiff.difficulty).toBeCloseTo(2e9, 0);
  });
});

describe('the difficulty follows the estimate', () => {
  it('from the eighth share on', () => {
    const session = new Session().shares(1, 1_000).shares(7, 1_000);
    expect([session.look(), session.vardiff.difficulty]).toEqual([false, FIRST]);
    session.shares(1, 1_000);
    expect(session.look()).toBe(true);
    expect(session.vardiff.difficulty / FIRST).toBeCloseTo(0.15);
    expect(session.look()).toBe(false);
  });

  it.each([
    [99, 1.515],
    [101, 1],
    [224, 1],
    [227, 0.661],
  ])('while it learns, only to a ratio above 1.5: with a share each %i ms to %d', (everyMs, ratio) => {
    const session = new Session().shares(1, 1_000).shares(8, everyMs);
    expect(session.look()).toBe(ratio !== 1);
    expect(session.vardiff.difficulty / FIRST).toBeCloseTo(ratio, 3);
  });

  it.each([
    [1.19, 1],
    [1.25, 1.2],
    [1 / 1.19, 1],
    [1 / 1.25, 1 / 1.2],
  ])('after that to a ratio above 1.2: for %d times the hashrate to %d, and then no further', (factor, ratio) => {
    const session = new Session({ known: knownOf(600) }).mineAt(factor * 1e12, 2_000);
    expect(session.vardiff.difficulty / 1e13).toBeCloseTo(ratio, 2);
  });
});

describe('a difficulty that the worker has chosen', () => {
  const chosen = { difficulty: 1e9, isChosen: true };

  it('is raised from the eighth share on, to ten shares a second', () => {
    const session = new Session(chosen).shares(1, 1_000).shares(7, 10);
    expect(session.look()).toBe(false);
    session.shares(1, 10);
    expect(session.look()).toBe(true);
    expect(session.vardiff.difficulty).toBeCloseTo(1e10, 0);
  });

  it.each([
    [14, 1],
    [16, 1.6],
  ])('is raised only where more than fifteen shares a second come: with %i, to a ratio of %d', (perSecond, ratio) => {
    const session = new Session(chosen).shares(1, 1_000).shares(8, 1_000 / perSecond);
    expect(session.look()).toBe(ratio > 1);
    expect(session.vardiff.difficulty / 1e9).toBeCloseTo(ratio);
  });

  it('is lowered again where fewer shares come, and never below what was chosen', () => {
    const session = new Session(chosen).shares(1, 1_000).mine(8, 10);
    expect(session.vardiff.difficulty).toBeCloseTo(1e10, 0);
    // Seven shares a second, instead of ten: the difficulty stays. With six, it falls.
    session.mineAt(7e10, 400);
    expect(session.vardiff.difficulty).toBeCloseTo(1e10, 0);
    session.mineAt(6e10, 400);
    expect(session.vardiff.difficulty / 1e10).toBeCloseTo(1 / 1.5, 2);
    session.silence(600_000);
    expect(session.vardiff.difficulty).toBe(1e9);
  });

  it('does not fall in a silence, and is not another one because the client suggests it', () => {
    const session = new Session(chosen);
    session.vardiff.suggest(5);
    expect(session.vardiff.isLearning).toBe(false);
    expect([session.silence(600_000), session.vardiff.difficulty]).toEqual([[], 1e9]);
  });

  it('is raised to half the rate of shares at most once in ten seconds, down to one share in ten seconds', () => {
    const session = new Session({ ...chosen, known: knownOf(600) });
    const perSecond = () => {
      session.look();
      return Number((1e12 / session.vardiff.difficulty).toPrecision(3));
    };
    expect(perSecond()).toBe(10);
    const after = [0, 9_999, 10_000, 19_999, 20_000, 30_000, 40_000, 50_000, 60_000, 70_000].map((ms) => {
      session.vardiff.slowDown(ms);
      return perSecond();
    });
    expect(after).toEqual([5, 5, 2.5, 2.5, 1.25, 0.625, 0.313, 0.156, 0.1, 0.1]);
  });
});

it('a suggested difficulty is used until 32 shares have come, and is told once', () => {
  const session = new Session({ learningSeconds: () => 1 }).shares(1, 1_000).mine(31, 1_000);
  session.vardiff.suggest(FIRST * 1.2);
  expect([session.look(), session.vardiff.difficulty]).toEqual([true, FIRST * 1.2]);
  expect(session.look()).toBe(false);
  session.mine(1, 1_200);
  session.vardiff.suggest(FIRST);
  expect([session.look(), session.vardiff.difficulty]).toEqual([false, FIRST * 1.2]);
});
