/** All native functions, by their names. */

import { CAPABILITIES } from '../capabilities/capability-natives.ts';
import { KEYSETS } from '../capabilities/keyset-natives.ts';
import { DEFPACTS } from '../defpacts/defpact-natives.ts';
import { MODULES } from '../modules/module-natives.ts';
import type { Native } from '../runtime/native.ts';
import { TABLES } from '../tables/table-natives.ts';
import { CONTROL } from './control-flow.ts';
import { CURVES } from './curves.ts';
import { ENCRYPTION } from './encryption.ts';
import { HYPERLANE } from './hyperlane.ts';
import { LISTS } from './lists.ts';
import { MESSAGES } from './messages.ts';
import { OPERATORS } from './operators.ts';
import { POSEIDON } from './poseidon.ts';
import { TEXTS } from './texts.ts';
import { TIME } from './time-natives.ts';

export const NATIVES: ReadonlyMap<string, Native> = new Map(
  [
    ...[CAPABILITIES, CONTROL, CURVES, DEFPACTS, ENCRYPTION, HYPERLANE, KEYSETS, LISTS, MESSAGES, MODULES, OPERATORS],
    ...[POSEIDON, TABLES, TEXTS, TIME],
  ]
    .flat()
    .map((native) => [native.name, native]),
);
