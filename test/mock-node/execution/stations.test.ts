/** Which modules are gas stations: those with the interface, whatever else they implement. */

import { expect, it } from 'vitest';
import type { CommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { jsonInteger } from '#pickaxe/protocol/ledger/json.js';
import { alice, banksOf, coins } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');
const GAS = { name: 'coin.GAS', args: [] };
const ONE = '(namespace "free") (interface one (defun one:integer ()))';
const PAYER = '(implements gas-payer-v1)';
const OTHER = '(implements free.one)';
const LIMIT = 1_000;

const station = (interfaces: string) => `
  (namespace "free")
  (module station GOVERNANCE
    ${interfaces}
    (defcap GOVERNANCE () (enforce false "nobody changes this"))
    (defcap PAYS () true)
    (defcap GAS_PAYER:bool (user:string limit:integer price:decimal) (compose-capability (PAYS)))
    (defun create-gas-payer-guard:guard () (create-capability-guard (PAYS)))
    (defun one:integer () 1)
    (defun open () (coin.create-account "station" (create-gas-payer-guard))))
  (free.station.open)`;

const expectDone = ({ result }: CommandResult) => expect(result).toMatchObject({ status: 'success' });

it.each([
  [4, `${PAYER}`, true],
  [4, `${PAYER} ${OTHER}`, true],
  [4, `${OTHER} ${PAYER}`, true],
  [4, OTHER, false],
  [4, '', false],
  [5, `${OTHER} ${PAYER}`, true],
  [5, OTHER, true],
  [5, '', true],
] as const)('in dialect %i, a module with %s pays: %s', async (contractDialect, interfaces, pays) => {
  const { run, send, balance } = await startBank({ contractDialect });
  expectDone(await run(0, codeOn(0, ONE)));
  expectDone(await run(0, codeOn(0, station(interfaces))));
  const transfer = { name: 'coin.TRANSFER', args: [alice, 'station', { decimal: '1.0' }] };
  expectDone(await run(0, codeOn(0, `(coin.transfer "${alice}" "station" 1.0)`, { clist: [GAS, transfer] })));
  const name = 'free.station.GAS_PAYER';
  const command = codeOn(0, '(+ 1 2)', {
    meta: { sender: 'station', gasLimit: LIMIT },
    clist: [{ name, args: ['', { int: jsonInteger(1) }, { decimal: '1.0' }] }],
  });
  if (!pays) {
    const { status, text } = await send(0, command);
    expect([status, text]).toEqual([400, expect.stringContaining('Attempt to buy gas failed')]);
    expect(await balance(0, 'station')).toBe(coins('1.0'));
    return;
  }
  const done = await run(0, command);
  expectDone(done);
  expect(await balance(0, 'station')).toBe(coins('1.0') - BigInt(done.gas) * coins('0.000001'));
});
