/** A third party that finishes other people's transfers on instruction. */

import { buildCommand } from '../../ledger/command/build.ts';
import { continueOnTarget, gasCapability } from '../../ledger/command/coin.ts';
import { type Command, KeyPair } from '../../ledger/command/command.ts';
import { COIN } from '../../ledger/payload.ts';

export const HELPER = new KeyPair('1f'.repeat(32));
export const HELPER_ACCOUNT = `k:${HELPER.publicKey}`;

const GAS = { gasLimit: 1_000, gasPrice: 10_000n, ttl: 600 } as const;

interface Help {
  /** Of the first step. */
  readonly requestKey: string;
  readonly proof: string;
  readonly target: number;
  readonly network: string;
  /** The creation time of the target chain's last block: µs since the UNIX epoch. */
  readonly lastTimeUs: bigint;
}

/** @returns the second step of a transfer, signed */
export function helperCommand({ requestKey, proof, target, network, lastTimeUs }: Help): Command {
  const creationTime = Number(lastTimeUs / 1_000_000n);
  const payload = {
    networkId: network,
    payload: continueOnTarget(requestKey, proof),
    signers: [{ pubKey: HELPER.publicKey, clist: [gasCapability(COIN)] }],
    meta: { ...GAS, chainId: String(target), sender: HELPER_ACCOUNT, creationTime },
    nonce: `somebody else finishes ${requestKey}`,
  };
  return buildCommand(payload, [HELPER]);
}
