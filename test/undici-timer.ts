/**
 * undici has one timer in a process for all its time limits. It is made when the first of them begins, and kept for
 * good. Under the fake clock of a test, that test would count it as its own, and after it none of undici's time limits
 * would ever end in this process. So it is made here, before the first test.
 */

import { createRequire } from 'node:module';

const { setFastTimeout, clearFastTimeout } = createRequire(import.meta.url)('undici/lib/util/timers.js');

clearFastTimeout(setFastTimeout(() => {}, 2_000));
