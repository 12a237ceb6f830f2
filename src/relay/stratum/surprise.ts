/**
 * Notices that shares come at another rate than they did: Page's cumulative sums, one for a rate twice as high and one for a rate
 * half as high. Each is the logarithm of how much better the other rate explains the shares since that sum was last zero. Pure.
 */

/** The rates that are compared with the known one: this many times as high, and as low. */
const RATIO = 2;
/**
 * Sums above this are a surprise. A steady miner is surprising once in e^8 = 3,000 shares at most, which is 8 hours at 10 s a share;
 * a rate that falls to a tenth is noticed after 19 shares that should have come, one that rises to the tenfold after 14.
 */
const SURPRISING = 8;

/** What has come since a sum was last zero. */
export interface Since {
  readonly shares: number;
  /** How many shares should have come. */
  readonly expected: number;
}

interface Sum {
  readonly perShare: number;
  readonly perExpected: number;
  value: number;
  shares: number;
  expected: number;
}

const sum = (ratio: number): Sum => {
  return { perShare: Math.log(ratio), perExpected: 1 - ratio, value: 0, shares: 0, expected: 0 };
};

export class Surprise {
  #sums: readonly Sum[] = [sum(RATIO), sum(1 / RATIO)];

  /** @param shares how many have come @param expected how many should have come @returns what has come since, if it is surprising */
  note(shares: number, expected: number): Since | undefined {
    for (const sum of this.#sums) {
      sum.value += shares * sum.perShare + expected * sum.perExpected;
      sum.shares += shares;
      sum.expected += expected;
      if (sum.value <= 0) Object.assign(sum, { value: 0, shares: 0, expected: 0 });
    }
    return this.#sums.find(({ value }) => value > SURPRISING);
  }

  reset(): void {
    this.#sums = [sum(RATIO), sum(1 / RATIO)];
  }
}
