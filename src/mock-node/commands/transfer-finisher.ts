/**
 * Makes the command for the second step of a transfer to another chain. Anyone may send such a command; here, an
 * account of the mock node pays for its gas.
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

/** The gas price in 10^-12 coins, if the node's minimum is not higher. */
const GAS_PRICE = 10_000n;
const TERMS = { gasLimit: 1_000, ttl: 600 } as const;

interface FirstStep {
  readonly requestKey: string;
  readonly proof: string;
  /** The target chain. */
  readonly target: number;
  readonly network: string;
  /** The node's minimum gas price, in 10^-12 coins. */
  readonly minGasPrice: Decimal;
  /** The creation time of the target chain's last block: µs since the UNIX epoch. */
  readonly lastTimeUs: bigint;
}

/** @returns the target chain of a transfer whose first step has this result; undefined for other commands' results */
export function targetOf(result: ExactJson): number | undefined {
  const target = parseCommandResult(result).continuation?.yield?.provenance?.targetChainId;
  return target === undefined ? undefined : Number(target);
}

/** @returns the signed command for the second step of a transfer */
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
