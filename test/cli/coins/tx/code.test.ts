/** `pickaxe tx local --code`, on the mock node. */

import { expect, it } from 'vitest';
import { banksOf } from '../../../mock-node/execution/bank.ts';
import { pickaxe } from '../../in-process.ts';

const startBank = banksOf('chainweb');

it.each<[code: string, exit: number, shown: RegExp, more?: readonly string[]]>([
  ['(+ 1 2)', 0, /^result +success\ndata +\{"int":3\}\ngas +1 units$/m],
  ["(+ (read-integer 'a) 2)", 0, /^data +\{"int":7\}$/m, ['--data', '{"a":5}']],
  ['(at "chain-id" (chain-data))', 0, /^data +"2"$/m, ['--chain', '2']],
  ['(at "block-height" (chain-data))', 0, /"data":\{"int":11\}/, ['--json']],
  ['(at "block-height" (chain-data))', 0, /^data +\{"int":10\}$/m, ['--rewind-depth', '1']],
  ['(nope)', 1, /^result +failure: Unbound variable nope$/m],
])('%s', async (code, exit, shown, more = []) => {
  const { url, grow } = await startBank({ chains: 4, firstHeight: 9 });
  grow(1);
  const chain = more.includes('--chain') ? [] : ['--chain', '0'];
  const ended = await pickaxe('tx', 'local', '--code', code, ...chain, '--node', url, ...more);
  expect(ended).toEqual({ code: exit, stdout: expect.stringMatching(shown), stderr: '' });
});

it.each([
  [[], 'Give the file of a command, or code with --code.'],
  [['(+ 1\n2)'], "This is code, not a file: pickaxe tx local --code '(+ 1 2)'"],
  [['a.json', '--code', '1'], 'Give either the file of a command or --code.'],
  [['a.json', '--data', '{}'], '--data goes with --code: the command of a file has its own.'],
  [['--code', '1', '--preflight', '--chain', '0'], '--preflight needs somebody who pays'],
  [['--code', '1'], 'Code does not name its chain: add --chain N.'],
  [['--code', '1', '--chain', '0', '--data', '{'], '--data is not valid JSON: '],
])('%j is wrong usage', async (args, says) => {
  const { code, stderr } = await pickaxe(
    'tx',
    'local',
    ...args,
    '--node',
    'http://127.0.0.1:9/chainweb/0.0/development',
  );
  expect([code, stderr]).toEqual([2, expect.stringContaining(`error: ${says}`)]);
});
