/** Steps of defpacts that run in order, out of order, backwards, on other chains and inside of each other. */

import { hashText } from '#pickaxe/contract/values/hash.js';
import { hashOf5 } from '../hashes.ts';
import { checkOutcomes } from '../outcomes.ts';

const MODULE = `(module m G (defcap G () true) (defcap C () true) (defun f () 1) (defun guard () (create-pact-guard "g"))
  (defun cguard () (create-capability-pact-guard (C)))
  (defpact p (x) (step (yield {"x": x})) (step (resume {"x" := y} (yield {"x": (+ y 1)}))) (step (resume {"x" := y} y)))
  (defpact roll (x) (step-with-rollback "one" "undone") (step-with-rollback "two" (format "back {}" [x])) (step "three"))
  (defpact noyield () (step 1) (step (resume {"x" := y} y))) (defpact ids () (step (pact-id)) (step (pact-id)))
  (defpact cross () (step (yield {"x": 1} "7")) (step (resume {"x" := y} y)))
  (defpact rollcross () (step-with-rollback (yield {"x": 1} "7") 1) (step 2))
  (defpact inner (n) (step (yield {"n": n})) (step (resume {"n" := m} m)))
  (defpact outer (n) (step (inner n)) (step (continue (inner n))))
  (defpact outer5 (n) (step (inner n)) (step (inner n))) (defpact longer () (step (inner 1)) (step 2) (step 3))
  (defpact late () (step 1) (step (inner 1))) (defpact forgets () (step (inner 1)) (step 2))
  (defpact again () (step (inner 1)) (step [(continue (inner 1)) (continue (inner 1))]))
  (defpact other () (step 1) (step (continue (inner 1)))) (defpact notpact () (step 1) (step (continue (f))))
  (defpact guards () (step (guard)) (step (enforce-guard (guard))))
  (defpact fails () (step 1) (step (enforce false "no"))) (defpact innerroll () (step-with-rollback 1 2) (step 3))
  (defpact mixed () (step (innerroll)) (step 2))
  (defpact both () (step-with-rollback (innerroll) (continue (innerroll))) (step (continue (innerroll)))))`;
const HASH = hashText(MODULE);
const HASH5 = hashOf5(MODULE);

checkOutcomes(
  [MODULE, '(env-hash "abcd")'],
  [
    ['(m.p 1)', '{"x": 1}'],
    [['(m.p 1)', '(continue-pact 1)'], '{"x": 2}'],
    [['(m.p 1)', '(continue-pact 1)', '(continue-pact 2)'], '2'],
    [
      ['(m.p 1)', '(continue-pact 1)', '(continue-pact 2)', '(continue-pact 2)'],
      'resumePact: pact completed: abcd',
      'Requested defpact already completed:  defpact id:abcd',
    ],
    [
      ['(m.p 1)', '(continue-pact 2)'],
      'resumePactExec: exec step mismatch with context: (2, 0)',
      'Step mismatch in DefPactStep and defpact execution environment: defpact id: abcd step: 2 DefPactExec step: 1',
    ],
    [
      ['(m.p 1)', '(continue-pact 0)'],
      'resumePactExec: exec step mismatch with context: (0, 0)',
      'Step mismatch in DefPactStep and defpact execution environment: defpact id: abcd step: 0 DefPactExec step: 1',
    ],
    [
      ['(m.p 1)', '(continue-pact 3)'],
      'resumePactExec: invalid step in request: 3',
      'DefPactStep does not match defpact properties: requested: 3 step count:3',
    ],
    [
      ['(m.p 1)', '(continue-pact -1)'],
      'resumePactExec: invalid step in request: -1',
      'DefPactStep does not match defpact properties: requested: -1 step count:3',
    ],
    [
      ['(m.p 1)', '(continue-pact 1 true)'],
      'resumePactExec: rollback step mismatch with context: (1, 0)',
      'Rollback mismatch in DefPactStep and defpact execution environment: defpact id: abcd step rollback: True DefPactExec rollback: False',
    ],
    [
      ['(m.p 1)', '(continue-pact 0 true)'],
      'Rollback requested but none in step',
      'Step has no rollback: defpact id: abcd',
    ],
    [['(m.p 1)', '(continue-pact 1 false "abcd" {"x": 5})', '(continue-pact 2)'], '6'],
    [
      ['(m.p 1)', '(continue-pact 1 false "other")'],
      'resumePact: no previous execution found for: other',
      'No previous defpact execution found for defpact id:  other',
    ],
    [
      ['(m.p 1)', '(m.p 1)'],
      'Multiple or nested pact exec found',
      'defpact execution context already in the environment:  defpact id: abcd',
    ],
    [
      ['(m.p 1)', '(pact-state)'],
      '{"executed": true,"pactId": "abcd","step": 0,"yield": {"x": 1}}',
      '{"pactId": "abcd","step": 0,"yield": {"x": 1}}',
    ],
    [['(m.p 1)', '(pact-state true)', '(pact-state)'], 'pact-state: no pact exec in context'],
    [['(m.p 1)', '(pact-state false)', '(at "step" (pact-state))'], '0'],
    [['(m.p 1)', '(continue-pact 1)', '(at "step" (pact-state))'], '1'],
    ['(m.roll 7)', '"one"'],
    [
      ['(m.roll 7)', '(pact-state)'],
      '{"executed": true,"pactId": "abcd","step": 0,"yield": false}',
      '{"pactId": "abcd","step": 0,"yield": false}',
    ],
    [['(m.roll 7)', '(continue-pact 0 true)'], '"undone"'],
    [
      ['(m.roll 7)', '(continue-pact 0 true)', '(continue-pact 1)'],
      'resumePact: pact completed: abcd',
      'Requested defpact already completed:  defpact id:abcd',
    ],
    [['(m.roll 7)', '(continue-pact 1)', '(continue-pact 1 true)'], '"back 7"'],
    [
      ['(m.roll 7)', '(continue-pact 1)', '(continue-pact 0 true)'],
      'resumePactExec: rollback step mismatch with context: (0, 1)',
      'Rollback mismatch in DefPactStep and defpact execution environment: defpact id: abcd step rollback: True DefPactExec rollback: True',
    ],
    [
      ['(m.roll 7)', '(continue-pact 1)', '(continue-pact 1 true)', '(continue-pact 2)'],
      'resumePact: pact completed: abcd',
      'Requested defpact already completed:  defpact id:abcd',
    ],
    [['(m.roll 7)', '(continue-pact 1)', '(continue-pact 2)'], '"three"'],
    [
      ['(m.roll 7)', '(continue-pact 1)', '(continue-pact 2)', '(continue-pact 2 true)'],
      'resumePact: pact completed: abcd',
      'Requested defpact already completed:  defpact id:abcd',
    ],
    [
      ['(m.noyield)', '(continue-pact 1)'],
      'Resume: no yielded value in context',
      'No yield value found from previous pact step. Current step: 1 defpact Id: abcd',
    ],
    ['(m.ids)', '"abcd"'],
    [['(m.ids)', '(continue-pact 1)'], '"abcd"'],
    [
      '(pact-id)',
      'pact-id: not in pact execution',
      'Attempted to fetch defpact data, but currently not within defpact execution',
    ],
    ['(yield {"x": 1})', 'Yield not in defpact context', 'Try to yield a value outside a running defpact execution'],
    ['(resume {"x" := y} y)', 'Resume: no yielded value in context', 'No active defpact execution in the environment'],
    ['(m.cross)', '{"x": 1}'],
    [
      ['(env-chain-data {"chain-id": "3"})', '(m.cross)', '(env-events true)'],
      `[{"module-hash": "${HASH}","name": "pact.X_YIELD","params": ["7" "m.cross" []]}]`,
      `[{"module-hash": "${HASH5}","name": "pact.X_YIELD","params": ["7" "m.cross" []]}]`,
    ],
    [
      ['(env-chain-data {"chain-id": "3"})', '(m.cross)', '(continue-pact 1)'],
      `enforceYield: yield provenance (chain = "7" hash="${HASH}") does not match [(chain = "3" hash="${HASH}")]`,
      `Yield provenance does not match, received (Provenance 7 ${HASH5}), expected [(Provenance 3 ${HASH5})]`,
    ],
    [
      ['(env-chain-data {"chain-id": "3"})', '(m.cross)', '(env-chain-data {"chain-id": "7"})', '(continue-pact 1)'],
      '1',
    ],
    [
      [
        '(env-chain-data {"chain-id": "3"})',
        '(m.cross)',
        '(env-chain-data {"chain-id": "7"})',
        '(continue-pact 1)',
        '(map (at "name") (env-events true))',
      ],
      '["pact.X_YIELD" "pact.X_RESUME"]',
    ],
    [
      ['(env-exec-config ["DisablePact40"])', '(env-chain-data {"chain-id": "3"})', '(m.cross)', '(env-events true)'],
      '[]',
      null,
    ],
    [
      [
        '(env-exec-config ["DisablePact40"])',
        '(env-chain-data {"chain-id": "3"})',
        '(m.cross)',
        '(env-chain-data {"chain-id": "7"})',
        '(continue-pact 1)',
      ],
      '1',
      null,
    ],
    [
      ['(env-exec-config ["DisablePact40"])', '(env-chain-data {"chain-id": "3"})', '(m.cross)', '(continue-pact 1)'],
      `enforceYield: yield provenance (chain = "3" hash="${HASH}") does not match (chain = "7" hash="${HASH}")`,
      null,
    ],
    [
      '(m.rollcross)',
      'Cross-chain yield not allowed in step with rollback',
      'Program encountered an unhandled raised error: Cross-chain yield not allowed in step with rollback',
    ],
    ['(m.outer 3)', '{"n": 3}'],
    [['(m.outer 3)', '(continue-pact 1)'], '3', null],
    [['(m.outer5 3)', '(continue-pact 1)'], null, '3'],
    [
      '(m.longer)',
      'applyNestedPact: invalid nested defpact length, must be equal to length of parent',
      'Nested defpact execution failed, parameter mismatch: PactId: abcd step count: 2 Parent step count: 3',
    ],
    [
      ['(m.forgets)', '(continue-pact 1)'],
      'Nested defpacts were not all advanced in prior step for pact: abcd',
      'Nested defpact not advanced abcd',
    ],
    [['(m.again)', '(continue-pact 1)'], 'Nested pact never started at prior step', null],
    [
      ['(m.other)', '(continue-pact 1)'],
      'Attempting to continue a pact that was not nested: (defpact m.inner:* (n:*))',
      null,
    ],
    [['(m.notpact)', '(continue-pact 1)'], 'Attempting to continue a pact that was not nested: (defun m.f:* ())', '1'],
    ['(continue (m.inner 1))', 'Not within pact invocation', null],
    ['(continue (m.f))', null, '1'],
    [
      ['(env-exec-config ["DisablePact43"])', '(m.outer 3)'],
      'initPact: internal error: step already in environment',
      null,
    ],
    ['(continue 1)', 'continue: argument must be a defpact 1', null],
    ['(m.guards)', 'PactGuard {pactId: abcd,name: g}'],
    [['(m.guards)', '(continue-pact 1)'], 'true'],
    [
      ['(m.guards)', '(pact-state true)', '(enforce-guard (m.guard))'],
      'pact-id: not in pact execution',
      'Attempted to fetch defpact data, but currently not within defpact execution',
    ],
    [['(m.fails)', '(continue-pact 1)'], 'no'],
    [['(m.fails)', '(try 0 (continue-pact 1))', '(continue-pact 1)'], 'no'],
    [
      '(m.mixed)',
      'applyNestedPact: invalid nested defpact step, must match parent rollback',
      'Nested defpact execution failed, parameter mismatch: defpact id: abcd Rollback: True Parent rollback:False',
    ],
    ['(m.both)', '1'],
    [['(m.both)', '(continue-pact 0 true)'], '2', null],
    [['(m.both)', '(continue-pact 1)'], '3', null],
  ],
);
