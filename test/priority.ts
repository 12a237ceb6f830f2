/** The priorities of hashing threads in tests. */

import { getPriority } from 'node:os';

/**
 * The priority of the tests themselves. At the usual one, two busy programs would leave hashing threads 1 % of two
 * cores.
 */
export const ourNiceness = Math.max(0, getPriority());

/**
 * The priority of a miner that a test starts as a program: most such tests wait for something other than its hashes,
 * and other tests need the cores. A busy program at the usual priority leaves it a quarter of a core.
 */
export const minersNiceness = Math.min(19, ourNiceness + 5);
