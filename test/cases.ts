/**
 * Random cases of a property. In CI there are as many as a test says, which is 100 if it says nothing. On a developer's
 * machine a run has a quarter of them, because each run has others.
 */

import fc from 'fast-check';

/** @returns the number of cases to try @param inCi their number in CI */
export const cases = (inCi: number): number => (process.env.CI ? inCi : Math.ceil(inCi / 4));

fc.configureGlobal({ numRuns: cases(100) });
