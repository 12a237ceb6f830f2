/** All native functions by their names. */

import type { Native } from '../native.ts';
import { CONTROL } from './control.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map([...CONTROL].map((native) => [native.name, native]));
