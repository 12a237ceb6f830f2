/** Runs a command that reads the ledger of the configured nodes, or changes the state of one. */

import { EXIT } from '../../app/exit.ts';
import type { NodesInTurn } from '../../app/nodes-in-turn.ts';
import type { Loaded } from '../../config/load.ts';
import type { Peer } from '../../ledger/cut.ts';
import { type BlockHeader, blockHash, type Dialect, headerToJson } from '../../ledger/header.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, stringifyExactJson } from '../../ledger/json.ts';
import { parseMiner, payloadWithOutputsToJson } from '../../ledger/payload.ts';
import type { Block } from '../../node/api/blocks.ts';
import type { NodeApi } from '../../node/api/node-api.ts';
import { oneLine } from '../../text/plain-text.ts';
import { onNodes } from '../on-nodes.ts';

/**
 * @param act asks the first node that can be reached
 * @returns the exit code
 * @throws UsageError when no node is configured
 */
export function withNode(loaded: Loaded, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, async (nodes) => {
    await nodes.ask(act);
    return EXIT.done;
  });
}

/** The same with exactly one node, the first one, and no other. */
export function withFirstNode(loaded: Loaded, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, async (nodes) => {
    await nodes.askOne(act);
    return EXIT.done;
  });
}

/** The same with a command that has an exit code of its own. */
export async function withNodes({ config }: Loaded, act: (nodes: NodesInTurn) => Promise<number>): Promise<number> {
  try {
    return await onNodes(config, { say: note }, act);
  } catch (fault) {
    if (!(fault instanceof LedgerFormatError)) throw fault;
    note(`error: ${oneLine(fault.message)}.`);
    return EXIT.failed;
  }
}

/* What `pickaxe ledger` prints: rows for people, or one JSON value a line. */

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
