/** Defpacts whose module is loaded again before they continue, and steps of single participants. */

import { checkOutcomes, type OutcomeRow } from '../outcomes.ts';

const MODULE = `(module m G (defcap G () true) (defpact p (x) (step x) (step (+ x 1)))
  (defpact private (x) (step "alice" [1 x]) (step-with-rollback "bob" 2 (format "undone {}" [x])) (step 3))
  (defpact first (x) (step-with-rollback "alice" 1 "undone") (step 2)) (defpact named (x) (step 1 2))
  (defpact computed (x) (step (+ "al" "ice") 2)) (defpact nestprivate () (step (private 1)) (step 2) (step 3)))`;

/** `(NEW` stands for the beginning of the module's next version. */
const ROWS: readonly OutcomeRow[] = [
  [['(m.p 1)', '(NEW (defpact p (x) (step x) (step (+ x 10))))', '(continue-pact 1)'], '11'],
  [
    ['(m.p 1)', '(NEW (defun p (x) x))', '(continue-pact 1)'],
    'resumePactExec: defpact required',
    'Expected a defpact for free variable m.p',
  ],
  [
    ['(m.p 1)', '(NEW (defcap p (x) true))', '(continue-pact 1)'],
    'resumePactExec: defpact required',
    'Expected a defpact for free variable m.p',
  ],
  [
    ['(m.p 1)', '(NEW (defconst p 1))', '(continue-pact 1)'],
    'resumePactExec: defpact ref required',
    'Expected a defpact for free variable m.p',
  ],
  [
    ['(m.p 1)', '(NEW (defschema p x))', '(continue-pact 1)'],
    'resumePactExec: defpact ref required',
    'Expected a defpact for free variable m.p',
  ],
  [
    ['(m.p 1)', '(NEW)', '(continue-pact 1)'],
    'resumePactExec: could not resolve continuation ref: m.p',
    'Expected a defpact for free variable m.p',
  ],
  [
    ['(m.p 1)', '(NEW (defpact p (x) (step 1)))', '(continue-pact 1)'],
    'applyPact: step not found: 1',
    'DefPactStep does not match defpact properties: requested: 1 step count:1',
  ],
  ['(m.private 5)', 'applyPact: private step executed against non-private environment', null],
  [['(env-entity "alice")', '(m.private 5)'], '[1 5]', null],
  [['(env-entity "bob")', '(m.private 5)'], '"skip step"', null],
  [
    ['(env-entity "bob")', '(m.private 5)', '(pact-state)'],
    '{"executed": false,"pactId": "abcd","step": 0,"yield": false}',
    null,
  ],
  [['(env-entity "bob")', '(m.private 5)', '(continue-pact 1)'], '2', null],
  [['(env-entity "alice")', '(m.private 5)', '(continue-pact 1)'], '"skip step"', null],
  [['(env-entity "alice")', '(m.private 5)', '(continue-pact 1)', '(continue-pact 2)'], '3', null],
  [['(env-entity "bob")', '(m.private 5)', '(continue-pact 1)', '(continue-pact 1 true)'], '"undone 5"', null],
  [
    ['(env-entity "bob")', '(m.private 5)', '(continue-pact 1)', '(continue-pact 1 true)', '(continue-pact 2)'],
    '3',
    null,
  ],
  [['(env-entity "alice")', '(m.first 5)', '(continue-pact 0 true)'], '"undone"', null],
  [
    ['(env-entity "alice")', '(m.first 5)', '(continue-pact 0 true)', '(continue-pact 1)'],
    'resumePact: pact completed: abcd',
    null,
  ],
  [['(env-entity "alice")', '(m.named 5)'], 'applyPact: step entity must be String value)', null],
  [['(env-entity "alice")', '(m.computed 5)'], '2', null],
  [
    ['(env-entity "alice")', '(m.nestprivate)'],
    'applyNestedPact: nested defpacts do not allow private execution',
    null,
  ],
  [
    '(m.private 5)',
    null,
    'Pact 5 does not support entity expressions in defpact m.private. Please ensure your defpact steps have the correct number of expressions',
  ],
];

checkOutcomes(
  [MODULE, '(env-hash "abcd")'],
  ROWS.map(([inputs, ...outcomes]): OutcomeRow => {
    const written = [inputs].flat().map((code) => code.replace('(NEW', '(module m G (defcap G () true)'));
    return [written, ...outcomes];
  }),
);
