/**
 * Sends the second step of transfers to other chains. Anyone can do so; here an account of the mock node pays for it.
 */

import { buildCommand } from '../../protocol/ledger/command/build.ts';
import { continueOnTarget, gasCapability } from '../../protocol/ledger/command/coin.ts';
import { type Command, KeyPair } from '../../protocol/ledger/command/command.ts';
import { parseCommandResult } from '../../protocol/ledger/command/results.ts';
import type { Decimal } from '../../protocol/ledger/decimal.ts';
import type { ExactJson } from '../../protocol/ledger/json.ts';
import { COIN } from '../../protocol/ledger/payload.ts';

export const FINISHER = new KeyPair('1f'.repeat(32));
export const FINISHER_ACCOUNT = `k:${FINISHER.publicKey}`;

/** In 10^-12 coins, unless the node demands more. */
const GAS_PRICE = 10_000n;
const TERMS = { gasLimit: 1_000, ttl: 600 } as const;

interface FirstStep {
  readonly requestKey: string;
  readonly proof: string;
  /** The target chain. */
  readonly target: number;
  readonly network: string;
  /** In 10^-12 coins. */
  readonly minGasPrice: Decimal;
  /** The creation time of the target chain's last block: µs since the UNIX epoch. */
  readonly lastTimeUs: bigint;
}

/** @returns the target chain of a transfer whose first step has this result; undefined for other commands' results */
export function targetOf(result: ExactJson): number | undefined {
  const target = parseCommandResult(result).continuation?.yield?.provenance?.targetChainId;
  return target === undefined ? undefined : Number(target);
}

/** @returns the second step of a transfer, signed */
export function finishingCommand(step: FirstStep): Command {
  const { requestKey, proof, target, network, minGasPrice, lastTimeUs } = step;
  const gasPrice = minGasPrice > GAS_PRICE ? minGasPrice : GAS_PRICE;
  const creationTime = Number(lastTimeUs / 1_000_000n);
  const payload = {
    networkId: network,
    payload: continueOnTarget(requestKey, proof),
    signers: [{ pubKey: FINISHER.publicKey, clist: [gasCapability(COIN)] }],
    meta: { ...TERMS, gasPrice, chainId: String(target), sender: FINISHER_ACCOUNT, creationTime },
    nonce: `somebody else finishes ${requestKey}`,
  };
  return buildCommand(payload, [FINISHER]);
}
