/** The version of the language, the modules that there are, and flags that hide them. */

import { checkOutcomes } from '../outcomes.ts';
import { BEFORE } from './before.ts';

checkOutcomes(BEFORE, [
  ['(enforce-pact-version "4")', 'true'],
  ['(enforce-pact-version "5")', 'Invalid pact version 4.13.2, minimum allowed: 5', 'true'],
  ['(enforce-pact-version "4.13")', 'true'],
  ['(enforce-pact-version "4.13.2")', 'true'],
  ['(enforce-pact-version "4.13.3")', 'Invalid pact version 4.13.2, minimum allowed: 4.13.3', 'true'],
  ['(enforce-pact-version "4.14")', 'Invalid pact version 4.13.2, minimum allowed: 4.14', 'true'],
  ['(enforce-pact-version "4.13.2.9")', 'true'],
  ['(enforce-pact-version "5.4")', 'Invalid pact version 4.13.2, minimum allowed: 5.4', 'true'],
  [
    '(enforce-pact-version "5.4.0")',
    'Invalid pact version 4.13.2, minimum allowed: 5.4.0',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 5.4.0',
  ],
  ['(enforce-pact-version "5.3.9")', 'Invalid pact version 4.13.2, minimum allowed: 5.3.9', 'true'],
  [
    '(enforce-pact-version "5.5")',
    'Invalid pact version 4.13.2, minimum allowed: 5.5',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 5.5',
  ],
  [
    '(enforce-pact-version "6")',
    'Invalid pact version 4.13.2, minimum allowed: 6',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 6',
  ],
  [
    '(enforce-pact-version "3" "4")',
    'true',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 4',
  ],
  [
    '(enforce-pact-version "3" "4.13.2")',
    'true',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 4.13.2',
  ],
  [
    '(enforce-pact-version "3" "4.13.1")',
    'Invalid pact version 4.13.2, maximum allowed: 4.13.1',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 4.13.1',
  ],
  [
    '(enforce-pact-version "3" "4.12")',
    'Invalid pact version 4.13.2, maximum allowed: 4.12',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 4.12',
  ],
  [
    '(enforce-pact-version "3" "5")',
    'true',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 5',
  ],
  ['(enforce-pact-version "3" "5.4")', 'true'],
  ['(enforce-pact-version "3" "5.4.1")', 'true'],
  [
    '(enforce-pact-version "3" "5.3")',
    'true',
    'Enforce pact-version failed: Current Version: 5.4 Minimum Version: 3 Maximum Version: 5.3',
  ],
  [
    '(enforce-pact-version "x")',
    'Invalid version component: (x, x)',
    'Enforce pact-version failed: Could not parse x, expect list of dot-separated integers',
  ],
  [
    '(enforce-pact-version "4x")',
    'true',
    'Enforce pact-version failed: Could not parse 4x, expect list of dot-separated integers',
  ],
  [
    '(enforce-pact-version "4.x")',
    'Invalid version component: (4.x, x)',
    'Enforce pact-version failed: Could not parse 4.x, expect list of dot-separated integers',
  ],
  [
    '(enforce-pact-version "")',
    'Invalid version component: (, )',
    'Enforce pact-version failed: Could not parse , expect list of dot-separated integers',
  ],
  ['(pact-version)', '"4.13.2"', '"5.4"'],
  [['(env-exec-config ["DisablePact431"])', '(pact-version)'], '"4.2.1"', null],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode"])', '(pact-version)'],
    'Operation only permitted in local execution mode',
    null,
  ],
  [['(env-exec-config ["DisableHistoryInTransactionalMode" "DisablePact431"])', '(pact-version)'], '"4.2.1"', null],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode"])', '(describe-module "m")'],
    'Operation only permitted in local execution mode',
    null,
  ],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode" "DisablePact431"])', '(at "name" (describe-module "m"))'],
    '"m"',
    null,
  ],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode"])', '(list-modules)'],
    'Operation only permitted in local execution mode',
    null,
  ],
  [
    ['(env-exec-config ["DisableHistoryInTransactionalMode" "DisablePact411"])', '(list-modules)'],
    '["i" "j" "m"]',
    null,
  ],
  ['(list-modules)', '["i" "j" "m"]'],
  [
    ['(env-exec-config ["DisableModuleInstall"])', '(module u G (defcap G () true))'],
    'Module/interface install not supported',
    null,
  ],
  [
    ['(env-exec-config ["DisableModuleInstall"])', '(interface u (defun x ()))'],
    'Module/interface install not supported',
    null,
  ],
  ['(at "name" (describe-module "m"))', '"m"'],
  ['(at "interfaces" (describe-module "m"))', '["i"]'],
  [
    '(describe-module "a.b.c")',
    'Module not found: a.b.c',
    'native execution failure, describe-module failed with message: invalid module name format',
  ],
  ['(static-redeploy "m")', null, '()'],
  ['(static-redeploy "none")', null, 'Cannot find module: none'],
  [
    '(static-redeploy "a.b.c")',
    null,
    'native execution failure, static-redeploy failed with message: invalid module name format',
  ],
  ['(acquire-module-admin m)', null, '"Module admin for module m acquired"'],
  ['(acquire-module-admin i)', null, 'Interfaces have no governance'],
]);
