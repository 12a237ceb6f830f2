/** `pickaxe verify HEADER`: checks a header's proof of work, and computes its block hash. */

import type { Command } from 'commander';
import { z } from 'zod';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { jsonText } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import { equalBytes, fromHex, HEADER_BYTES, toHex, viewOf, WORK_BYTES } from '../../protocol/chain/bytes.ts';
import { difficultyOf, meetsTarget } from '../../protocol/chain/target.ts';
import { parseWork } from '../../protocol/chain/work.ts';
import { type BlockHeader, blockHash, headerBytes, parseHeader, powHash } from '../../protocol/ledger/header.ts';
import { decodeBase64url, encodeBase64url, HASH_TEXT, LedgerFormatError } from '../../protocol/ledger/json.ts';
import { nonce } from '../../rig/status/shapes.ts';
import { withPrefix } from '../../rig/status/units.ts';
import type { Io, Line } from '../io.ts';

export function declare(command: Command, { io, action }: Line): void {
  command
    .argument('<header>', 'hex digits or base64url, - is standard input; in a record, its own target counts')
    .option('--json', 'one JSON object on stdout', false)
    .action(action((header, options) => runVerify(header, options, io)));
}

interface Subject {
  readonly header: BlockHeader;
  /** The target that the hash is compared with: 32 bytes, little-endian. */
  readonly target: Uint8Array;
  readonly targetFrom: VerifyReport['targetFrom'];
  /** Block hash that was given after the header, 32 bytes. */
  readonly givenHash?: Uint8Array;
}

const HASH_BYTES = 32;
/** Offset in bytes of the number of adjacents in a header. */
const COUNT_OFFSET = 48;
/** Number of bytes before the header in a work record: the chain's number and the target. */
const RECORD_HEAD_BYTES = WORK_BYTES - HEADER_BYTES;

/** @param given hex digits or base64url; `-` is standard input */
async function runVerify(given: string, { json }: { readonly json: boolean }, io: Io): Promise<number> {
  const report = verify(given === '-' ? await textOfStdin(io) : given);
  io.out(json ? `${jsonText(report)}\n` : `${linesOf(report).join('\n')}\n`);
  return report.solved && report.blockHashMatches !== false ? EXIT.done : EXIT.failed;
}

/** Maximum number of bytes of stdin, far above the size of any network's header in hex or base64url. */
const MOST_STDIN = 65_536;

async function textOfStdin(io: Io): Promise<string> {
  const bytes = await io.read(MOST_STDIN);
  return new TextDecoder().decode(bytes);
}

/**
 * @param text hex digits or base64url
 * @throws UsageError unless the text is a header, a header with its block hash, or a work record
 */
export function verify(text: string): VerifyReport {
  const { header, target, targetFrom, givenHash } = parse(bytesOf(text.trim().replace(QUOTED, '$1')));
  const hash = blockHash(header);
  return {
    solved: meetsTarget(powHash(header), target),
    powHash: toHex(powHash(header)),
    blockHash: encodeBase64url(hash),
    blockHashMatches: givenHash ? equalBytes(hash, givenHash) : null,
    chain: header.chain,
    height: header.height.toString(),
    networkNumber: header.version,
    target: toHex(target),
    targetFrom,
    difficulty: difficultyOf(target),
    nonce: header.nonce.toString(),
    creationTimeMicros: header.creationTimeUs.toString(),
  };
}

function linesOf(report: VerifyReport): string[] {
  const { blockHashMatches, solved } = report;
  const lines = [
    ['PoW hash', report.powHash],
    ['block hash', `${report.blockHash}${blockHashMatches === false ? ', but another one was given' : ''}`],
    ['chain', `${report.chain}, height ${report.height}`],
    ['target', `${report.target} (${report.targetFrom === 'header' ? 'header' : 'work record'}, both little-endian)`],
    ['difficulty', withPrefix(report.difficulty).trimEnd()],
    ['nonce', report.nonce],
    ['creation time', formatTime(BigInt(report.creationTimeMicros))],
    ['verdict', solved ? 'solved' : 'not solved: the hash is above the target'],
  ];
  return lines.map(([name, value]) => `${name.padEnd(14)} ${value}`);
}

/** Matches a JSON string. */
const QUOTED = /^"(.*)"$/;

/** Reads a text of hex digits alone as hex, because the base64url of a header always has other characters, too. */
function bytesOf(text: string): Uint8Array {
  const digits = text.replace(/^0x/i, '');
  if (/^[0-9a-f]*$/i.test(digits)) {
    if (digits.length % 2 === 0) return fromHex(digits);
    throw new UsageError(
      `A digit is missing, or there is one too many: these are ${digits.length} hex digits. ${WANTED}`,
    );
  }
  try {
    return decodeBase64url(text);
  } catch (fault) {
    if (!(fault instanceof LedgerFormatError)) throw fault;
    throw new UsageError(`This is neither hex nor base64url. ${WANTED}`);
  }
}

function parse(bytes: Uint8Array): Subject {
  try {
    const length = headerLengthOf(bytes);
    const recorded = bytes.slice(RECORD_HEAD_BYTES);
    // A header with four adjacents is as long as a work record. A record begins with a chain's number and ends with a
    // header of that chain.
    if (bytes.length === WORK_BYTES && (length !== WORK_BYTES || isRecord(bytes, recorded))) {
      const { target } = parseWork(bytes);
      return { header: parseHeader(recorded), target, targetFrom: 'work-record' };
    }
    if (length > 0 && bytes.length === length) return ofHeader(bytes);
    if (length > 0 && bytes.length === length + HASH_BYTES)
      return { ...ofHeader(bytes.slice(0, length)), givenHash: bytes.slice(length) };
  } catch (fault) {
    if (fault instanceof LedgerFormatError) throw new UsageError(`${fault.message}.`);
    throw fault;
  }
  const what = bytes.length === HASH_BYTES ? ', as many as a hash has: a hash is no header' : '';
  throw new UsageError(`${WANTED} This has ${plural(bytes.length, 'byte')}${what}.`);
}

const WANTED =
  `Give a header of ${HEADER_BYTES} bytes (${2 * HEADER_BYTES} hex digits), of as many as its network has, or of ` +
  `${HASH_BYTES} more with its block hash; or a work record of ${WORK_BYTES} bytes (${2 * WORK_BYTES} hex digits).`;

function ofHeader(bytes: Uint8Array): Subject {
  const header = parseHeader(bytes);
  return { header, target: header.target, targetFrom: 'header' };
}

/** @returns the length in bytes that follows from the header's number of adjacents; 0 if there are too few bytes */
function headerLengthOf(bytes: Uint8Array): number {
  return bytes.length < headerBytes(0) ? 0 : headerBytes(viewOf(bytes).getUint16(COUNT_OFFSET, true));
}

function isRecord(bytes: Uint8Array, recorded: Uint8Array): boolean {
  return headerLengthOf(recorded) === HEADER_BYTES && parseHeader(recorded).chain === viewOf(bytes).getUint32(0, true);
}

/** @param us microseconds since the UNIX epoch */
function formatTime(us: bigint): string {
  const date = new Date(Number(us / 1000n));
  return `${us} µs${Number.isNaN(date.getTime()) ? '' : ` (${date.toISOString()})`}`;
}

const hex32 = z.string().regex(/^[0-9a-f]{64}$/);

export const VerifyReport = z.object({
  solved: z.boolean().meta({ description: 'whether the hash of the proof of work is at most the target' }),
  powHash: hex32.meta({ description: 'little-endian' }),
  blockHash: z.string().regex(HASH_TEXT).meta({ description: 'base64url, as nodes write it' }),
  blockHashMatches: z.boolean().nullable().meta({ description: 'null: no block hash was given with the header' }),
  chain: z.int().nonnegative(),
  height: nonce,
  networkNumber: z.int().nonnegative().meta({ description: 'the number of the network, such as 5 for mainnet01' }),
  target: hex32.meta({ description: 'little-endian' }),
  targetFrom: z.enum(['header', 'work-record']),
  difficulty: z.number().nonnegative(),
  nonce,
  creationTimeMicros: z
    .string()
    .regex(/^-?\d{1,20}$/)
    .meta({ description: 'a decimal number: microseconds since the UNIX epoch' }),
});
export type VerifyReport = Readonly<z.infer<typeof VerifyReport>>;
