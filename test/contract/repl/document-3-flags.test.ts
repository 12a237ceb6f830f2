/** The flags of a transaction, as the interpreter's specification has them. */

import { describe, expect, it } from 'vitest';
import { outcome } from '../dialogue.ts';
import { says } from './document-3.ts';

says('env-exec-config', {
  'tells the flags': [
    ['(env-exec-config)', '[]'],
    [['(env-exec-config ["DisableFlow44"])', '(env-exec-config)'], '["DisableFlow44"]'],
    [['(env-exec-config ["DisablePact44"])', '(env-exec-config)'], '["DisablePact44"]'],
  ],
  'sets exactly these flags, and lists them': [
    ['(env-exec-config ["DisableFlow44" "AllowReadInLocal"])', '["AllowReadInLocal" "DisableFlow44"]'],
    [['(env-exec-config ["DisablePact44"])', '(env-exec-config ["AllowReadInLocal"])'], '["AllowReadInLocal"]'],
    [
      '(env-exec-config [1])',
      'Invalid arguments, received [[1]] for [flags:[string] -> [string],  -> [string]]',
      'Type error: failed to call native function env-exec-config with argument(s) of type(s): list',
    ],
  ],
  'unsets all flags': [[['(env-exec-config ["DisablePact44"])', '(env-exec-config [])', '(env-exec-config)'], '[]']],
});

const DOCUMENT_FLAGS = `AllowReadInLocal DisableHistoryInTransactionalMode DisableInlineMemCheck DisableModuleInstall
  DisableNewTrans DisableFlow40 DisableFlow410 DisableFlow42 DisableFlow43 DisableFlow431 DisableFlow44 DisableFlow45
  DisableFlow46 DisableFlow47 DisableFlow48 DisableFlow49 DisableFlowEvents DisableRuntimeReturnTypeChecking
  EnforceKeyFormats OldReadOnlyBehavior PreserveModuleIfacesBug PreserveModuleNameBug PreserveNsModuleInstallBug
  PreserveShowDefs`.split(/\s+/);

describe('the flags of env-exec-config', () => {
  it.each(DOCUMENT_FLAGS)('%s', (flag) => {
    for (const dialect of [4, 5] as const) {
      for (const name of [flag, flag.replace('DisableFlow', 'DisablePact')]) {
        const [sets, tells] = [`(env-exec-config ["${name}"])`, '(env-exec-config)'];
        expect(outcome(dialect, [sets])).toEqual({ prints: `["${name}"]` });
        expect(outcome(dialect, [sets, tells])).toEqual({ prints: `["${name}"]` });
        expect(outcome(dialect, [sets, '(env-exec-config [])', tells])).toEqual({ prints: '[]' });
      }
    }
  });

  it.each(['Other', 'RequireKeysetNs'])('are no others, such as %s', (flag) => {
    const { fails } = outcome(4, [`(env-exec-config ["${flag}"])`]) as { fails: string };
    expect(fails).toMatch(/^Invalid flag, allowed: \["AllowReadInLocal","DisableHistoryInTransactionalMode",/);
    expect(fails).not.toContain(flag);
  });

  it('are allowed in the spelling in which they are asked for', () => {
    const fault = (flag: string) => outcome(4, [`(env-exec-config ["${flag}"])`]) as { fails: string };
    expect(fault('DisableFlow39').fails).toContain('"DisableFlow40"');
    expect(fault('DisablePact39').fails).toContain('"DisablePact40"');
  });
});
