/** Every native, called with an argument of each type that its signatures do not name. */

import { describe, expect, it } from 'vitest';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { ARGUMENTS, has, transactionWithModule } from './native-arguments.ts';

/** A value of each type. */
const VALUES = {
  integer: '1',
  decimal: '1.5',
  string: '"a"',
  bool: 'true',
  time: '(time "2020-01-01T00:00:00Z")',
  list: '[true]',
  object: '{ "z": 1 }',
  guard: '(read-keyset "k")',
  module: 'm',
} as const;
type Type = keyof typeof VALUES;

/** @param type such as `<a[integer,[<l>]]>` @returns whether the text names the type; true for any type */
function names(type: string, wanted: string): boolean {
  const union = /^<\w+\[(.*)\]>$/.exec(type)?.[1];
  if (union !== undefined) return union.split(',').some((each) => names(each, wanted));
  if (type === '*' || /^<\w+>$/.test(type) || type.startsWith('(')) return true;
  if (type.startsWith('[')) return wanted === 'list';
  const [base] = type.split(/[:{]/);
  return base === wanted || (base === 'keyset' && wanted === 'guard');
}

/** @returns the types of the parameters in each signature */
const signaturesOf = (name: string) =>
  NATIVES.get(name)!.signatures.map((signature) => {
    const outer = signature.replace(/\([^()]*\)/g, '(function)');
    const parameters = outer.slice(0, outer.lastIndexOf(' -> ')).trim();
    return parameters === '' ? [] : parameters.split(' ').map((each) => each.slice(each.indexOf(':') + 1));
  });

const CASES = ARGUMENTS.flatMap(([natives, ...all]) => {
  const args = all.filter((arg) => arg !== '…').map((arg) => arg.replace('?', ''));
  return natives.split(' ').flatMap((name) => {
    const signatures = signaturesOf(name).filter(({ length }) => length === args.length);
    const calls = args.flatMap((right, at) =>
      Object.entries(VALUES)
        .filter(([type]) => !right.includes(':=') && !signatures.some((types) => names(types[at], type)))
        .map(([type, value]) => ({ type: type as Type, code: `(${[name, ...args.with(at, value)].join(' ')})` })),
    );
    return signatures.length > 0 && calls.length > 0 ? [{ name, calls }] : [];
  });
});

describe.each([4, 5] as const)('in dialect %i, an argument of another type is refused by', (dialect) => {
  const transaction = transactionWithModule(dialect);

  it.each(CASES.filter(({ name }) => has(dialect, name)))('$name', ({ calls }) => {
    for (const { type, code } of calls) {
      // Dialect 5 reverses texts, too.
      if (dialect === 5 && code === '(reverse "a")') continue;
      const { kind } = transaction.faultOf(code);
      expect({ type, code, kind }).toEqual({ type, code, kind: expect.stringMatching(/^(args|eval)$/) });
    }
  });
});
