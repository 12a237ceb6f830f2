/** What `pickaxe ledger` prints: rows for people, or one JSON value a line. */

import { encodeBase64url } from '../../../ledger/base64url.ts';
import { parseMiner } from '../../../ledger/coinbase.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { type ExactJson, stringifyExactJson } from '../../../ledger/exact-json.ts';
import { type BlockHeader, blockHash } from '../../../ledger/header.ts';
import { type Dialect, headerToJson } from '../../../ledger/header-json.ts';
import { payloadWithOutputsToJson } from '../../../ledger/payload.ts';
import type { Peer } from '../../../ledger/peer.ts';
import type { Block } from '../../../node/api/blocks.ts';
import { oneLine } from '../../../text/one-line.ts';

const GAP = '  ';
/** The most characters of a foreign text, such as an account. */
const MOST = 80;

export function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Numbers keep their digits. */
export function printJson(json: ExactJson): void {
  printLine(stringifyExactJson(json));
}

/** @param rows name and value */
export function printTable(rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) printLine(`${name.padEnd(width)}${GAP}${value}`);
}

/** For what the reader should know and programs should not read. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** @returns a foreign text, safe to print */
export function safe(text: string): string {
  return oneLine(text, MOST);
}

export function timeOf({ creationTimeUs }: BlockHeader): string {
  const time = new Date(Number(creationTimeUs / 1000n));
  return Number.isNaN(time.getTime()) ? `${creationTimeUs} µs` : time.toISOString();
}

/** One line of a list of blocks. */
export function blockLine({ header, payload }: Block): string {
  const { height } = header;
  const transactions = `${payload.transactions.length} tx`.padStart(6);
  return [`${height}`, encodeBase64url(blockHash(header)), timeOf(header), transactions, accountIn(payload)].join(GAP);
}

export function blockToJson({ header, payload }: Block, dialect: Dialect, network: string): ExactJson {
  return {
    header: headerToJson(header, dialect, network),
    payloadWithOutputs: payloadWithOutputsToJson(payload),
  };
}

export function peerLine({ id, address: { hostname, port } }: Peer): string {
  return `${(id ?? 'certificate of an authority').padEnd(43)}${GAP}${hostname}${GAP}${port}`;
}

/** @returns the account of the block's miner, safe to print */
export function accountIn({ minerData }: { readonly minerData: Uint8Array }): string {
  try {
    return safe(parseMiner(minerData).account);
  } catch (error) {
    if (error instanceof LedgerFormatError) return '?';
    throw error;
  }
}

/** The time between two lines about progress, in ms. */
const EVERY_MS = 2_000;

/** Tells on stderr how far a long command is, where nothing on the terminal shows it. */
export class Progress {
  readonly #isShown = process.stderr.isTTY && !process.stdout.isTTY;
  #toldAtMs = performance.now();

  tell(text: () => string): void {
    if (!this.#isShown || performance.now() - this.#toldAtMs < EVERY_MS) return;
    this.#toldAtMs = performance.now();
    note(text());
  }
}
