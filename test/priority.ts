/** The priorities of hashing threads in tests. */

import { getPriority } from 'node:os';

/** The priority of the tests themselves. At the usual one, two busy programs would leave hashing threads 1 % of two cores. */
export const ourNiceness = Math.max(0, getPriority());
