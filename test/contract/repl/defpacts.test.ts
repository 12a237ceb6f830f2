/** The interpreter's functions that run steps of defpacts. `vectors.json` has whole dialogues with them. */

import { describe, expect, it } from 'vitest';
import type { Dialect } from '#pickaxe/contract/dialect.js';
import { hashText } from '#pickaxe/contract/values/hash.js';
import { lastOf } from '../dialogue.ts';

const MODULE = `(module m G (defcap G () true)
  (defpact f (n) (step-with-rollback (yield { "n": n }) "undone") (step (resume { "n" := n } [n "resumed"])))
  (defpact private () (step "A" 1) (step 2))
  (defpact clears () (step (pact-state true)) (step 1))
  (defpact clears-first () (step [(pact-state true) (f 1)]) (step 1))
  (defpact over (n) (step (yield { "n": n } "1")) (step (resume { "n" := n } n))))`;

/** @returns what the last input prints, or the message of its failure */
const dialogue = (dialect: Dialect, inputs: readonly string[]) =>
  lastOf(dialect, ['(env-enable-repl-natives true)', MODULE, '(env-hash (hash "a"))', ...inputs]);

const ID = hashText('a');

describe('continue-pact', () => {
  it.each<[Dialect, string[], string]>([
    [4, ['(m.f 1)', '(continue-pact 1)'], '[1 "resumed"]'],
    [4, ['(m.f 1)', '(continue-flow 1)'], '[1 "resumed"]'],
    [5, ['(m.f 1)', '(continue-pact 1 false)'], '[1 "resumed"]'],
    [4, ['(m.f 1)', '(continue-pact 0 true)'], '"undone"'],
    [4, ['(begin-tx)', '(m.f 1)', '(commit-tx)', '(continue-pact 1 false (hash "a"))'], '[1 "resumed"]'],
    [4, ['(m.f 1)', '(continue-pact 1 false (hash "a") { "n": 2 })'], '[2 "resumed"]'],
    [4, ['(m.f 1)', '(pact-state true)', '(continue-pact 1 false (hash "a") { "n": 2 })'], '[2 "resumed"]'],
  ])('in dialect %i: %j', (dialect, inputs, printed) => {
    expect(dialogue(dialect, inputs)).toBe(printed);
  });

  it.each<[Dialect, string[], string]>([
    [4, ['(continue-pact 1)'], 'continue-pact: No pact id supplied and no pact exec in context'],
    [5, ['(continue-pact 1)'], 'No defpact id or execution environment supplied'],
    [
      4,
      ['(continue-pact "a")'],
      'Invalid arguments, received ["a"] for [step:integer -> string, step:integer rollback:bool -> string, step:integer rollback:bool pact-id:string -> string, step:integer rollback:bool pact-id:string yielded:object:<{y}> -> string]',
    ],
    [
      5,
      ['(continue-pact 1 false "a" 2)'],
      'Type error: failed to call native function continue-pact with argument(s) of type(s): integer, bool, string, integer',
    ],
  ])('fails in dialect %i: %j', (dialect, inputs, message) => {
    expect(dialogue(dialect, inputs)).toBe(message);
  });

  it('keeps the provenance of the last yield with another object, and not the chain that it came from', () => {
    const begun = ['(m.over 1)', '(env-events true)'];
    const other = `(continue-pact 1 false "${ID}" { "n": 2 })`;
    expect(dialogue(4, [...begun, other])).toContain('enforceYield: yield provenance (chain = "1"');
    const moved = [...begun, '(env-chain-data { "chain-id": "1" })'];
    expect(dialogue(4, [...moved, other])).toBe('2');
    expect(dialogue(4, [...moved, other, '(env-events true)'])).toBe('[]');
    expect(dialogue(4, [...moved, '(continue-pact 1)', '(env-events true)'])).toContain('pact.X_RESUME');
  });
});

describe('pact-state', () => {
  it.each<[Dialect, string[], string]>([
    [4, ['(m.f 1)', '(pact-state)'], `{"executed": true,"pactId": "${ID}","step": 0,"yield": {"n": 1}}`],
    [5, ['(m.f 1)', '(pact-state false)'], `{"pactId": "${ID}","step": 0,"yield": {"n": 1}}`],
    [
      4,
      ['(env-entity "B")', '(m.private)', '(pact-state)'],
      `{"executed": false,"pactId": "${ID}","step": 0,"yield": false}`,
    ],
    [4, ['(m.clears)'], 'Internal error, pact exec state not found after execution'],
    [4, ['(m.clears-first)'], 'Nested Pact attempted but no pactExec found for:m.f'],
    [4, ['(m.f 1)', '(pact-state true)', '(pact-state)'], 'pact-state: no pact exec in context'],
    [5, ['(begin-tx)', '(m.f 1)', '(commit-tx)', '(pact-state)'], 'pact-state: no pact exec in context'],
    [4, ['(pact-state 1)'], 'Invalid arguments, received [1] for [ -> object:*, clear:bool -> object:*]'],
  ])('in dialect %i: %j', (dialect, inputs, printed) => {
    expect(dialogue(dialect, inputs)).toBe(printed);
  });
});
