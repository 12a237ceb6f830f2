/** All native functions by their names. */

import type { Native } from '../runtime/native.ts';
import { CAPABILITIES } from './capabilities.ts';
import { CONTROL } from './control.ts';
import { FLOWS } from './flows.ts';
import { KEYSETS } from './keysets.ts';
import { LISTS } from './lists.ts';
import { MESSAGES } from './messages.ts';
import { MODULES } from './modules.ts';
import { OPERATORS } from './operators.ts';
import { TABLES } from './tables.ts';
import { TEXTS } from './texts.ts';
import { TIME } from './time.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [CAPABILITIES, CONTROL, FLOWS, KEYSETS, LISTS, MESSAGES, MODULES, OPERATORS, TABLES, TEXTS, TIME]
    .flat()
    .map((native) => [native.name, native]),
);
