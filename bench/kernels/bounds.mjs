// Computes from the figures of bench/kernels/ports.c a chip's clock, from two chains of dependent instructions, and the
// kernels' limits.

/** Maximum ratio of the change of a boost clock between two measurements. The exact value does not matter. */
const MOST_APART = 0.05;

/** Whether a measurement of bench/kernels/ports.c belongs to the clock, and not to the vector units. */
export const isClock = (name) => name.startsWith('clock');

/**
 * For people; bounds go by the first chain.
 * @param clock GHz by additions and exclusive ors: too high on a chip that folds some of them together
 * @param clock_by_multiplications GHz by multiplications of 3 cycles: too low on a chip whose multiplications take
 *   longer
 */
export function clockLines({ clock, clock_by_multiplications: other }) {
  const [first, second] = [clock, other].map((GHz) => GHz.toFixed(2));
  const apart = Math.abs(clock / other - 1) > MOST_APART;
  return [
    `clock ${first} GHz (dependent additions and exclusive ors), ${second} GHz by dependent multiplications`,
    ...(apart ? ['THE TWO DISAGREE: what follows per cycle, and the port bound, may be wrong on this chip'] : []),
  ];
}

/**
 * @param units operations in a nanosecond, by what was measured; the clock in GHz
 * @param unit `avx2`, `avx512` or `avx512vl`
 * @param alu operations of a step, which tries `nonces` nonces
 * @returns `pipes`: additions that the unit does in a cycle; MH/s at most: `portBound`, were every operation an
 *   addition, and `mixtureBound`, by the kernels' own mixture
 */
export function boundsOf(units, unit, { nonces, alu }) {
  const pipes = Math.round(units[`${unit}_adds`] / units.clock);
  const portBound = (units.clock * 1000 * pipes * nonces) / alu;
  const mixtureBound = (units[`${unit}_mixture`] * 1000 * nonces) / alu;
  return { pipes, portBound, mixtureBound };
}
