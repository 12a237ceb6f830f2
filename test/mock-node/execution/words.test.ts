/** The messages and the forms of failures: those of nodes before the contract language's last version, and since. */

import { describe, expect, it } from 'vitest';
import { getBalance } from '#pickaxe/protocol/ledger/command/coin.js';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import { at } from '../ask.ts';
import { ALICE, alice, arrival, BOB, banksOf, bob, coins, commandOf, read, toBob } from './bank.ts';

const startBank = banksOf('chainweb');

const A = ALICE.publicKey;
const B = BOB.publicKey;
const LONG_ID = 'A'.repeat(43);
const GAS_LIMIT = 1_000;

/** An account that needs two keys, and the account of a gas station. */
const ACCOUNTS = [
  { account: alice, balance: '100.0' },
  { account: bob, balance: '1.0', chains: [0] },
  { account: 'both', balance: '5.0', keys: [B, A] },
];

const transferOf = (sender: string, amount: string) => ({
  exec: { code: `(coin.transfer "${sender}" "${bob}" (read-decimal "n"))`, data: { n: amount } },
});
const allowed = (sender: string, amount: string) => ({
  name: 'coin.TRANSFER',
  args: [sender, bob, { decimal: amount }],
});

const FAILURES: readonly [string, { command: () => Command; 4: [string, string]; 5: [string, string] }][] = [
  [
    'an account that does not exist',
    {
      command: () => commandOf(0, read(getBalance('coin', `k:${'5'.repeat(64)}`)), { signers: [] }),
      4: ['TxFailure', `with-read: row not found: k:${'5'.repeat(64)}`],
      5: ['TxFailure', 'No value found in table coin_coin-table for key: k:55555555...'],
    },
  ],
  [
    'a name of ten characters',
    {
      command: () => commandOf(0, read(getBalance('coin', 'abcdefghij')), { signers: [] }),
      4: ['TxFailure', 'with-read: row not found: abcdefghij'],
      5: ['TxFailure', 'No value found in table coin_coin-table for key: abcdefghij'],
    },
  ],
  [
    'a name of eleven characters',
    {
      command: () => commandOf(0, read(getBalance('coin', 'abcdefghijk')), { signers: [] }),
      4: ['TxFailure', 'with-read: row not found: abcdefghijk'],
      5: ['TxFailure', 'No value found in table coin_coin-table for key: abcdefghij...'],
    },
  ],
  [
    'a keyset of which one key has not signed',
    {
      command: () => commandOf(0, { message: transferOf('both', '1.0'), capabilities: [allowed('both', '1.0')] }),
      4: [
        'TxFailure',
        `Keyset failure (keys-all): [${[A, B]
          .sort()
          .map((key) => `${key.slice(0, 8)}...`)
          .join(', ')}]`,
      ],
      5: [
        'TxFailure',
        `Keyset failure ( keys-all ):  ${[A, B]
          .sort()
          .map((key) => `${key.slice(0, 10)}...`)
          .join(', ')}`,
      ],
    },
  ],
  [
    'a capability that nobody has signed',
    {
      command: () => commandOf(0, { message: transferOf(alice, '1.5'), capabilities: [] }),
      4: ['EvalError', `Managed capability not installed: (coin.TRANSFER "${alice}" "${bob}" 1.5)`],
      5: [
        'EvalError',
        'Managed capability coin.TRANSFER was not installed. Check the sigs field or the arguments to verify that the capability is specified correctly.',
      ],
    },
  ],
  [
    'a proof that is none',
    {
      command: () => commandOf(0, arrival(LONG_ID, 'AAAA')),
      4: ['ContinuationError', 'unable to decode continuation proof'],
      5: ['EvalError', 'Continuation error: verifyCont: Cannot decode transaction output proof'],
    },
  ],
  [
    'a defpact that has not begun, with an id of more than twenty characters',
    {
      command: () => commandOf(0, read({ cont: { pactId: LONG_ID, step: 1, rollback: false, data: {}, proof: null } })),
      4: ['EvalError', `resumePact: no previous execution found for: ${LONG_ID}`],
      5: ['EvalError', `No previous defpact execution found for defpact id:  ${LONG_ID.slice(0, 20)}...`],
    },
  ],
  [
    'too much gas',
    {
      command: () => commandOf(0, toBob('1.0'), { meta: { gasLimit: 160 } }),
      // Before the last version, the size of a command cost gas also in a trial.
      4: ['GasError', 'Gas limit (160) exceeded: 161'],
      5: ['EvalError', 'Gas limit "160"exceeded: 161'],
    },
  ],
  [
    'more coins than there are',
    {
      command: () => commandOf(0, toBob('101.0')),
      4: ['TxFailure', 'Insufficient funds'],
      5: ['TxFailure', 'Insufficient funds'],
    },
  ],
  [
    'an amount that was not allowed',
    {
      command: () => commandOf(0, { message: transferOf(alice, '2.0'), capabilities: [allowed(alice, '1.25')] }),
      4: ['TxFailure', 'TRANSFER exceeded for balance 1.25'],
      5: ['TxFailure', 'TRANSFER exceeded for balance 1.25'],
    },
  ],
];

describe.each([4, 5] as const)('in dialect %i', (contractDialect) => {
  it.each(FAILURES)('%s', async (_, { command, [contractDialect]: [type, message] }) => {
    const { local } = await startBank({ contractDialect, accounts: ACCOUNTS });
    const { json } = await local(0, command());
    expect(at(json, 'result', 'status')).toBe('failure');
    expect([at(json, 'result', 'error', 'type'), at(json, 'result', 'error', 'message')]).toEqual([type, message]);
  });

  it('a failure that was not tried out says on no block, and that all gas is gone', async () => {
    const { local } = await startBank({ contractDialect });
    const answer = async (command: Command, query: string) => (await local(0, command, query)).plain as object;
    const missing = commandOf(0, read(getBalance('coin', 'nobody')), { signers: [] });
    expect(await answer(missing, '')).toMatchObject({
      gas: GAS_LIMIT,
      metaData: null,
      txId: null,
      logs: contractDialect === 4 ? expect.stringMatching(/^[\w-]{43}$/) : null,
      events: [],
      continuation: null,
    });
    const known = commandOf(0, read(getBalance('coin', alice)), { signers: [] });
    const logs = expect.stringMatching(/^[\w-]{43}$/);
    expect(await answer(known, '')).toMatchObject({
      gas: contractDialect === 4 ? 21 : 15,
      logs,
      metaData: { blockHeight: 5_000_001 },
    });
    // A preflight runs in a block.
    const poor = commandOf(0, toBob('101.0'));
    expect(await answer(poor, '?preflight=true')).toMatchObject({
      preflightResult: { gas: GAS_LIMIT, logs, metaData: { blockHeight: 5_000_001 }, result: { status: 'failure' } },
    });
  });

  it('a failure in a block has no number, and costs all gas', async () => {
    const { run } = await startBank({ contractDialect });
    const { reqKey, txId, gas, result } = await run(0, commandOf(0, toBob('101.0')));
    expect([txId, gas, result.status]).toEqual([null, GAS_LIMIT, 'failure']);
    expect((await run(0, commandOf(0, toBob('1.0')))).txId).toEqual(expect.any(Number));
    expect(reqKey).toHaveLength(43);
  });

  it('who cannot pay for what is tried out', async () => {
    const { local } = await startBank({ contractDialect });
    const command = commandOf(0, toBob('1.0'), { meta: { gasPrice: coins('1.0') } });
    const { status, text, plain } = await local(0, command, '?preflight=true');
    if (contractDialect === 4) {
      const contents = `["${command.hash}",{"callStack":[],"type":"TxFailure","message":"Insufficient funds","info":""}]`;
      expect([status, text]).toEqual([400, `Execution failed: {"tag":"BuyGasFailure","contents":${contents}}`]);
      return;
    }
    const error = { type: 'EvalError', message: `"${command.hash}" Failed to buy gas: Insufficient funds` };
    const preflightResult = { gas: GAS_LIMIT, metaData: null, logs: null, result: { status: 'failure', error } };
    expect([status, plain]).toMatchObject([200, { preflightResult, preflightWarnings: [] }]);
  });

  it('who cannot pay for what is sent', async () => {
    const { send } = await startBank({ contractDialect });
    const command = commandOf(0, toBob('1.0'), { meta: { gasPrice: coins('1.0') } });
    const { text } = await send(0, command);
    const why =
      contractDialect === 4 ? 'Insufficient funds' : `"${command.hash}" Failed to buy gas: Insufficient funds`;
    expect(text).toMatch(new RegExp(`Attempt to buy gas failed with: ${why}$`));
  });

  it('a badlisted command', async () => {
    const { node, post } = await startBank({ contractDialect });
    const { hash } = commandOf(0, toBob('1.0'));
    node.commands.badlist(hash);
    const { json } = await post(0, 'api/v1/poll', { requestKeys: [hash] });
    expect([at(json, hash, 'result', 'error', 'type'), at(json, hash, 'metaData'), at(json, hash, 'gas')]).toEqual([
      'TxFailure',
      null,
      '0',
    ]);
  });
});

it('new messages have 256 characters at most', async () => {
  const keys = Array.from({ length: 16 }, (_, i) => i.toString(16).repeat(64));
  const { local } = await startBank({ accounts: [...ACCOUNTS, { account: 'many', balance: '5.0', keys }] });
  const command = commandOf(0, { message: transferOf('many', '1.0'), capabilities: [allowed('many', '1.0')] });
  const message = String(at((await local(0, command)).json, 'result', 'error', 'message'));
  expect(message).toHaveLength(256);
  expect(message).toMatch(/^Keyset failure \( keys-all \): {2}0000000000\.\.\., 1111111111\.\.\., /);
  const poor = commandOf(0, { message: transferOf('many', '1.0'), capabilities: [] }, { meta: { sender: 'many' } });
  const { json } = await local(0, poor, '?preflight=true');
  expect(at(json, 'preflightResult', 'result', 'error', 'message')).toHaveLength(256);
});
