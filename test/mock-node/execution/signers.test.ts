/** Signers with capabilities that are none: the node refuses such a command, and answers the next one. */

import { describe, expect, it } from 'vitest';
import type { Capability } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { parseLocalAnswer } from '#pickaxe/protocol/ledger/command/results.js';
import type { ExactJson } from '#pickaxe/protocol/ledger/json.js';
import { banksOf } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');
const GAS: Capability = { name: 'coin.GAS', args: [] };

describe.each([4, 5] as const)('in dialect %i', (contractDialect) => {
  it.each<[what: string, capability: Capability, says: string]>([
    ['a name without a module', { name: 'a', args: [] }, 'Invalid capability name: a'],
    ['an empty name', { name: '', args: [] }, 'Invalid capability name: '],
    ['a name of four parts', { name: 'a.b.c.d', args: [] }, 'Invalid capability name: a.b.c.d'],
  ])('a signature for %s is refused', async (_, capability, says) => {
    const { send, local, run } = await startBank({ contractDialect });
    const command = codeOn(0, '(+ 1 2)', { clist: [GAS, capability] });
    const sent = await send(0, command);
    expect([sent.status, sent.text]).toEqual([400, expect.stringContaining(says)]);
    const tried = parseLocalAnswer((await local(0, command)).json).outcome;
    expect(tried).toMatchObject({ status: 'failure', error: { message: says } });
    expect((await run(0, codeOn(0, '(+ 1 2)', { clist: [GAS] }))).result.status).toBe('success');
  });

  it.each([null, [null], { a: null }] as ExactJson[])('the argument %j is a value only in dialect 5', async (arg) => {
    const { send, local } = await startBank({ contractDialect });
    const command = codeOn(0, '(+ 1 2)', { clist: [GAS, { name: 'coin.TRANSFER', args: [arg] }] });
    const sent = await send(0, command);
    const says = expect.stringContaining('Invalid argument of the capability coin.TRANSFER');
    if (contractDialect === 4) expect([sent.status, sent.text]).toEqual([400, says]);
    else expect(sent.status).toBe(200);
    const { status } = parseLocalAnswer((await local(0, command)).json).outcome;
    expect(status).toBe(contractDialect === 4 ? 'failure' : 'success');
  });

  it('a command without data has an empty object in dialect 4, and nothing in dialect 5', async () => {
    const { local } = await startBank({ contractDialect });
    const { outcome } = parseLocalAnswer(
      (await local(0, codeOn(0, '(format "{}" [(read-msg)])', { data: null }))).json,
    );
    expect(outcome).toMatchObject({ status: 'success', data: contractDialect === 4 ? '{}' : '()' });
  });
});
