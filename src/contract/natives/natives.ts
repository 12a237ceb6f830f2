/** All native functions by their names. */

import type { Native } from '../evaluator/native.ts';
import { CAPABILITIES } from './capabilities.ts';
import { CONTROL } from './control.ts';
import { LISTS } from './lists.ts';
import { OPERATORS } from './operators.ts';
import { TEXTS } from './texts.ts';
import { TIME } from './time.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [...CAPABILITIES, ...CONTROL, ...OPERATORS, ...LISTS, ...TEXTS, ...TIME].map((native) => [native.name, native]),
);
