/** Reads commands, and checks them before the node accepts or runs them. The messages are those of real nodes. */

import type { ContractError } from '../../contract/errors.ts';
import { MAX_SIGNATURES, MAX_TTL } from '../../protocol/ledger/command/build.ts';
import { type Command, parseCommand, verifyCommand } from '../../protocol/ledger/command/command.ts';
import { type Payload, parsePayload, publicMetaOf } from '../../protocol/ledger/command/command-payload.ts';
import { formatDecimal, parseDecimal } from '../../protocol/ledger/decimal.ts';
import { type ExactJson, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { MAX_COMMAND_BYTES, unreadable, whyMeaningless } from '../execution/code.ts';
import type { ContractSettings } from '../options.ts';

export interface ReadCommand {
  readonly command: Command;
  readonly payload: Payload;
}

/** A request that a node refuses with 400 and this message. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** @throws LedgerFormatError if the JSON is not a command with public metadata. Blocks contain only such commands */
export function readCommand(json: ExactJson): ReadCommand {
  return withPayload(parseCommand(json));
}

/**
 * @throws LedgerFormatError if the JSON is not a command; RefusedError, which begins with `what`, if the text of the
 *   command is not a payload with public metadata
 */
export function readOrRefuse(json: ExactJson, what = 'Validation failed'): ReadCommand {
  const command = parseCommand(json);
  try {
    return withPayload(command);
  } catch (error) {
    if (error instanceof LedgerFormatError) throw new RefusedError(`${what}: ${error.message}`);
    throw error;
  }
}

function withPayload(command: Command): ReadCommand {
  const payload = parsePayload(command.cmd);
  return { command, payload: { ...payload, meta: publicMetaOf(payload.meta) } };
}

interface Place {
  readonly chain: number;
  /** The creation time of the block on which the command's block builds, in µs since the UNIX epoch. */
  readonly lastTimeUs: bigint;
}

/** Facts about a command that do not follow from its content. */
interface Known {
  readonly isOnChain: boolean;
  readonly isBadlisted: boolean;
}

export const BADLISTED = 'Transaction is badlisted because it previously failed to validate.';

/** Maximum time by which a command's creation time may be later than that of the last block, in µs. */
const MAX_AHEAD_US = 95_000_000n;

/**
 * Why a command is not authentic: its hash is wrong, or its signatures are wrong. `message` describes the first invalid
 * signature, or a wrong number of signatures.
 */
type Forgery = { readonly of: 'hash' } | { readonly of: 'signatures'; readonly message: string };

/** @returns why the command is not authentic; undefined if its hash and its signatures are valid */
export function forgeryOf({ command, payload: { signers } }: ReadCommand): Forgery | undefined {
  const verdict = verifyCommand(command);
  if (verdict.kind === 'valid') return undefined;
  if (verdict.kind === 'wrong' && verdict.part !== 'signatures') return { of: 'hash' };
  const [needed, given] = [signers.length, command.sigs.length];
  const message =
    needed === given
      ? `The signature at position ${signers.findIndex(({ pubKey }) => verdict.message.includes(pubKey))} is invalid: ${verdict.message}`
      : `The number of signers and signatures do not match. Number of signers: ${needed}. Number of signatures: ${given}.`;
  return { of: 'signatures', message };
}

/**
 * The payment of the gas is not checked here.
 * @returns the reason why /send must refuse the command and no block can contain it; undefined if there is none
 */
export function whyRefused(read: ReadCommand, known: Known, place: Place, settings: ContractSettings) {
  const { meta, networkId, signers } = read.payload;
  const { blockGasLimit, network } = settings;
  const { isOver, isEarly, isOutside } = timesOf(read.payload, place);
  const minGasPrice = parseDecimal(settings.minGasPrice);
  const [price, least] = [meta.gasPrice, minGasPrice].map(formatDecimal);
  if (meta.gasLimit > blockGasLimit) return `Transaction gas limit exceeds block gas limit (${blockGasLimit})`;
  if (meta.gasPrice < minGasPrice) return `Transaction gas price (${price}) is below minimum gas price (${least})`;
  if (isOver) return 'Transaction time-to-live is expired';
  if (known.isOnChain) return 'Transaction already exists on chain';
  if (known.isBadlisted) return BADLISTED;
  if (meta.chainId !== String(place.chain) || networkId !== network) {
    return 'Transaction metadata (chain id, chainweb version) conflicts with this endpoint';
  }
  if (signers.length > MAX_SIGNATURES) return 'insert error: Too many signatures';
  // The gas of a command above `MAX_COMMAND_BYTES` cannot be paid, so its code is not parsed.
  const isReadable = Buffer.byteLength(read.command.cmd) <= MAX_COMMAND_BYTES;
  const fault = isReadable ? unreadable(read.payload, settings.contractDialect) : undefined;
  if (fault) return parseErrorText(fault);
  const forgery = forgeryOf(read);
  if (forgery)
    return forgery.of === 'hash' ? 'Invalid transaction hash' : `Invalid transaction sigs: ${forgery.message}`;
  if (isEarly) return 'Transaction creation time too far in the future';
  // Real nodes send this message also if the time to live is out of range.
  if (isOutside) return 'Transaction time-to-live is expired';
  const meaningless = isReadable ? whyMeaningless(read.payload, settings.contractDialect) : undefined;
  return meaningless === undefined ? undefined : `Transaction compilation failed: ${meaningless}`;
}

/** @returns a node's message for code that cannot be parsed */
export function parseErrorText({ message }: ContractError): string {
  return `Pact parse error: ${message}`;
}

/** @returns the faults that a preflight of /local finds in a command's metadata. The gas price is not checked */
export function preflightFaults({ payload }: ReadCommand, place: Place, settings: ContractSettings): string[] {
  const { meta, networkId, signers } = payload;
  const { isOver, isOutside } = timesOf(payload, place);
  const faults: readonly (readonly [boolean, string])[] = [
    [meta.chainId !== String(place.chain), 'Chain id mismatch'],
    [meta.gasLimit > settings.blockGasLimit, 'Transaction Gas limit exceeds block gas limit'],
    [networkId !== settings.network, 'Network id mismatch'],
    [signers.length > MAX_SIGNATURES, 'Signature list size too big'],
    [isOver || isOutside, 'Tx time outside of valid range'],
  ];
  return faults.flatMap(([isFault, message]) => (isFault ? [message] : []));
}

function timesOf({ meta: { creationTime, ttl } }: Payload, { lastTimeUs }: Place) {
  const createdUs = BigInt(creationTime) * 1_000_000n;
  return {
    isOver: createdUs + BigInt(ttl) * 1_000_000n <= lastTimeUs,
    isEarly: createdUs > lastTimeUs + MAX_AHEAD_US,
    isOutside: ttl < 1 || ttl > MAX_TTL,
  };
}
