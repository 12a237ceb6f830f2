/** All functions of the interactive interpreter, by their names. */

import type { Dialect } from '../../dialect.ts';
import type { Native } from '../../runtime/native.ts';
import type { TestRun } from '../test-run.ts';
import { environment } from './environment.ts';
import { expectations } from './expectations.ts';
import { flows } from './flows.ts';
import { gas } from './gas.ts';
import { otherFunctions } from './other.ts';
import { transactions } from './transactions.ts';

export function testFunctions(run: TestRun, dialect: Dialect): ReadonlyMap<string, Native> {
  const all = [expectations(run), transactions(run), environment(run), gas(run), flows(), otherFunctions(run)].flat();
  const known = all.filter((native) => (native.dialect ?? dialect) === dialect);
  return new Map(known.map((native) => [native.name, native]));
}
