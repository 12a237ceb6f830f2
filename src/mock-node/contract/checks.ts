/** What a node checks before it takes a command, in its words. */

import { MAX_SIGNATURES, MAX_TTL } from '../../ledger/command/build.ts';
import { type Command, verifyCommand } from '../../ledger/command/command.ts';
import type { Payload } from '../../ledger/command/payload.ts';
import { formatDecimal, parseDecimal } from '../../ledger/decimal.ts';
import type { ContractSettings } from '../options.ts';

/** Where a command is to run. */
export interface Place {
  readonly chain: number;
  /** The creation time of the chain's last block: µs since the UNIX epoch. */
  readonly lastTimeUs: bigint;
}

/** How far a command may be ahead of the last block. */
const MAX_AHEAD_US = 95_000_000n;

/** @returns why hash or signatures are wrong; undefined when they are right */
export function whyForged(command: Command): string | undefined {
  const verdict = verifyCommand(command);
  if (verdict.kind === 'valid') return undefined;
  if (verdict.kind === 'wrong' && verdict.part !== 'signatures') return `Invalid transaction hash: ${verdict.message}`;
  return `Invalid transaction sigs: ${verdict.message}`;
}

/** @returns what is wrong with the metadata */
export function metadataFaults(payload: Payload, place: Place, settings: ContractSettings): string[] {
  const { meta, networkId, signers } = payload;
  const minGasPrice = parseDecimal(settings.minGasPrice);
  const createdUs = BigInt(meta.creationTime) * 1_000_000n;
  const faults: readonly (readonly [boolean, string])[] = [
    [
      meta.chainId !== String(place.chain) || networkId !== settings.network,
      'Transaction metadata (chain id, chainweb version) conflicts with this endpoint',
    ],
    [signers.length > MAX_SIGNATURES, `Transaction has more than ${MAX_SIGNATURES} signatures`],
    [
      meta.gasLimit < 1 || meta.gasLimit > settings.blockGasLimit,
      `Transaction gas limit exceeds block gas limit (${settings.blockGasLimit})`,
    ],
    [meta.gasPrice < minGasPrice, `Transaction gas price is below minimum gas price (${formatDecimal(minGasPrice)})`],
    [meta.ttl < 1 || meta.ttl > MAX_TTL, `Transaction time-to-live is not from 1 to ${MAX_TTL} seconds`],
    [createdUs > place.lastTimeUs + MAX_AHEAD_US, 'Transaction creation time too far in the future'],
    [createdUs + BigInt(meta.ttl) * 1_000_000n <= place.lastTimeUs, 'Transaction time-to-live is expired'],
  ];
  return faults.flatMap(([isFault, says]) => (isFault ? [says] : []));
}
