/** Estimates from its verified candidates how many hashes a device has really computed. */

/** Half the width of a 95 % interval, in standard deviations. */
const Z95 = 1.96;

/** How many hashes the candidates prove: the best estimate and its 95 % interval. */
export interface Proven {
  readonly hashes: number;
  readonly low: number;
  readonly high: number;
  /** How many candidates the estimate rests on. */
  readonly proofs: number;
}

export class ProofStats {
  #proofs = 0;
  #hashes = 0;
  #squares = 0;

  /** @param hashes how many hashes such a candidate takes on average */
  add(hashes: number): void {
    this.#proofs++;
    this.#hashes += hashes;
    this.#squares += hashes ** 2;
  }

  /** Undefined before the first candidate. */
  get proven(): Proven | undefined {
    if (this.#proofs === 0) return undefined;
    const hashes = this.#hashes;
    // So many candidates of equal worth would say as much as these of unequal worth.
    const n = hashes ** 2 / this.#squares;
    return { hashes, low: hashes * lowest(n), high: hashes * highest(n), proofs: this.#proofs };
  }
}

/**
 * Whether a device counts clearly more or fewer hashes than it proves: its count is twice as far from the estimate as the
 * limits are. By chance that happens once in ten thousand looks.
 */
export function isDoubtful(counted: number, { hashes, low, high }: Proven): boolean {
  return counted > high + (high - hashes) || counted < low - (hashes - low);
}

/*
 * The limits of a Poisson count, as parts of it (E. B. Wilson and M. M. Hilferty, 1931). The approximation is right within
 * a percent from the first candidate on.
 */
function lowest(n: number): number {
  return Math.max(0, 1 - 1 / (9 * n) - Z95 / (3 * Math.sqrt(n))) ** 3;
}

function highest(n: number): number {
  const m = n + 1;
  return (m / n) * (1 - 1 / (9 * m) + Z95 / (3 * Math.sqrt(m))) ** 3;
}
