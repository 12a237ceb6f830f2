/** Commands that are refused while they run: afterwards only the gas has been paid, and no guard has changed. */

import { describe, expect, it } from 'vitest';
import type { CoinCall } from '#pickaxe/protocol/ledger/command/coin.js';
import type { Capability, Message, Signer } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { formatDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { parseSpvProof, spvRoot } from '#pickaxe/protocol/ledger/spv-proof.js';
import { ALICE, alice, arrival, BOB, banksOf, bob, coins, commandOf, toChain } from './bank.ts';

const startBank = banksOf('chainweb');

const CAROL = 'carol';
const BOTH = 'both';
const TWO_OF_THREE = 'two of three';
const OTHER_KEY = 'c'.repeat(64);

const ACCOUNTS = [
  { account: alice, balance: '100.0' },
  { account: bob, balance: '1.0' },
  { account: CAROL, balance: '7.0', keys: [BOB.publicKey] },
  { account: BOTH, balance: '20.0', keys: [ALICE.publicKey, BOB.publicKey] },
  { account: TWO_OF_THREE, balance: '20.0', keys: [ALICE.publicKey, BOB.publicKey, OTHER_KEY], pred: 'keys-2' },
];
const NAMES = ACCOUNTS.map(({ account }) => account);

/** Amounts from the data. Nothing compares them with the capabilities before the command is signed. */
const AMOUNTS = ['0.0', '1.0', '2.0', '3.0', '500.0'];
const DATA = {
  ...Object.fromEntries(AMOUNTS.map((decimal) => [decimal, { decimal }])),
  alice: { keys: [ALICE.publicKey], pred: 'keys-all' },
  bob: { keys: [BOB.publicKey], pred: 'keys-all' },
};
const calls = (...texts: string[]): Message => ({ exec: { code: texts.join(''), data: DATA } });
const transfer = (sender: string, receiver: string, amount: string) =>
  `(coin.transfer "${sender}" "${receiver}" (read-decimal "${amount}"))`;
/** Makes an account with Alice's guard. */
const create = (receiver: string) =>
  call(
    calls(`(coin.transfer-create "${alice}" "${receiver}" (read-keyset "alice") (read-decimal "2.0"))`),
    allow(alice, receiver, '2.0'),
  );
const allow = (sender: string, receiver: string, amount: string): Capability => ({
  name: 'coin.TRANSFER',
  args: [sender, receiver, { decimal: amount }],
});
/** The same as a transfer to chain 2. */
const cross = (amount: string) =>
  `(coin.transfer-crosschain "${alice}" "${bob}" (read-keyset "bob") "2" (read-decimal "${amount}"))`;
const allowCross = (amount: string): Capability => ({
  name: 'coin.TRANSFER_XCHAIN',
  args: [alice, bob, { decimal: amount }, '2'],
});
const call = (message: Message, ...capabilities: Capability[]): CoinCall => ({ message, capabilities });

interface Refused {
  readonly call: CoinCall;
  readonly gasLimit?: number;
  readonly message: string | RegExp;
}

const REFUSED: readonly [string, Refused][] = [
  [
    'the second of two transfers fails',
    {
      call: call(
        calls(transfer(alice, bob, '2.0'), transfer(alice, CAROL, '500.0')),
        allow(alice, bob, '2.0'),
        allow(alice, CAROL, '500.0'),
      ),
      gasLimit: 2_000,
      message: 'Insufficient funds',
    },
  ],
  [
    'a transfer needs more gas than its limit',
    {
      call: call(calls(transfer(alice, bob, '2.0')), allow(alice, bob, '2.0')),
      gasLimit: 160,
      message: /^Gas limit "160"exceeded: \d+$/,
    },
  ],
  [
    'two transfers together need more gas than their limit',
    {
      call: call(calls(transfer(alice, bob, '2.0'), transfer(alice, bob, '2.0')), allow(alice, bob, '4.0')),
      gasLimit: 250,
      message: /^Gas limit "250"exceeded: \d+$/,
    },
  ],
  [
    'coins come with another guard than the account has',
    {
      call: create(CAROL),
      message: 'account guards do not match',
    },
  ],
  [
    'an account is made whose name is another key',
    {
      call: create(`k:${OTHER_KEY}`),
      message: 'Single-key account protocol violation',
    },
  ],
  ...(
    [
      ['ab', 'Account name does not conform to the min length requirement: ab'],
      ['x'.repeat(257), /^Account name does not conform to the max length requirement: x+$/],
      ['日本語', 'Account does not conform to the coin contract charset: 日本語'],
    ] as const
  ).map(([receiver, message]): [string, Refused] => [
    `an account is made with the name ${receiver.slice(0, 5)}`,
    {
      call: create(receiver),
      message,
    },
  ]),
  [
    'the sender is the receiver',
    {
      call: call(calls(transfer(alice, alice, '2.0')), allow(alice, alice, '2.0')),
      message: 'sender cannot be the receiver of a transfer',
    },
  ],
  [
    'a capability is used for more than it allows, little by little',
    {
      call: call(calls(transfer(alice, bob, '3.0'), transfer(alice, bob, '3.0')), allow(alice, bob, '5.0')),
      gasLimit: 2_000,
      message: 'TRANSFER exceeded for balance 2.0',
    },
  ],
  [
    'two transfers to another chain are in one command',
    {
      call: call(calls(cross('1.0'), cross('1.0')), allowCross('5.0')),
      gasLimit: 2_000,
      message:
        /^Another defpact execution context is already running in the environment for defpact id: [\w-]{20}\.\.\.$/,
    },
  ],
  [
    'a capability for another chain is used for more than it allows',
    {
      call: call(calls(cross('3.0')), allowCross('2.0')),
      message: 'TRANSFER_XCHAIN exceeded for balance 2.0',
    },
  ],
  [
    'nothing is moved',
    {
      call: call(calls(transfer(alice, bob, '0.0')), allow(alice, bob, '5.0')),
      message: 'transfer amount must be positive',
    },
  ],
  [
    'one of two keys has signed, and both are needed',
    {
      call: call(calls(transfer(BOTH, bob, '2.0')), allow(BOTH, bob, '2.0')),
      message: /^Keyset failure \( keys-all \): /,
    },
  ],
  [
    'one of three keys has signed, and two are needed',
    {
      call: call(calls(transfer(TWO_OF_THREE, bob, '2.0')), allow(TWO_OF_THREE, bob, '2.0')),
      message: /^Keyset failure \( keys-2 \): /,
    },
  ],
];

const PROVENANCES =
  /^Yield provenance does not match, received: Provenance 9 [\w-]{20}\.\.\. , expected: Provenance 8 [\w-]{20}\.\.\.$/;

describe('nothing but gas moves when', () => {
  it.each(REFUSED)('%s', async (_, { call, gasLimit = 1_000, message }) => {
    const { run, details, balance, tip, node } = await startBank({ accounts: ACCOUNTS, reward: '0.0' });
    const read = () => Promise.all(NAMES.map((name) => details(0, name)));
    const before = await read();
    const { result, gas, events, continuation } = await run(0, commandOf(0, call, { meta: { gasLimit } }));
    expect(result).toMatchObject({
      status: 'failure',
      error: { message: typeof message === 'string' ? message : expect.stringMatching(message) },
    });
    const fee = BigInt(gasLimit) * coins('0.000001');
    expect([gas, continuation, events.map(({ name }) => name)]).toEqual([gasLimit, null, ['TRANSFER']]);
    const [payer, ...others] = before;
    expect(await read()).toEqual([{ ...payer, balance: payer!.balance - fee }, ...others]);
    const { account } = JSON.parse(Buffer.from(tip(0).payload.minerData).toString());
    expect(formatDecimal(await balance(0, account))).toBe(formatDecimal(fee));
    expect(node.ledger.stats.rivalBlocks).toBe(1);
  });
});

it('enough keys move coins', async () => {
  const { run, balance } = await startBank({ accounts: ACCOUNTS });
  const signedByBoth = (sender: string, ...more: Signer[]) => {
    const capability = allow(sender, bob, '2.0');
    const gas = { name: 'coin.GAS', args: [] };
    const signers = [
      { pubKey: ALICE.publicKey, clist: [gas, capability] },
      { pubKey: BOB.publicKey, clist: [capability] },
      ...more,
    ];
    return commandOf(0, call(calls(transfer(sender, bob, '2.0'))), { signers });
  };
  for (const sender of [BOTH, TWO_OF_THREE]) {
    expect((await run(0, signedByBoth(sender))).result).toMatchObject({ status: 'success' });
    expect(await balance(0, sender)).toBe(coins('18.0'));
  }
  expect(await balance(0, bob)).toBe(coins('5.0'));
});

it('a capability can be used until nothing is left of it', async () => {
  const { run, balance } = await startBank({ accounts: ACCOUNTS });
  const message = calls(transfer(alice, bob, '3.0'), transfer(alice, bob, '2.0'));
  const meta = { gasLimit: 2_000 };
  const { result } = await run(0, commandOf(0, call(message, allow(alice, bob, '5.0')), { meta }));
  expect(result.status).toBe('success');
  expect(await balance(0, bob)).toBe(coins('6.0'));
});

it('coins for one chain arrive on no other, even with a right proof for that one', async () => {
  const { run, post, balance, node } = await startBank();
  const { reqKey, metaData } = await run(0, commandOf(0, toChain(9, '10.0')));
  // Chains 8 and 9 are both at distance 2 of chain 0.
  for (const chain of [8, 9]) node.ledger.advanceTo(chain, BigInt(metaData!.blockHeight! + 2));
  const proofFor = async (chain: number) => {
    return (await post(0, 'spv', { requestKey: reqKey, targetChainId: String(chain) })).json as string;
  };
  const elsewhere = await proofFor(8);
  expect(Buffer.compare(spvRoot(parseSpvProof(elsewhere)), node.ledger.chains.tip(8).hash)).toBe(0);
  const failed = await run(8, commandOf(8, arrival(reqKey, elsewhere)));
  expect(failed.result).toMatchObject({
    status: 'failure',
    error: { type: 'EvalError', message: expect.stringMatching(PROVENANCES) },
  });
  expect(await balance(8, bob)).toBe(0n);
  await run(9, commandOf(9, arrival(reqKey, await proofFor(9))));
  expect(await balance(9, bob)).toBe(coins('10.0'));
});
