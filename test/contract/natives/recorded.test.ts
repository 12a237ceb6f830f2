/** Every native, called with arguments drawn at random: what it gives or says, and its gas. */

import { describe, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { ContractError } from '#pickaxe/contract/errors.js';
import { tableModel } from '#pickaxe/contract/gas/model.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { Database } from '#pickaxe/contract/runtime/database.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { ARGUMENTS, has, transactionWithModule } from './native-arguments.ts';

const CALLS = 40;
/** Natives whose last digits differ between versions of Node.js, and decimals with such digits. */
const ROUNDED = ['^', 'log', 'ln', 'exp', 'sqrt'];
const DIGITS = /(\.\d{12})\d+/g;

/** Values by type, many of them at the border of something. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  integer: ['0', '1', '-1', '2', '3', '7', '10', '16', '64', '255', '-300', '18446744073709551616'],
  decimal: ['0.0', '1.0', '1.5', '-2.25', '0.1', '2.5', '3.50', '-0.5', '123456.789', '0.000000000001'],
  string: [
    '""',
    '"a"',
    '"b"',
    '"abc"',
    '"v"',
    '"k"',
    '"m"',
    '"k:a"',
    '"é😀"',
    '"YWJj"',
    '"1f"',
    '"12"',
    '"%F %T"',
    '"{} {}"',
  ],
  bool: ['true', 'false'],
  time: [
    '(time "2020-01-01T00:00:00Z")',
    '(time "1999-12-31T23:59:59Z")',
    '(add-time (time "2020-02-29T12:00:00Z") 0.5)',
  ],
  list: [
    '[]',
    '[1]',
    '[3 1 2 1]',
    '["b" "a"]',
    '[1.0 2.5]',
    '[[1] [2 3]]',
    '[true false]',
    '[{"v": 2} {"v": 1}]',
    '[1 "a"]',
  ],
  object: ['{}', '{"v": 1}', '{"a": "x", "v": [1]}', '{"v": 1.0, "a": {"v": 2}}'],
  guard: ['(read-keyset "k")', '(keyset-ref-guard "k")', '(create-user-guard (m.yes))', '(create-module-guard "g")'],
  function: ['(+ 1)', '(= 1)', '(< 2)', '(lambda (x) x)', '(lambda (x y) x)', '(lambda (x) true)', '+', '-', 'm.yes'],
  module: ['m', 'm.t'],
};
const ALL = Object.values(VALUES).flat();

/** @returns the types that a signature gives to each parameter; a type variable stands for each type */
function parametersOf(signature: string): string[] {
  const outer = signature.replace(/\([^()]*\)/g, '(function)').replace(/:binding:\S+/g, ':binding');
  const parameters = outer.slice(0, outer.lastIndexOf(' -> ')).trim();
  return parameters === '' ? [] : parameters.split(' ').map((each) => each.slice(each.indexOf(':') + 1));
}

/** @returns values of a type, as far as the type is known by its name */
function valuesOf(type: string): readonly string[] {
  const union = /^<\w+\[(.*)\]>$/.exec(type)?.[1];
  if (union !== undefined) return union.split(',').flatMap(valuesOf);
  if (type.startsWith('[')) return VALUES.list;
  if (type.startsWith('(')) return VALUES.function;
  const [base] = type.split(/[:{<]/);
  return VALUES[base === 'keyset' ? 'guard' : base] ?? ALL;
}

/** @returns calls of a native, which are the same in each run */
function callsOf(name: string): string[] {
  const random = seededRandom([...name].reduce((sum, letter) => sum * 31 + letter.codePointAt(0)!, 7));
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)];
  const known = ARGUMENTS.filter(([natives]) => natives.split(' ').includes(name)).map(([, ...args]) =>
    args.filter((arg) => arg !== '…').map((arg) => arg.replace('?', '')),
  );
  const signatures = NATIVES.get(name)!.signatures.map(parametersOf);
  const calls = Array.from({ length: CALLS }, () => {
    const args =
      random() < 0.3 && known.length > 0 ? [...oneOf(known)] : oneOf(signatures).map((type) => oneOf(valuesOf(type)));
    // One argument of any type, one too many or one too few.
    if (args.length > 0 && random() < 0.25) args[Math.floor(random() * args.length)] = oneOf(ALL);
    const surplus = random();
    if (surplus < 0.05) args.push(oneOf(ALL));
    else if (surplus < 0.1) args.pop();
    return `(${[name, ...args].join(' ')})`;
  });
  return [...new Set(calls)];
}

/** Runs calls, none of which sees what the others have done. @returns what each gives or says, and its gas */
function outcomesOf(calls: readonly string[], dialect: Dialect): Recorded[] {
  const transaction = transactionWithModule(dialect);
  const { evaluator } = transaction;
  evaluator.gas.model = tableModel(new Set());
  const { database } = evaluator;
  return calls.map((input) => {
    evaluator.database = new Database(database);
    transaction.forget();
    const before = evaluator.gas.used;
    const says = () => {
      try {
        return transaction.run(input);
      } catch (error) {
        if (!(error instanceof ContractError)) throw error;
        return `${error.kind}: ${error.message}`;
      }
    };
    return { input, outcome: `${says()}\n${evaluator.gas.used - before}` };
  });
}

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe.each([4, 5] as const)('in dialect %i, calls have the recorded outcome of', (dialect) => {
  it.each([...NATIVES.keys()].filter((name) => has(dialect, name)).sort())('%s', (name) => {
    const outcomes = outcomesOf(callsOf(name), dialect);
    const rounded = outcomes.map(({ input, outcome }) => ({ input, outcome: outcome.replace(DIGITS, '$1') }));
    expectRecorded(`${dialect} ${name}`, ROUNDED.includes(name) ? rounded : outcomes);
  });
});
