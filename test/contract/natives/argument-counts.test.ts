/** Every native, called with one argument less than it takes, with one more, and without its binding. */

import { describe, expect, it } from 'vitest';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { ARGUMENTS, has, transactionWithModule } from './native-arguments.ts';

/** The calls of a native: the shortest and the longest one, and calls that it refuses. */
interface Calls {
  readonly name: string;
  readonly right: readonly string[];
  readonly wrong: readonly string[];
  /** A call with a binding, of a native that takes none. */
  readonly bound: string | undefined;
}

function callsOf(name: string, all: readonly string[]): Calls {
  const takesMore = all.includes('…');
  const binding = all.filter((arg) => arg.includes(':='));
  const args = all.filter((arg) => arg !== '…' && !binding.includes(arg));
  const needed = args.filter((arg) => !arg.endsWith('?'));
  const most = args.map((arg) => arg.replace('?', ''));
  const call = (...given: readonly string[]) => `(${[name, ...given].join(' ')})`;
  return {
    name,
    right: [call(...needed, ...binding), call(...most, ...binding)],
    wrong: [
      ...(needed.length > 0 ? [call(...needed.slice(0, -1), ...binding)] : []),
      ...(takesMore ? [] : [call(...most, '1', ...binding)]),
      ...(binding.length > 0 ? [call(...most)] : []),
    ],
    bound: binding.length > 0 ? undefined : call(...most, '{ "v" := v } v'),
  };
}

const CALLS = ARGUMENTS.flatMap(([names, ...args]) => names.split(' ').map((name) => callsOf(name, args)));

it('every native is in the table, once', () => {
  expect(CALLS.map(({ name }) => name).toSorted()).toEqual([...NATIVES.keys()].toSorted());
});

describe.each([4, 5] as const)(
  'in dialect %i, a call with too few or too many arguments is refused as such:',
  (dialect) => {
    const transaction = transactionWithModule(dialect);
    const message = (name: string) => (dialect === 4 ? 'Invalid arguments, received [' : `native function ${name} `);

    it.each(CALLS.filter(({ name }) => has(dialect, name)))('$name', (calls) => {
      for (const code of calls.wrong) {
        const { kind, message: text } = transaction.faultOf(code);
        expect({ code, kind, text }).toEqual({
          code,
          kind: 'args',
          text: expect.stringContaining(message(calls.name)),
        });
      }
      for (const code of calls.right)
        expect({ code, text: outcome(code) }).toEqual({ code, text: expect.not.stringContaining(message(calls.name)) });
    });

    it.each(CALLS.filter(({ name, bound }) => bound !== undefined && has(dialect, name)))(
      '$name with a binding',
      ({ name, bound }) => {
        const counts = `Incorrect number of arguments (1) for native function ${name} `;
        const types = `Type error: failed to call native function ${name} `;
        const { kind, message: text } = transaction.faultOf(bound!);
        expect(kind).toBe('args');
        expect(
          [message(name), types, counts].some((words) => text.includes(words)),
          text,
        ).toBe(true);
      },
    );

    /** @returns what the call gives, or the message with which it fails */
    function outcome(code: string): string {
      try {
        return transaction.run(code);
      } catch (fault) {
        return (fault as Error).message;
      }
    }
  },
);
