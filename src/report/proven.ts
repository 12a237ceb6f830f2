/** From verified candidates to how many hashes a device has surely computed. */

/** Half the width of a 95 % interval, in standard deviations. */
const Z95 = 1.96;

/** Hashes that candidates prove: the best estimate, and the limits between which the truth is in 19 of 20 cases. */
export interface Proven {
  readonly hashes: number;
  readonly low: number;
  readonly high: number;
  /** How many candidates that rests on. */
  readonly proofs: number;
}

export class ProofBooks {
  #proofs = 0;
  #hashes = 0;
  #squares = 0;

  /** @param hashes what the candidate is worth: the hashes that one takes on average */
  add(hashes: number): void {
    this.#proofs++;
    this.#hashes += hashes;
    this.#squares += hashes ** 2;
  }

  /** Undefined before the first candidate. */
  get proven(): Proven | undefined {
    if (this.#proofs === 0) return undefined;
    const hashes = this.#hashes;
    // Candidates of unequal worth say as much as so many of equal worth.
    const n = hashes ** 2 / this.#squares;
    return { hashes, low: hashes * lowest(n), high: hashes * highest(n), proofs: this.#proofs };
  }
}

/*
 * Limits of a Poisson count, as parts of it, after E. B. Wilson and M. M. Hilferty (1931); right within a percent from
 * the first candidate on.
 */
function lowest(n: number): number {
  return Math.max(0, 1 - 1 / (9 * n) - Z95 / (3 * Math.sqrt(n))) ** 3;
}

function highest(n: number): number {
  const m = n + 1;
  return (m / n) * (1 - 1 / (9 * m) + Z95 / (3 * Math.sqrt(m))) ** 3;
}
