import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { buildCommand, cmdOf, MAX_TTL } from '#pickaxe/protocol/ledger/command/build.js';
import * as coin from '#pickaxe/protocol/ledger/command/coin.js';
import { amountFault } from '#pickaxe/protocol/ledger/command/coin.js';
import { KeyPair, requestKeyOfCmd, verifyCommand } from '#pickaxe/protocol/ledger/command/command.js';
import {
  type Capability,
  type Payload,
  parsePayload,
  publicMetaOf,
} from '#pickaxe/protocol/ledger/command/command-payload.js';
import { toolArg } from '#pickaxe/protocol/ledger/command/tool-json.js';
import { formatDecimal, ONE, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { type ExactJson, LedgerFormatError, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { ALICE, BOB, pairs } from '../command-vectors.ts';
import { texts } from '../texts.ts';

const exact = (value: unknown) => parseExactJson(JSON.stringify(value));
const alice = new KeyPair(ALICE.secret);
const bob = new KeyPair(BOB.secret);
const ALICE_ACCOUNT = `k:${ALICE.public}`;
const BOB_ACCOUNT = `k:${BOB.public}`;
const BOB_GUARD = { keys: [BOB.public], pred: 'keys-all' };

const meta = {
  chainId: '0',
  sender: ALICE_ACCOUNT,
  gasLimit: 600,
  gasPrice: parseDecimal('1e-8'),
  ttl: 600,
  creationTime: 1_600_000_000,
};

function payloadOf(call: coin.CoinCall, changes: Partial<Payload> = {}): Payload {
  const clist = [coin.gasCapability('coin'), ...call.capabilities];
  return {
    networkId: 'development',
    payload: call.message,
    signers: [{ pubKey: ALICE.public, clist }],
    meta,
    nonce: 'n',
    ...changes,
  };
}

const transfer = coin.transfer({ module: 'coin', sender: ALICE_ACCOUNT, receiver: BOB_ACCOUNT, amount: 91n * ONE });

it('a signer is written with its address and its scheme, if it has them', () => {
  const signer = { pubKey: ALICE.public, addr: ALICE.public, scheme: 'ED25519' };
  const signers = [signer, { pubKey: ALICE.public }];
  const cmd = cmdOf(payloadOf(transfer, { signers }));
  expect(cmd).toContain(
    `[{"addr":"${ALICE.public}","scheme":"ED25519","pubKey":"${ALICE.public}"},{"pubKey":"${ALICE.public}"}]`,
  );
  expect(parsePayload(cmd).signers).toMatchObject(signers);
});

describe('the contract tool’s own commands', () => {
  test.each(pairs)('$files', ({ request, cmd, hash }) => {
    const { code, data = null, networkId = null, signers, nonce } = request;
    const none = { chainId: '', sender: '', gasLimit: 0, ttl: 0, creationTime: 0, gasPrice: 0 };
    const { gasPrice, ...rest } = { ...none, ...request.meta };
    const built = cmdOf({
      networkId,
      payload: { exec: { code, data: exact(data) } },
      signers: signers.map(({ public: pubKey, caps }) => ({
        pubKey,
        clist: caps?.map(({ name, args }) => ({ name, args: args.map((arg) => toolArg(exact(arg))) })),
      })),
      meta: { ...rest, gasPrice: parseDecimal(`${gasPrice}`) },
      nonce,
    });
    expect(built).toBe(cmd);
    expect(requestKeyOfCmd(built)).toBe(hash);
  });

  it('are six', () => {
    expect(pairs).toHaveLength(6);
  });
});

describe('a command of ours', () => {
  it('is valid, and says what it was built of', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 24n });
    fc.assert(
      fc.property(amounts, amounts, texts, fc.integer({ min: 1, max: MAX_TTL }), (amount, gasPrice, nonce, ttl) => {
        const call = coin.transfer({ module: 'coin', sender: ALICE_ACCOUNT, receiver: BOB_ACCOUNT, amount });
        const payload = payloadOf(call, { meta: { ...meta, gasPrice, ttl }, nonce });
        const command = buildCommand(payload, [bob, alice]);
        expect(verifyCommand(command)).toEqual({ kind: 'valid' });
        const read = parsePayload(command.cmd);
        expect({ ...read, meta: publicMetaOf(read.meta) }).toEqual(payload);
      }),
    );
  });

  it('has its signatures in the order of its signers', () => {
    const clist = [coin.gasCapability('coin')];
    const signers = [BOB, ALICE].map((key) => ({ pubKey: key.public, clist }));
    const payload = payloadOf(transfer, { signers });
    const command = buildCommand(payload, [alice, bob]);
    expect(verifyCommand(command)).toEqual({ kind: 'valid' });
    expect(buildCommand(payload, [bob, alice])).toEqual(command);
  });

  it('that only reads needs no signer', () => {
    const call = { message: coin.getBalance('coin', ALICE_ACCOUNT), capabilities: [] };
    expect(verifyCommand(buildCommand(payloadOf(call, { signers: [] }), []))).toEqual({ kind: 'valid' });
  });

  const { signers } = payloadOf(transfer);
  const withCapability = (capability: Capability) => ({ signers: [{ pubKey: ALICE.public, clist: [capability] }] });
  test.each<[string, Partial<Payload>, RegExp]>([
    ['no network', { networkId: null }, /id of its network/],
    ['no chain', { meta: { ...meta, chainId: '' } }, /chainId/],
    ['a time to live of 0', { meta: { ...meta, ttl: 0 } }, /ttl must be 1 to 172800/],
    ['a time to live of more than two days', { meta: { ...meta, ttl: MAX_TTL + 1 } }, /ttl must be 1 to 172800/],
    ['half a unit of gas', { meta: { ...meta, gasLimit: 0.5 } }, /gasLimit/],
    ['a negative price', { meta: { ...meta, gasPrice: -1n } }, /gasPrice/],
    ['a fraction of a second', { meta: { ...meta, creationTime: 1.5 } }, /creationTime/],
    ['a signer without capabilities', { signers: [{ pubKey: ALICE.public }] }, /sign for everything/],
    ['a signer whose key is missing', { signers: [{ ...signers[0], pubKey: BOB.public }] }, /secret key.*is missing/],
    ['too many signers', { signers: Array(101).fill(signers[0]) }, /at most 100 signers/],
    [
      'another amount in the capability',
      withCapability({ name: 'coin.TRANSFER', args: [ALICE_ACCOUNT, BOB_ACCOUNT, { decimal: '91.1' }] }),
      /allows 91\.1, but the code transfers 91\.0/,
    ],
  ])('cannot have %s', (_, changes, message) => {
    const build = () => buildCommand(payloadOf(transfer, changes), [alice]);
    expect(build).toThrow(LedgerFormatError);
    expect(build).toThrow(message);
  });
});

describe('the metadata of a command', () => {
  const fault = (message: string) => new LedgerFormatError(`The metadata of a command: ${message}`);
  const GAS = fault('gasLimit must be a whole number of at least 1');
  const TTL = fault('ttl must be 1 to 172800 seconds');
  const CREATION = fault('creationTime must be whole seconds since 1970');
  const CHAIN = fault('chainId must be the digits of a number');

  test.each<[string, fits: object, exceeds: object, LedgerFormatError]>([
    ['the chain', { chainId: '0' }, { chainId: 'a' }, CHAIN],
    ['the digits of the chain', { chainId: '1'.repeat(9) }, { chainId: '1'.repeat(10) }, CHAIN],
    ['the least gas', { gasLimit: 1 }, { gasLimit: 0 }, GAS],
    ['the most gas', { gasLimit: Number.MAX_SAFE_INTEGER }, { gasLimit: 2 ** 53 }, GAS],
    ['the price', { gasPrice: 0n }, { gasPrice: -1n }, fault('gasPrice must not be negative')],
    ['the shortest life', { ttl: 1 }, { ttl: 0 }, TTL],
    ['the longest life', { ttl: 172_800 }, { ttl: 172_801 }, TTL],
    ['a whole life', { ttl: 2 }, { ttl: 2.5 }, TTL],
    ['the earliest time', { creationTime: 0 }, { creationTime: -1 }, CREATION],
    ['a whole time', { creationTime: 1 }, { creationTime: 1.5 }, CREATION],
  ])('has a limit: %s', (_, fits, exceeds, error) => {
    const build = (more: object) => buildCommand(payloadOf(transfer, { meta: { ...meta, ...more } }), [alice]);
    expect(verifyCommand(build(fits))).toEqual({ kind: 'valid' });
    expect(() => build(exceeds)).toThrow(error);
  });

  test('goes with a hundred signers at most', () => {
    const [signer] = payloadOf(transfer).signers;
    const build = (count: number) => buildCommand(payloadOf(transfer, { signers: Array(count).fill(signer) }), [alice]);
    expect(build(100).sigs).toHaveLength(100);
    expect(() => build(101)).toThrow(new LedgerFormatError('A command has at most 100 signers, but this one has 101'));
  });
});

describe('the commands about coins', () => {
  const parties = { module: 'coin', sender: ALICE_ACCOUNT, receiver: BOB_ACCOUNT };

  test('transfer', () => {
    expect(transfer.message).toEqual({
      exec: { code: `(coin.transfer "${ALICE_ACCOUNT}" "${BOB_ACCOUNT}" 91.0)`, data: {} },
    });
    expect(transfer.capabilities).toEqual([
      { name: 'coin.TRANSFER', args: [ALICE_ACCOUNT, BOB_ACCOUNT, { decimal: '91.0' }] },
    ]);
  });

  test('transfer-create', () => {
    const { message, capabilities } = coin.transferCreate({
      ...parties,
      module: 'free.token',
      amount: 1n,
      guard: BOB_GUARD,
    });
    const code = `(free.token.transfer-create "${ALICE_ACCOUNT}" "${BOB_ACCOUNT}" (read-keyset "receiver-guard") 0.000000000001)`;
    expect(message).toEqual({ exec: { code, data: { 'receiver-guard': BOB_GUARD } } });
    expect(capabilities).toEqual([
      { name: 'free.token.TRANSFER', args: [ALICE_ACCOUNT, BOB_ACCOUNT, { decimal: '0.000000000001' }] },
    ]);
  });

  test('transfer-crosschain and its second step', () => {
    const call = coin.transferCrosschain({ ...parties, amount: 91n * ONE, guard: BOB_GUARD, targetChain: 7 });
    const code = `(coin.transfer-crosschain "${ALICE_ACCOUNT}" "${BOB_ACCOUNT}" (read-keyset "receiver-guard") "7" 91.0)`;
    expect(call.message).toEqual({ exec: { code, data: { 'receiver-guard': BOB_GUARD } } });
    const args = [ALICE_ACCOUNT, BOB_ACCOUNT, { decimal: '91.0' }, '7'];
    expect(call.capabilities).toEqual([{ name: 'coin.TRANSFER_XCHAIN', args }]);
    const pactId = 'hSBd5Sy2IEnq4dqzNHc5UkQJh2ubbz3Ea5nmu-VARoM';
    expect(coin.continueOnTarget(pactId, 'proof')).toEqual({
      cont: { pactId, step: 1, rollback: false, data: {}, proof: 'proof' },
    });
    expect(() => coin.continueOnTarget('x', 'proof')).toThrow(LedgerFormatError);
    expect(() => coin.continueOnTarget(pactId, '')).toThrow(LedgerFormatError);
  });

  test('transfers to the first chain, and to the last that a number can name', () => {
    const chainOf = (targetChain: number) =>
      coin.transferCrosschain({ ...parties, amount: 1n, guard: BOB_GUARD, targetChain }).capabilities[0].args.at(-1);
    expect([0, Number.MAX_SAFE_INTEGER].map(chainOf)).toEqual(['0', `${Number.MAX_SAFE_INTEGER}`]);
    for (const none of [-1, 0.5, Number.NaN, 2 ** 53]) expect(() => chainOf(none)).toThrow(LedgerFormatError);
  });

  test('reads', () => {
    expect(coin.getBalance('coin', 'a "b\\')).toEqual({ exec: { code: '(coin.get-balance "a \\"b\\\\")', data: {} } });
    expect(coin.getDetails('coin', 'bob')).toEqual({ exec: { code: '(coin.details "bob")', data: {} } });
  });

  test.each<[string, () => unknown]>([
    ['no amount', () => coin.transfer({ ...parties, amount: 0n })],
    ['a negative amount', () => coin.transfer({ ...parties, amount: -1n })],
    ['no sender', () => coin.transfer({ ...parties, sender: '', amount: 1n })],
    ['a receiver on two lines', () => coin.transfer({ ...parties, receiver: 'a\nb', amount: 1n })],
    ['code as a module', () => coin.getBalance('coin) (evil', 'bob')],
    [
      'a keyset without keys',
      () => coin.transferCreate({ ...parties, amount: 1n, guard: { keys: [], pred: 'keys-all' } }),
    ],
    [
      'a key that is none',
      () => coin.transferCreate({ ...parties, amount: 1n, guard: { keys: ['x'], pred: 'keys-all' } }),
    ],
    [
      'another’s key',
      () => coin.transferCreate({ ...parties, amount: 1n, guard: { keys: [ALICE.public], pred: 'keys-all' } }),
    ],
    [
      'another predicate',
      () => coin.transferCreate({ ...parties, amount: 1n, guard: { ...BOB_GUARD, pred: 'keys-any' } }),
    ],
    ['no chain', () => coin.transferCrosschain({ ...parties, amount: 1n, guard: BOB_GUARD, targetChain: -1 })],
  ])('cannot have %s', (_, build) => {
    expect(build).toThrow(LedgerFormatError);
  });

  it('have the same amount in the code and in the capability', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 10n ** 30n }), (amount) => {
        const { message, capabilities } = coin.transferCrosschain({
          ...parties,
          amount,
          guard: BOB_GUARD,
          targetChain: 3,
        });
        const { code } = 'exec' in message ? message.exec : { code: '' };
        expect(code).toContain(` ${formatDecimal(amount)})`);
        expect(amountFault(capabilities[0], code)).toBeUndefined();
      }),
    );
  });
});

describe('keysets', () => {
  const [a, b] = [ALICE.public, BOB.public];
  const of = (pred: string, ...keys: string[]) => ({ keys, pred });

  it('are the same whatever the order of their keys is', () => {
    expect(coin.sameKeyset(of('keys-all', a, b), of('keys-all', b, a))).toBe(true);
    expect(coin.sameKeyset(of('keys-all', a, b, a), of('keys-all', b, a))).toBe(true);
  });

  it.each([
    ['another predicate', of('keys-any', a, b)],
    ['one key less', of('keys-all', a)],
    ['one key more', of('keys-all', a, b, 'c'.repeat(64))],
    ['another key', of('keys-all', a, 'c'.repeat(64))],
    ['no key', of('keys-all')],
  ])('are not the same with %s', (_, other) => {
    expect(coin.sameKeyset(of('keys-all', a, b), other)).toBe(false);
    expect(coin.sameKeyset(other, of('keys-all', a, b))).toBe(false);
  });
});

describe('the amount that a capability allows', () => {
  const transferOf = (...args: ExactJson[]) => ({ name: 'coin.TRANSFER', args });
  const ten = transferOf('a', 'b', exact(10));

  test.each([
    ['(coin.transfer "a" "b" 10.0)'],
    ['(coin.transfer "a" "b" 4.5) (coin.transfer-create "a" "b" (read-keyset "k") 5.5)'],
    ['(coin.transfer "a" "b" (+ 1.0 2.0))'],
    ['(coin.transfer "a" "b" amount)'],
    ['(coin.transfer "a" "c" 3.0)'],
    ['; (coin.transfer "a" "b" 3.0)\n1'],
    ['"(coin.transfer \\"a\\" \\"b\\" 3.0)"'],
    ['(other.transfer "a" "b" 3.0)'],
    ['(coin.transfer "a" "b" 10.0) (gold.transfer "a" "b" 3.0) (n.gold.transfer "a" "b" 3.0) (transfer "a" "b" 3.0)'],
    ['(let ((x 1)) [(coin.transfer "a" "b" 10.00)])'],
    [')))'],
    [''],
  ])('fits %s', (code) => {
    expect(amountFault(ten, code)).toBeUndefined();
  });

  test.each([
    ['(coin.transfer "a" "b" 10.1)', 'it allows 10.0, but the code transfers 10.1'],
    ['(coin.transfer "a" "b" 4.5) (coin.transfer "a" "b" 5.0)', 'it allows 10.0, but the code transfers 9.5'],
    ['(if true (coin.transfer "a" "b" 1.0) 2)', 'it allows 10.0, but the code transfers 1.0'],
    ['(coin.transfer "a" "b" 10)', 'the amount 10 in the code needs a point: 10.0'],
    [
      '(coin.transfer "a" "b" 10.0000000000001)',
      'the amount 10.0000000000001 in the code has more than 12 decimal places',
    ],
  ])('does not fit %s', (code, fault) => {
    expect(amountFault(ten, code)).toBe(fault);
  });

  it('has at most 12 decimal places', () => {
    expect(amountFault(transferOf('a', 'b', exact(0.0000000000001)), '')).toMatch(/more than 12 decimal places/);
    expect(amountFault(transferOf('a', 'b', { decimal: '1.0000000000001' }), '')).toMatch(
      /more than 12 decimal places/,
    );
  });

  it('is that of the chain it goes to', () => {
    const capability = { name: 'coin.TRANSFER_XCHAIN', args: ['a', 'b', { decimal: '10.0' }, '7'] };
    const code = (chain: string) => `(coin.transfer-crosschain "a" "b" (read-keyset "k") "${chain}" 9.0)`;
    expect(amountFault(capability, code('7'))).toBe('it allows 10.0, but the code transfers 9.0');
    expect(amountFault(capability, code('8'))).toBeUndefined();
  });

  it('is not looked for in capabilities of another kind', () => {
    expect(
      amountFault(
        { name: 'nft.ledger.TRANSFER', args: ['id', 'a', 'b', exact(1)] },
        '(nft.ledger.transfer "id" "a" 2.0)',
      ),
    ).toBeUndefined();
    expect(amountFault({ name: 'coin.GAS', args: [] }, '')).toBeUndefined();
  });
});
