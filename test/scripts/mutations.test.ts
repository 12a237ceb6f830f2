/** Tests the faults that `scripts/mutations.mjs` puts into code: which places it finds, and what the code then does. */

import { afterEach, expect, it } from 'vitest';
import { findPlaces, putIn } from '../../scripts/mutations/places.mjs';

const state = globalThis as { fault?: (id: number) => boolean };
afterEach(() => {
  delete state.fault;
});

type Faulty = [rule: string, value: unknown][];

/** @returns the result of a function without a fault, and with each of those that can be put into it */
function resultsOf(code: string, given: unknown[]): { own: unknown; faulty: Faulty } {
  const places = findPlaces(code);
  const made = putIn(
    code,
    places.map((place: object, id: number) => ({ ...place, id })),
  );
  const resultWith = (active?: number) => {
    state.fault = (id) => id === active;
    // biome-ignore lint/security/noGlobalEval: the code is made here
    return globalThis.eval(made)(...structuredClone(given));
  };
  return { own: resultWith(), faulty: places.map(({ rule }: { rule: string }, id: number) => [rule, resultWith(id)]) };
}

it.each<[code: string, given: unknown[], own: unknown, faulty: Faulty]>([
  ['(a, b) => a < b', [1, 1], false, [['< → <=', true]]],
  ['(a, b) => a === b', [1, 1], true, [['=== → !==', false]]],
  [
    '(a, b, c) => a * b - c',
    [2, 3, 4],
    2,
    [
      ['- → +', 10],
      ['* → /', 2 / 3 - 4],
    ],
  ],
  ['(a) => a + ""', [1], '1', []],
  // Every object has a `toString`, also one whose members are rules.
  ['(a) => a.toString()', ['1'], '1', []],
  ['(a) => !a', [true], false, [['! dropped', true]]],
  [
    '(a, b) => a && b',
    [1, 0],
    0,
    [
      ['left of && alone', 1],
      ['right of && alone', 0],
      ['&& → ||', 1],
    ],
  ],
  [
    '(a, b) => a ?? b',
    [undefined, 2],
    2,
    [
      ['left of ?? alone', undefined],
      ['right of ?? alone', 2],
    ],
  ],
  [
    '(a, b, c) => (a ? b : c)',
    [true, 1, 2],
    1,
    [
      ['first of ?: alone', 1],
      ['second of ?: alone', 2],
    ],
  ],
  ['(a) => a.every(Boolean)', [[1, 0]], false, [['every → some', true]]],
  ['(a, b) => Math.max(a, b)', [1, 2], 2, [['max → min', 1]]],
  ['(a) => a.filter(Boolean).length', [[1, 0]], 1, [['filter dropped', 2]]],
  ['(a) => a?.b.filter(Boolean).length', [undefined], undefined, []],
  [
    '(a) => a + 7',
    [1],
    8,
    [
      ['+ → -', -6],
      ['number + 1', 9],
    ],
  ],
  [
    '(a) => a * 7n',
    [1n],
    7n,
    [
      ['* → /', 0n],
      ['number + 1', 8n],
    ],
  ],
  ['() => true', [], true, [['answer turned', false]]],
  [
    '(a) => { if (a) return 1; return 2; }',
    [true],
    1,
    [
      ['guard dropped', 2],
      ['number + 1', 2],
      ['number + 1', 1],
    ],
  ],
  [
    '(a) => { if (a) { a = "x"; } else { a = "y"; } return a; }',
    [true],
    'x',
    [
      ['condition false', 'y'],
      ['condition true', 'x'],
      ['assignment dropped', true],
      ['assignment dropped', 'x'],
    ],
  ],
  ['(a) => { a.push("x"); return a; }', [[]], ['x'], [['statement dropped', []]]],
  [
    '(a) => { if (!a.length) a.push("x"); else a.pop(); return a; }',
    [[]],
    ['x'],
    [
      ['condition false', []],
      ['condition true', ['x']],
      ['! dropped', []],
      ['statement dropped', []],
      ['statement dropped', ['x']],
    ],
  ],
  [
    '(a) => { if (!a.length) a.push("x"); else a.pop(); return a; }',
    [['y']],
    [],
    [
      ['condition false', []],
      ['condition true', ['y', 'x']],
      ['! dropped', ['y', 'x']],
      ['statement dropped', []],
      ['statement dropped', ['y']],
    ],
  ],
])('puts faults into %s', (code, given, own, faulty) => {
  expect(resultsOf(code, given)).toEqual({ own, faulty: expect.toSatisfy((all) => sorted(all) === sorted(faulty)) });
});

const sorted = (faulty: Faulty) => JSON.stringify(faulty.map(([rule, value]) => `${rule}: ${value}`).sort());

it('leaves code alone in which no fault is put', () => {
  const code = 'import { a } from "./a.js";\nexport const b = a && !a ? 1 : 2;\n';
  expect(putIn(code, [])).toBe(code);
  expect(
    putIn(
      'é && "😀" && a',
      findPlaces('é && "😀" && a')
        .slice(-1)
        .map((place: object) => ({ ...place, id: 0 })),
    ),
  ).toContain('"😀"');
});
