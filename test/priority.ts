/** The priority that hashing threads have in tests. */

import { getPriority } from 'node:os';

/** That of the tests themselves: at the usual one, two busy programs leave hashing threads a hundredth of two cores. */
export const ourNiceness = Math.max(0, getPriority());
