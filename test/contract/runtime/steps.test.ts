/** The steps that code takes grow with the lists, the objects, the texts and the numbers that it works on. */

import { describe, expect, it, vi } from 'vitest';
import { TreeEvaluator } from '#pickaxe/contract/evaluator/evaluator.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { dialogue } from '../dialogue.ts';

/** The code with literals of this size. Each item of a literal takes one step, and a text or a number none. */
function ofSize(code: string, size: number): string {
  const items = Array.from({ length: size }, (_, at) => at);
  const literals = {
    LIST: `[${items.map(() => '1').join(' ')}]`,
    KEYS: `["a" ${items.map((at) => `"k${at}"`).join(' ')}]`,
    TEXT: `"${'a'.repeat(size)}"`,
    OBJECT: `{${items.map((at) => `"k${at}": 1`).join(', ')}}`,
    NUMBER: `1${'0'.repeat(size)}`,
    SIZE: `${size}`,
  };
  return code.replaceAll(/[A-Z]{4,}/g, (name) => literals[name as keyof typeof literals] ?? name);
}

function stepsOf(dialect: 4 | 5, before: readonly string[], code: string, size: number): number {
  const { say } = dialogue(dialect, ...before.map((each) => ofSize(each, size)));
  const spend = vi.spyOn(TreeEvaluator.prototype, 'spend');
  try {
    say(ofSize(code, size));
    return spend.mock.calls.reduce((sum, [steps]) => sum + steps, 0);
  } finally {
    spend.mockRestore();
  }
}

const MODULE = `(module m G (defcap G () true) (defschema s v) (deftable t:{s})
  (defcap E (x) @event true) (defun e (x) (emit-event (E x))) (defun f (x:[integer]) 1)
  (defschema pair a:[integer]) (defun o (x:object{pair}) 1) (defun yes (x) true) (defun g (x) (create-user-guard (yes x)))
  (defpact p (x) (step (yield {"x": x})) (step 1)))`;
const TABLE = '(create-table m.t)';
/** Rows whose keys are sorted already, so that sorting them compares each key once. */
const ROWS = '(map (lambda (i) (insert m.t (format "{}" [(+ 1000 i)]) {"v": i})) (enumerate 1 SIZE))';
const ROW = '(write m.t "a" {"v": LIST})';
const DATA = '(env-data {"o": OBJECT, "l": LIST, "k": KEYS})';

const GAS = ['(env-gaslimit 100000000)', '(env-gasmodel "table")'];

it.each<[code: string, perItem: number, before?: string[], in5?: number]>([
  ['LIST', 1],
  ['TEXT', 0],
  ['OBJECT', 1],
  ['(take ["k1"] OBJECT)', 2],
  ['(take KEYS {"a": 1})', 2],
  ['(drop ["k1"] OBJECT)', 2],
  ['(remove "k1" OBJECT)', 2],
  ['(distinct LIST)', 2],
  ['(concat [TEXT])', 1],
  ['(concat KEYS)', 5],
  ['(format TEXT [])', 1],
  ['(format "{}" [TEXT])', 1],
  ['(str-to-list TEXT)', 1],
  ['(base64-encode TEXT)', 4 / 3],
  ['(is-charset 0 TEXT)', 1 / 64],
  ['(hash TEXT)', 1],
  ['(hash LIST)', 11],
  ['(hash OBJECT)', 18],
  ['(+ TEXT TEXT)', 2],
  ['(+ LIST LIST)', 4],
  ['(+ OBJECT OBJECT)', 4],
  ['(= LIST LIST)', 3],
  ['(= OBJECT OBJECT)', 3],
  ['(= TEXT TEXT)', 1 / 64],
  ['(< TEXT TEXT)', 1 / 64],
  ['(format-time TEXT (time "2020-01-01T00:00:00Z"))', 4],
  ['(+ NUMBER NUMBER)', 0.75],
  ['(int-to-str 10 NUMBER)', 1],
  ['(read-msg "o")', 16, [DATA]],
  ['(read-msg "l")', 16, [DATA]],
  ['(read-keyset "k")', 8, [DATA]],
  ['(try 1 (enforce-keyset (read-keyset "k")))', 9, [DATA]],
  ['(m.f LIST)', 2, [MODULE]],
  ['(m.o {"a": LIST})', 2, [MODULE]],
  ['(m.e LIST)', 2, [MODULE]],
  ['(m.p LIST)', 3, [MODULE]],
  [ROW, 2, [MODULE, TABLE]],
  ['(read m.t "a")', 0, [MODULE, TABLE, ROW]],
  ['(length (keys m.t))', 2, [MODULE, TABLE, ROWS]],
  ['(length (select m.t (constantly true)))', 4, [MODULE, TABLE, ROWS], 3],
  ['(length (fold-db m.t (lambda (k r) true) (lambda (k r) k)))', 5, [MODULE, TABLE, ROWS]],
  ['(read-msg "n")', 0.25, ['(env-data {"n": NUMBER})']],
  ['(read-integer "n")', 0.25, ['(env-data {"n": NUMBER})']],
  ['(read-msg "n")', 0.25, ['(env-data {"n": [NUMBER]})']],
  ['(read-msg "n")', 0.25, ['(env-data {"n": {"a": NUMBER}})']],
  ['(shift 1 SIZE)', 1 / 16],
  ['(abs NUMBER)', 0.25],
  ['(minutes NUMBER)', 0.25],
  ['(parse-time TEXT TEXT)', 224],
  ['(contains TEXT TEXT)', 1 / 8],
  ['(format "{}" [[TEXT]])', 1],
  ['(format "{}" [LIST])', 4],
  ['(format "{}" [OBJECT])', 11],
  // The gas of a table model counts the parts of the values, too.
  ['(format "{}" [[TEXT]])', 1 + 1 / 64, GAS, 3],
  ['(format "{}" [LIST])', 5, GAS, 8],
  ['(format "{}" [LIST])', 7, ['(env-exec-config ["DisablePact48"])', ...GAS], 8],
  ['(hash-keccak256 (make-list SIZE "YQ"))', 4],
  ['(create-principal (read-keyset "k"))', 9, [DATA]],
  ['(create-principal (m.g LIST))', 3, [MODULE]],
  ['(m.g LIST)', 2, [MODULE]],
  ['(print TEXT)', 1],
  ['(print LIST)', 3],
  ['(expect "d" LIST LIST)', 3],
  ['(expect "d" 1 TEXT)', 1],
  ['(mock-spv "a" OBJECT {})', 1],
])('%s takes %d steps for each item, after %j', (code, perItem, before = [], in5 = perItem) => {
  for (const dialect of [4, 5] as const) {
    const [few, many] = [128, 768].map((size) => stepsOf(dialect, before, code, size));
    expect((many - few) / 640).toBeCloseTo(dialect === 4 ? perItem : in5, 2);
  }
});

describe('a program that somebody looks at', () => {
  const LOOK_STEPS = 2 ** 14;
  const looking = (maxSteps: number, stepsAdvice?: string) => {
    const look = vi.fn();
    return { look, evaluator: new TreeEvaluator({ dialect: 4, natives: NATIVES, maxSteps, stepsAdvice, look }) };
  };

  it('is looked at once in so many steps, which begin again with the steps', () => {
    const { look, evaluator } = looking(10 * LOOK_STEPS);
    const looksAfter = (steps: number) => {
      evaluator.spend(steps);
      return look.mock.calls.length;
    };
    expect([looksAfter(LOOK_STEPS), looksAfter(1), looksAfter(LOOK_STEPS), looksAfter(1)]).toEqual([0, 1, 1, 2]);
    evaluator.resetSteps();
    expect([looksAfter(LOOK_STEPS), looksAfter(1)]).toEqual([2, 3]);
  });

  it('may take as many steps as any other, and is not looked at when it takes more', () => {
    const { look, evaluator } = looking(LOOK_STEPS + 5, 'there is an option');
    evaluator.spend(LOOK_STEPS + 1);
    evaluator.spend(4);
    expect(look).toHaveBeenCalledTimes(1);
    expect(() => evaluator.spend(1)).toThrow(`Code takes more than ${LOOK_STEPS + 5} steps: there is an option`);
    expect(look).toHaveBeenCalledTimes(1);
    evaluator.resetSteps();
    evaluator.spend(LOOK_STEPS + 5);
    expect(() => looking(3).evaluator.spend(4)).toThrow(/^Code takes more than 3 steps$/);
  });
});
