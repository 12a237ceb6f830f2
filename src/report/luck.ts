/** How many blocks the hashes give on average, to compare with those that came. */

export class Luck {
  /** How many blocks the hashes so far give on average. */
  expectedBlocks = 0;
  /** The difficulty of the best hash so far. */
  bestDifficulty = 0;
  #expectedAtLast = 0;

  /** @param difficulty that of the work which the hashes were for */
  searched(hashes: number, difficulty: number): void {
    this.expectedBlocks += hashes / difficulty;
  }

  proved(difficulty: number): void {
    this.bestDifficulty = Math.max(this.bestDifficulty, difficulty);
  }

  accepted(): void {
    this.#expectedAtLast = this.expectedBlocks;
  }

  /** Work since the last accepted block ÷ what a block takes on average: above 1, the next block is late. */
  get effort(): number {
    return this.expectedBlocks - this.#expectedAtLast;
  }
}
