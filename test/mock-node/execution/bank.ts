/** A mock node with accounts of Alice and Bob, and their commands. */

import { expect } from 'vitest';
import type { MockNodeContext } from '#pickaxe/mock-node/mock-node.js';
import { buildCommand } from '#pickaxe/protocol/ledger/command/build.js';
import {
  type CoinCall,
  continueOnTarget,
  detailsOf,
  gasCapability,
  getBalance,
  getDetails,
  tokenBalanceOf,
  transfer,
  transferCreate,
  transferCrosschain,
} from '#pickaxe/protocol/ledger/command/coin.js';
import { type Command, commandJson, KeyPair, sendJson } from '#pickaxe/protocol/ledger/command/command.js';
import type { Message, PublicMeta, Signer } from '#pickaxe/protocol/ledger/command/command-payload.js';
import {
  type CommandResult,
  parseLocalAnswer,
  parsePollAnswer,
  parseSendAnswer,
} from '#pickaxe/protocol/ledger/command/results.js';
import { type Decimal, formatTokenAmount, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { mocksOf } from '../ask.ts';
import type { OtherOptions } from '../node.ts';

export const SECRET_OF_ALICE = 'a1'.repeat(32);
export const ALICE = new KeyPair(SECRET_OF_ALICE);
export const BOB = new KeyPair('b0'.repeat(32));
export const alice = `k:${ALICE.publicKey}`;
export const bob = `k:${BOB.publicKey}`;
export const keysetOf = ({ publicKey }: KeyPair) => ({ keys: [publicKey], pred: 'keys-all' });
export const coins = parseDecimal;

/** The gas of the code of `transfer`, and of 701 to 800 bytes. */
export const GAS_OF_TRANSFER = 169;

const NETWORK = 'development';
const GAS_PRICE = coins('0.000001');
const MODULE = 'coin';
/** The part of the path of commands that depends on the dialect. */
const LANGUAGE = { document: 'flow', chainweb: 'pact' } as const;

export interface Terms {
  readonly meta?: Partial<PublicMeta>;
  readonly networkId?: string;
  readonly signers?: readonly Signer[];
  readonly pairs?: readonly KeyPair[];
  /** By default, a random one, so that no two commands are the same. */
  readonly nonce?: string;
}

/** @returns the price of a command's gas */
export function feeOf({ gas }: { gas: number }): Decimal {
  return BigInt(gas) * GAS_PRICE;
}

/** @returns a command of Alice on a chain, signed for gas and for its capabilities */
export function commandOf(chain: number, { message, capabilities }: CoinCall, terms: Terms = {}): Command {
  const meta: PublicMeta = {
    chainId: String(chain),
    sender: alice,
    gasLimit: 1_000,
    gasPrice: GAS_PRICE,
    ttl: 600,
    creationTime: Math.floor(Date.now() / 1000) - 15,
    ...terms.meta,
  };
  const own = [{ pubKey: ALICE.publicKey, clist: [gasCapability(MODULE), ...capabilities] }];
  const { signers = own, networkId = NETWORK, pairs = [ALICE, BOB], nonce = `${Math.random()}` } = terms;
  return buildCommand({ networkId, payload: message, signers, meta, nonce }, pairs);
}

export const toBob = (amount: string): CoinCall => {
  return transfer({ module: MODULE, sender: alice, receiver: bob, amount: coins(amount) });
};
export const toNewBob = (amount: string): CoinCall => {
  return transferCreate({ module: MODULE, sender: alice, receiver: bob, amount: coins(amount), guard: keysetOf(BOB) });
};
export const toChain = (targetChain: number, amount: string): CoinCall => {
  const payment = { module: MODULE, sender: alice, receiver: bob, amount: coins(amount), guard: keysetOf(BOB) };
  return transferCrosschain({ ...payment, targetChain });
};
export const arrival = (pactId: string, proof: string): CoinCall => {
  return { message: continueOnTarget(pactId, proof), capabilities: [] };
};
/** A command without signers, for reading. */
export const read = (message: Message): CoinCall => ({ message, capabilities: [] });

/** @returns a function that starts nodes with this dialect of the API only */
export function banksOf(dialect: Dialect) {
  return (options: OtherOptions = {}, surroundings: MockNodeContext = {}) => startBank(dialect, options, surroundings);
}

async function startBank(dialect: Dialect, options: OtherOptions, surroundings: MockNodeContext) {
  const accounts = [
    { account: alice, balance: '100.0' },
    { account: bob, balance: '1.0', chains: [0] },
  ];
  const mock = await mocksOf(dialect)({ chains: 10, network: NETWORK, accounts, ...options }, surroundings);
  const { ask, node } = mock;
  const post = (chain: number, path: string, body: unknown, query = '') => {
    return ask(`/chain/${chain}/${LANGUAGE[dialect]}/${path}${query}`, { method: 'POST', body });
  };
  const local = (chain: number, command: Command, query = '') => {
    return post(chain, 'api/v1/local', commandJson(command), query);
  };
  const send = (chain: number, ...commands: Command[]) => post(chain, 'api/v1/send', sendJson(commands));
  const poll = async (chain: number, requestKey: string, query = ''): Promise<CommandResult | undefined> => {
    const { json } = await post(chain, 'api/v1/poll', { requestKeys: [requestKey] }, query);
    return parsePollAnswer(json).get(requestKey);
  };
  /** Sends a command, and runs it in a block of another miner. */
  const run = async (chain: number, command: Command): Promise<CommandResult> => {
    const answer = await send(chain, command);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(parseSendAnswer(answer.json)).toEqual([command.hash]);
    node.ledger.advance(chain);
    const result = await poll(chain, command.hash);
    expect(result?.reqKey).toBe(command.hash);
    return result!;
  };
  const readOutcome = async (chain: number, message: Message, query = '') => {
    const { json } = await local(chain, commandOf(chain, read(message), { signers: [] }), query);
    return parseLocalAnswer(json).outcome;
  };
  const balance = async (chain: number, account: string, query = ''): Promise<Decimal> => {
    const amount = tokenBalanceOf(await readOutcome(chain, getBalance(MODULE, account), query), account, MODULE);
    return amount === undefined ? 0n : parseDecimal(formatTokenAmount(amount));
  };
  const details = async (chain: number, account: string) => {
    return detailsOf(await readOutcome(chain, getDetails(MODULE, account)), account);
  };
  return { ...mock, post, local, send, poll, run, balance, details, readOutcome };
}
