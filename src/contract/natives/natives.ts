/** All native functions by their names. */

import type { Native } from '../native.ts';
import { CONTROL } from './control.ts';
import { LISTS } from './lists.ts';
import { TEXTS } from './texts.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [...CONTROL, ...LISTS, ...TEXTS].map((native) => [native.name, native]),
);
