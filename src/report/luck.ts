/** Blocks that were to be expected of the hashes, beside those that came. */

export class Luck {
  /** Blocks that the hashes so far should have given, on average. */
  expectedBlocks = 0;
  /** Difficulty of the best hash so far. */
  bestDifficulty = 0;
  #expectedAtLast = 0;

  /** @param difficulty of the work that they were for */
  searched(hashes: number, difficulty: number): void {
    this.expectedBlocks += hashes / difficulty;
  }

  proved(difficulty: number): void {
    this.bestDifficulty = Math.max(this.bestDifficulty, difficulty);
  }

  accepted(): void {
    this.#expectedAtLast = this.expectedBlocks;
  }

  /** Work since the last accepted block as a part of what one takes on average: above 1, it is late. */
  get effort(): number {
    return this.expectedBlocks - this.#expectedAtLast;
  }
}
