/** All functions of the interactive interpreter. */

import type { Dialect } from '../../dialect.ts';
import type { TestFunctions, TestRun } from '../test-run.ts';
import { chain } from './chain.ts';
import { command } from './command.ts';
import { expectations } from './expectations.ts';
import { gas } from './gas.ts';
import { interpreter } from './interpreter.ts';
import { defpacts } from './pact-state.ts';
import { transactions } from './transactions.ts';

export function testFunctions(run: TestRun, dialect: Dialect): TestFunctions {
  const subjects = [expectations, transactions, defpacts, command, chain, gas, interpreter];
  const known = subjects.flatMap((make) => make(run)).filter((native) => (native.dialect ?? dialect) === dialect);
  return new Map(known.map((native) => [native.name, native]));
}
