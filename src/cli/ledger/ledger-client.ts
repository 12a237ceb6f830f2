/** Code that is shared by the commands that ask the configured nodes about the ledger. */

import type { Command } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import type { NodesInTurn } from '../../app/nodes/nodes-in-turn.ts';
import { EXIT } from '../../app/process/exit.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { Block } from '../../node/client/blocks.ts';
import type { NodeApi } from '../../node/client/node-api.ts';
import type { Peer } from '../../protocol/ledger/cut.ts';
import { type BlockHeader, blockHash, type Dialect, headerToJson } from '../../protocol/ledger/header.ts';
import { type ExactJson, encodeBase64url, LedgerFormatError, stringifyExactJson } from '../../protocol/ledger/json.ts';
import { parseMiner, payloadWithOutputsToJson } from '../../protocol/ledger/payload.ts';
import type { Io } from '../io.ts';
import { withSettings } from '../usage/options.ts';
import { onNodes, sayNodes } from './on-nodes.ts';

/** Commander's options for a command that few people need. Help omits such commands, and docs/node.md explains them. */
export const RARE = { hidden: true };

export function reading(ledger: Command, name: string, about: string): Command {
  return withSettings(ledger.command(name), 'node', 'ledger')
    .description(about)
    .option('--json', 'JSON on stdout, one value a line', false);
}

/** @param act called with the first node that can be reached @throws UsageError when no node is configured */
export function withNode(loaded: Loaded, io: Io, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, io, async (nodes) => {
    await nodes.ask(act);
    return EXIT.done;
  });
}

/** Like `withNode`, but only the first configured node is asked, even if it cannot be reached. */
export function withFirstNode(loaded: Loaded, io: Io, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withNodes(loaded, io, async (nodes) => {
    await nodes.askOne(act);
    return EXIT.done;
  });
}

/** Like `withNode`, but `act` gets all nodes, and returns the exit code. */
export async function withNodes(loaded: Loaded, io: Io, act: (nodes: NodesInTurn) => Promise<number>): Promise<number> {
  try {
    sayNodes(loaded, io);
    return await onNodes(loaded.config, { say: io.say }, act);
  } catch (fault) {
    if (!(fault instanceof LedgerFormatError)) throw fault;
    io.say(`error: ${oneLine(fault.message)}.`);
    return EXIT.failed;
  }
}

const GAP = '  ';
/** Maximum length of a printed text that a node has sent, in characters. */
const MOST = 80;

/** Prints a JSON value on one line. Its numbers keep all digits. */
export function printJson(io: Io, json: ExactJson): void {
  io.out(`${stringifyExactJson(json)}\n`);
}

export function printTable(io: Io, rows: readonly (readonly [string, string])[]): void {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, value] of rows) io.out(`${name.padEnd(width)}${GAP}${value}\n`);
}

/** Makes a text from a node or from another person safe to print. @returns one line of at most MOST characters */
export function safe(text: string): string {
  return oneLine(text, MOST);
}

function timeOf({ creationTimeUs }: BlockHeader): string {
  const time = new Date(Number(creationTimeUs / 1000n));
  return Number.isNaN(time.getTime()) ? `${creationTimeUs} µs` : time.toISOString();
}

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

/** Time between two lines about progress, in ms. */
const EVERY_MS = 2_000;

/** Prints the progress of a long command to stderr, if stderr is a terminal and stdout is not. */
export class Progress {
  readonly #io: Io;
  #shownAtMs = performance.now();

  constructor(io: Io) {
    this.#io = io;
  }

  show(text: () => string): void {
    if (!this.#io.showsProgress || performance.now() - this.#shownAtMs < EVERY_MS) return;
    this.#shownAtMs = performance.now();
    this.#io.say(text());
  }
}
