/** Why a node refuses a command, by the exact limits of each field. */

import { describe, expect, it } from 'vitest';
import {
  BADLISTED,
  preflightFaults,
  type ReadCommand,
  readCommand,
  whyRefused,
} from '#pickaxe/mock-node/commands/command-checks.js';
import { optionsSchema } from '#pickaxe/mock-node/options.js';
import { commandJson, requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import type { PublicMeta } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { decodeBase64url, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { ALICE, commandOf, toBob } from '../execution/bank.ts';

const CREATED_S = 1_700_000_000;
const SETTINGS = optionsSchema.parse({ network: 'development', minGasPrice: '0.000001', blockGasLimit: 1_000 });
const NEW = { isOnChain: false, isBadlisted: false };
/** A block of the time at which the commands were made. */
const PLACE = { chain: 0, lastTimeUs: BigInt(CREATED_S) * 1_000_000n };

/** A signed command. Its fields may be such that no client would sign them. */
function made(meta: Partial<PublicMeta> = {}, { networkId = 'development', signers = 1 } = {}): ReadCommand {
  const right = JSON.parse(commandOf(0, toBob('1.0')).cmd);
  const { gasPrice, ...others } = { gasPrice: 1_000_000n, ...meta };
  const own = { ...right.meta, creationTime: CREATED_S, ...others, gasPrice: Number(gasPrice) / 1e12 };
  const all = Array(signers).fill({ pubKey: ALICE.publicKey });
  const cmd = JSON.stringify({ ...right, networkId, meta: own, signers: all });
  const hash = requestKeyOfCmd(cmd);
  const sig = ALICE.sign(decodeBase64url(hash));
  return readCommand(parseExactJson(commandJson({ cmd, hash, sigs: all.map(() => ({ sig })) })));
}

const reasonFor = (read: ReadCommand, { known = NEW, place = PLACE, settings = SETTINGS } = {}) =>
  whyRefused(read, known, place, settings);
const after = (seconds: number, us = 0n) => ({ chain: 0, lastTimeUs: BigInt(CREATED_S + seconds) * 1_000_000n + us });

const CONFLICT = 'Transaction metadata (chain id, chainweb version) conflicts with this endpoint';
const EXPIRED = 'Transaction time-to-live is expired';
const signers = (count: number) => ({ signers: count });

describe('a command', () => {
  it.each([
    ['that is right', made(), {}, undefined],
    ['with more gas than a block has', made({ gasLimit: 1_001 }), {}, /^Transaction gas limit exceeds .* \(1000\)$/],
    ['with a lower price than the least one', made({ gasPrice: 999_999n }), {}, /\(0\.000000999999\) is below .*/],
    ['for another chain', made({ chainId: '1' }), {}, CONFLICT],
    ['for another network', made({}, { networkId: 'mainnet01' }), {}, CONFLICT],
    ['that is in a block', made(), { known: { ...NEW, isOnChain: true } }, 'Transaction already exists on chain'],
    ['that is badlisted', made(), { known: { ...NEW, isBadlisted: true } }, BADLISTED],
    ['just before its end', made(), { place: after(600, -1n) }, undefined],
    ['at its end', made(), { place: after(600) }, EXPIRED],
    ['95 seconds ahead', made(), { place: after(-95) }, undefined],
    ['more than 95 seconds ahead', made(), { place: after(-95, -1n) }, /creation time too far in the future$/],
    ['of two days', made({ ttl: 172_800 }), {}, undefined],
    ['of more than two days', made({ ttl: 172_801 }), {}, EXPIRED],
    ['with a hundred signers', made({}, signers(100)), {}, undefined],
    ['with more signers', made({}, signers(101)), {}, 'insert error: Too many signatures'],
  ] as const)('%s', (_, read, circumstances, reason) => {
    const given = reasonFor(read, circumstances);
    if (reason instanceof RegExp) expect(given).toMatch(reason);
    else expect(given).toBe(reason);
  });

  it('whose hash or signature is wrong', () => {
    const { command, payload } = made();
    const [{ sig }] = command.sigs as [{ sig: string }];
    const other = { sig: `${sig[0] === '0' ? '1' : '0'}${sig.slice(1)}` };
    expect(reasonFor({ command: { ...command, sigs: [other] }, payload })).toMatch(
      /^Invalid transaction sigs: The signature at position 0 is invalid: /,
    );
    expect(reasonFor({ command: { ...command, sigs: [] }, payload })).toBe(
      'Invalid transaction sigs: The number of signers and signatures do not match. ' +
        'Number of signers: 1. Number of signatures: 0.',
    );
    const { hash } = made().command;
    expect(reasonFor({ command: { ...command, hash }, payload })).toBe('Invalid transaction hash');
  });
});

describe('a preflight', () => {
  it.each([
    ['nothing', made(), PLACE, []],
    ['another chain', made(), { ...PLACE, chain: 1 }, ['Chain id mismatch']],
    ['too much gas', made({ gasLimit: 1_001 }), PLACE, ['Transaction Gas limit exceeds block gas limit']],
    ['another network', made({}, { networkId: 'mainnet01' }), PLACE, ['Network id mismatch']],
    ['a hundred signers', made({}, signers(100)), PLACE, []],
    ['more signers', made({}, signers(101)), PLACE, ['Signature list size too big']],
    ['its end', made(), after(600), ['Tx time outside of valid range']],
    ['too long a life', made({ ttl: 172_801 }), PLACE, ['Tx time outside of valid range']],
    [
      'all that is wrong',
      made({ ttl: 0, chainId: '7' }),
      PLACE,
      ['Chain id mismatch', 'Tx time outside of valid range'],
    ],
  ])('finds %s', (_, read, place, faults) => {
    expect(preflightFaults(read, place, SETTINGS)).toEqual(faults);
  });
});
