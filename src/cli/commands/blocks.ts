/** `pickaxe blocks`: prints what became of the blocks in the block log, and can ask the nodes again. */

import { writeFileSync } from 'node:fs';
import { EXIT, UsageError } from '../../app/exit-codes.ts';
import { openLedgerViews } from '../../app/ledger-views.ts';
import { noNode } from '../../app/node-api.ts';
import { withNetwork } from '../../app/nodes-in-turn.ts';
import { onSignals } from '../../app/run-miner.ts';
import { blockLogFolder } from '../../app/sidecars/blocks.ts';
import type { Block } from '../../blocks/book.ts';
import { Follower } from '../../blocks/follower.ts';
import { APART_MS } from '../../blocks/states.ts';
import { BlockStore } from '../../blocks/store.ts';
import { totalsOf } from '../../blocks/totals.ts';
import type { Config } from '../../config/settings.ts';
import type { BlockState } from '../../events/vocabulary.ts';
import { pause } from '../../system/abort.ts';
import { systemClock, wallMs } from '../../system/clock.ts';
import { jsonText } from '../../text/json-text.ts';
import { oneLine } from '../../text/one-line.ts';
import { blockLine, blocksCsv, blocksReport, blockTable, rowOf, totalLines } from '../blocks-report.ts';

export interface BlocksOptions {
  /** Only blocks found in the last so many seconds. */
  readonly since?: number;
  /** Only blocks in these states. */
  readonly status?: readonly BlockState[];
  readonly json: boolean;
  /** A file for spreadsheets, which is written anew. */
  readonly csv?: string;
  /** Whether to ask the configured nodes first. */
  readonly refresh: boolean;
  /** Whether to go on and print what changes. */
  readonly watch: boolean;
}

/** Which blocks are wanted. */
interface Choice extends BlocksOptions {
  /** Undefined: those of all networks. */
  readonly network: string | undefined;
}

/** Timers may end a moment early. */
const TIMER_MS = 100;
/** How often the log is looked at for what has changed. */
const LOOK_MS = 2_000;

export async function runBlocks(config: Config, options: BlocksOptions): Promise<number> {
  const { urls = [] } = config.node;
  if (options.refresh && urls.length === 0) throw noNode();
  const warn = (line: string) => process.stderr.write(`warning: ${line}\n`);
  const store = new BlockStore({ folder: blockLogFolder(config.blocks), warn });
  const stopping = new AbortController();
  const release = onSignals(() => stopping.abort());
  try {
    await store.refresh();
    const refreshing = options.refresh ? await refresh(config, store, options.watch, warn, stopping.signal) : undefined;
    const choice = { ...options, network: config.node.network };
    print(store, choice, warn);
    if (options.watch) await watch(store, choice, stopping.signal);
    await refreshing?.();
    return EXIT.done;
  } finally {
    stopping.abort();
    release();
    await store.close();
  }
}

/** @returns what waits for the end of the asking, which ends with `stop` */
async function refresh(
  config: Config,
  store: BlockStore,
  goesOn: boolean,
  warn: (line: string) => void,
  stop: AbortSignal,
): Promise<() => Promise<void>> {
  const { settledDepth } = config.blocks;
  const { views, close } = openLedgerViews(await withNetwork(config, warn));
  const nodeNews = (name: string, fault: string | undefined) => {
    if (fault !== undefined) warn(`${name} cannot be asked: ${fault}`);
  };
  const follower = new Follower({ views, store, settledDepth, clock: systemClock, changed: () => {}, nodeNews });
  // Nothing is decided on one look.
  await follower.round(stop);
  await pause(APART_MS + TIMER_MS, stop);
  await follower.round(stop);
  const following = goesOn
    ? follower.run(stop).catch((fault) => {
        warn(`the nodes are not asked any more, please report it: ${(fault as Error).stack}`);
      })
    : undefined;
  return async () => {
    await following;
    await close();
  };
}

function print(store: BlockStore, options: Choice, warn: (line: string) => void): void {
  const blocks = chosen(store, options);
  const networks = [...new Set(blocks.map(({ network }) => network))];
  if (networks.length > 1) {
    const names = oneLine(networks.join(', '), 200);
    warn(`these blocks are of several networks (${names}), whose coins are not the same: choose one with --network`);
  }
  // What was searched in vain, or was only counted, is not kept for each network.
  const isAll = blocks.length === store.size;
  const totals = isAll ? totalsOf(blocks, store.searchedExpectedBlocks, store.notFollowed) : totalsOf(blocks);
  if (options.csv !== undefined) writeCsv(options.csv, blocks);
  if (options.json) process.stdout.write(`${jsonText(blocksReport(blocks, totals))}\n`);
  else if (store.size === 0) process.stdout.write(`There is no block in ${store.path} yet.\n`);
  else process.stdout.write(`${[...blockTable(blocks), '', ...totalLines(totals)].join('\n')}\n`);
}

/** Prints each block that changes, until `stop`: a line for people, or an object on a line for programs. */
async function watch(store: BlockStore, options: Choice, stop: AbortSignal): Promise<void> {
  let known = new Map([...store.blocks].map((block) => [block.hash, shown(block)]));
  while (!stop.aborted) {
    await pause(LOOK_MS, stop);
    await store.refresh();
    for (const block of chosen(store, options)) {
      if (known.get(block.hash) === shown(block)) continue;
      process.stdout.write(`${options.json ? jsonText(rowOf(block)) : blockLine(block)}\n`);
    }
    known = new Map([...store.blocks].map((block) => [block.hash, shown(block)]));
  }
}

/** What changes when there is something to print. */
function shown({ standing: { state, nodesDisagree }, reward, paidElsewhere, rewardFault }: Block): string {
  return [state, nodesDisagree, reward !== undefined, paidElsewhere !== undefined, rewardFault].join(' ');
}

function chosen(store: BlockStore, { since, status, network: wanted }: Choice): Block[] {
  const fromMs = since === undefined ? Number.NEGATIVE_INFINITY : wallMs(systemClock) - 1000 * since;
  return [...store.blocks].filter(({ foundMs, standing, network }) => {
    const isWanted = wanted === undefined || network === wanted;
    return isWanted && foundMs >= fromMs && (status === undefined || status.includes(standing.state));
  });
}

/** @throws UsageError when the file cannot be written */
function writeCsv(file: string, blocks: readonly Block[]): void {
  try {
    writeFileSync(file, blocksCsv(blocks), { mode: 0o600 });
  } catch (fault) {
    throw new UsageError(`--csv ${file} cannot be written: ${(fault as Error).message}.`);
  }
}
