/** All native functions by their names. */

import type { Native } from '../native.ts';
import { CONTROL } from './control.ts';
import { OPERATORS } from './operators.ts';
import { TIME } from './time.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [...CONTROL, ...OPERATORS, ...TIME].map((native) => [native.name, native]),
);
