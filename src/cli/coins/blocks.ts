/** `pickaxe blocks`: prints the states of the blocks in the block log. With `--refresh` it asks the nodes first. */

import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { z } from 'zod';
import { blockLogFolder } from '../../app/composition/sidecars.ts';
import type { Loaded } from '../../app/config/load.ts';
import type { Config } from '../../app/config/settings.ts';
import { openLedgerViews } from '../../app/nodes/ledger-views.ts';
import { noNode } from '../../app/nodes/node-clients.ts';
import { withNetwork } from '../../app/nodes/nodes-in-turn.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { onAbort, pause } from '../../base/system/abort.ts';
import { wallMs } from '../../base/system/clock.ts';
import { csv, jsonText, oneLine } from '../../base/text/plain-text.ts';
import { type Totals, type TrackedBlock, totalsOf } from '../../node/blocks/block-index.ts';
import { BlockStore } from '../../node/blocks/block-log.ts';
import { earnedBy, payeeInPlaceOf } from '../../node/blocks/block-reward.ts';
import { APART_MS, describeStanding } from '../../node/blocks/confirmations.ts';
import { BLOCK_STATES, type BlockState } from '../../node/blocks/fate.ts';
import { Follower } from '../../node/blocks/follower.ts';
import { formatDecimal } from '../../protocol/ledger/decimal.ts';
import { encodeBase64url } from '../../protocol/ledger/json.ts';
import { aligned } from '../../rig/status/figures.ts';
import {
  acceptedBlock,
  amount,
  blockState,
  coins,
  count,
  millis,
  paidTo,
  provenCoins,
} from '../../rig/status/shapes.ts';
import { AcceptedBlocks } from '../../rig/status/status.ts';
import { formatPercent, inWords, withPrefix } from '../../rig/status/units.ts';
import { clockOf, type Io, type Line } from '../io.ts';
import { sayNodes } from '../ledger/on-nodes.ts';
import { blockStates, settingsOf, timeOf, withSettings } from '../usage/options.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'node', 'blocks.folder', 'blocks.settled-depth')
    .option('--since <time>', 'only blocks of this last time: seconds, or a time like 12h or 7d', timeOf)
    .option('--status <list>', `only blocks in these states: ${BLOCK_STATES.join(', ')}`, blockStates)
    .option('--refresh', 'ask the nodes first, which takes some seconds; a rig that mines does so by itself', false)
    .option('--watch', 'go on, and print each block that changes', false)
    .option('--json', 'one JSON object on stdout; with --watch also one for each block that changes', false)
    .option('--csv <file>', 'write comma-separated values to this file as well')
    .action(action(async (options) => runBlocks(await settingsOf(command), options, io)));
}

interface BlocksOptions {
  /** Maximum age of the blocks, in seconds. */
  readonly since?: number;
  readonly status?: readonly BlockState[];
  readonly json: boolean;
  /** Path of the file to write. An existing file is overwritten. */
  readonly csv?: string;
  readonly refresh: boolean;
  readonly watch: boolean;
}

interface Choice extends BlocksOptions {
  /** Network of the blocks to print; undefined for the blocks of all networks. */
  readonly network: string | undefined;
}

/** Maximum time by which a timer may fire too early. */
const TIMER_MS = 100;
/** Time between two readings of the block log with `--watch`. */
const LOOK_MS = 2_000;

async function runBlocks(loaded: Loaded, options: BlocksOptions, io: Io): Promise<number> {
  const { config } = loaded;
  const { urls = [] } = config.node;
  if (options.refresh && urls.length === 0) throw noNode(config);
  if (options.refresh) sayNodes(loaded, io);
  const warn = warnTo(io);
  const store = new BlockStore({ folder: blockLogFolder(config.blocks), warn });
  const stopping = new AbortController();
  const release = onAbort(io.stop, () => stopping.abort());
  try {
    await store.refresh();
    const refreshing = options.refresh ? await refresh(config, store, options.watch, io, stopping.signal) : undefined;
    const choice = { ...options, network: config.node.network };
    print(store, choice, io);
    if (options.watch) await watch(store, choice, stopping.signal, io);
    await refreshing?.();
    return EXIT.done;
  } finally {
    stopping.abort();
    release();
    await store.close();
  }
}

function warnTo(io: Io): (line: string) => void {
  return (line) => io.say(`warning: ${line}`);
}

/**
 * Asks the nodes about the blocks twice, more than `APART_MS` apart.
 * @param goesOn whether to continue to ask until `stop` fires
 * @returns a function that closes the connections to the nodes. With `goesOn`, the function first waits until `stop`
 *   has ended the requests
 */
async function refresh(
  config: Config,
  store: BlockStore,
  goesOn: boolean,
  io: Io,
  stop: AbortSignal,
): Promise<() => Promise<void>> {
  const warn = warnTo(io);
  const clock = clockOf(io);
  const { settledDepth } = config.blocks;
  const { views, close } = openLedgerViews(await withNetwork(config, warn));
  const nodeNews = (name: string, fault: string | undefined) => {
    if (fault !== undefined) warn(`${name} cannot be asked: ${fault}`);
  };
  const follower = new Follower({ views, store, settledDepth, clock, changed: () => {}, nodeNews });
  // Two rounds are needed, because the follower decides whether the chain has a block only when the nodes' answers have
  // agreed for `APART_MS`.
  await follower.round(stop);
  await pause(clock, APART_MS + TIMER_MS, stop);
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

function print(store: BlockStore, options: Choice, io: Io): void {
  const blocks = chosen(store, options, io);
  const networks = [...new Set(blocks.map(({ network }) => network))];
  if (networks.length > 1) {
    const names = oneLine(networks.join(', '), 200);
    warnTo(io)(
      `these blocks are of several networks (${names}), whose coins are not the same: choose one with --network`,
    );
  }
  // `searchedExpectedBlocks` and `notFollowed` are sums over the whole log, which a selection of blocks lacks.
  const isAll = blocks.length === store.size;
  const totals = isAll ? totalsOf(blocks, store.searchedExpectedBlocks, store.notFollowed) : totalsOf(blocks);
  if (options.csv !== undefined) writeCsv(options.csv, blocks);
  if (options.json) io.out(`${jsonText(blocksReport(blocks, totals))}\n`);
  else if (store.size === 0) io.out(`There is no block in ${store.path} yet.\n`);
  else io.out(`${[...blockTable(blocks), '', ...totalLines(totals)].join('\n')}\n`);
}

/** Until `stop` fires, prints a line for each block that changes. With `json` the line is a JSON object. */
async function watch(store: BlockStore, options: Choice, stop: AbortSignal, io: Io): Promise<void> {
  let known = new Map([...store.blocks].map((block) => [block.hash, shown(block)]));
  while (!stop.aborted) {
    await pause(clockOf(io), LOOK_MS, stop);
    await store.refresh();
    for (const block of chosen(store, options, io)) {
      if (known.get(block.hash) === shown(block)) continue;
      io.out(`${options.json ? jsonText(rowOf(block)) : blockLine(block)}\n`);
    }
    known = new Map([...store.blocks].map((block) => [block.hash, shown(block)]));
  }
}

/** @returns a text that changes when there is something new to print about the block */
function shown({ standing: { state, nodesDisagree }, reward, paidElsewhere, rewardFault }: TrackedBlock): string {
  return [state, nodesDisagree, reward !== undefined, paidElsewhere !== undefined, rewardFault].join(' ');
}

function chosen(store: BlockStore, { since, status, network: wanted }: Choice, io: Io): TrackedBlock[] {
  const fromMs = since === undefined ? Number.NEGATIVE_INFINITY : wallMs(clockOf(io)) - 1000 * since;
  return [...store.blocks].filter(({ foundMs, standing, network }) => {
    const isWanted = wanted === undefined || network === wanted;
    return isWanted && foundMs >= fromMs && (status === undefined || status.includes(standing.state));
  });
}

function writeCsv(file: string, blocks: readonly TrackedBlock[]): void {
  try {
    writeFileSync(file, blocksCsv(blocks), { mode: 0o600 });
  } catch (fault) {
    throw new UsageError(`--csv ${file} cannot be written: ${(fault as Error).message}.`);
  }
}

/* Pure functions that format the block log as JSON, as a table, and as comma-separated values. */

const BlockRow = z
  .object({
    ...acceptedBlock,
    state: blockState,
    stateTimeMillis: millis.describe('when it entered its state'),
    depth: count.describe('as last written'),
    nodesDisagree: z.boolean(),
    foundTimeMillis: millis,
    network: z.string(),
    source: z.string().describe('the node that it was sent to'),
    isAnswered: z.boolean().describe('whether that node confirmed it; otherwise its answer was lost'),
    account: z.string().describe('the one that it was mined for'),
    difficulty: amount,
    expectedBlocks: amount.describe('what the hashes since the previous one give on average'),
    answerSeconds: amount.describe('from the solution to the node’s answer'),
    switchSeconds: amount.nullable().describe('from the last New Cut to the next work'),
    reward: provenCoins.nullable(),
    fees: provenCoins.nullable(),
    paidTo: paidTo.nullable(),
    fault: z.string().nullable().describe('what a node misreported'),
    header: z.string().describe('286 bytes in base64url'),
  })
  .describe('a block of the block log');
type BlockRow = z.infer<typeof BlockRow>;

const BlockTotals = z
  .object({
    accepted: count.describe('`won` + `orphaned` + `pending`'),
    ...AcceptedBlocks.pick({ won: true, settled: true, orphaned: true, pending: true, unanswered: true, lost: true })
      .shape,
    orphanedRatio: amount.nullable().describe('`orphaned` ÷ (`won` + `orphaned`)'),
    earned: coins.describe('proven rewards and fees'),
    unproven: count.describe('won ones whose reward is not proven yet'),
    paidElsewhere: count.describe('won ones that pay another account'),
    notFollowed: count.describe('accepted ones that came too fast to be recorded one by one'),
    luckRatio: amount.nullable().describe('own accepted ones ÷ expected ones, once that is one'),
    switchSeconds: amount.nullable().describe('the median'),
  })
  .describe('sums of these blocks');

export const BlocksReport = z
  .object({ blocks: z.array(BlockRow), totals: BlockTotals })
  .describe('the block log; with `--watch`, each changed Block follows');
export type BlocksReport = z.infer<typeof BlocksReport>;

function blocksReport(blocks: readonly TrackedBlock[], totals: Totals): BlocksReport {
  const { accepted, won, orphaned, pending, unanswered, lost, unproven, paidElsewhere, notFollowed, byState } = totals;
  return {
    blocks: blocks.map(rowOf),
    totals: {
      accepted,
      won,
      settled: byState.settled,
      orphaned,
      pending,
      unanswered,
      lost,
      orphanedRatio: totals.orphanRate ?? null,
      earned: formatDecimal(totals.earned),
      unproven,
      paidElsewhere,
      notFollowed,
      luckRatio: totals.luck ?? null,
      switchSeconds: totals.switchSeconds ?? null,
    },
  };
}

function rowOf(block: TrackedBlock): BlockRow {
  const { chain, height, hash: blockHash, device, isRelay, standing, reward: proven } = block;
  const {
    network,
    node: source,
    isAnswered,
    account,
    difficulty,
    expectedBlocks,
    answerSeconds,
    switchSeconds,
  } = block;
  return {
    chain,
    height: Number(height),
    blockHash,
    device,
    isRelay,
    state: standing.state,
    stateTimeMillis: block.sinceMs,
    depth: standing.depth,
    nodesDisagree: standing.nodesDisagree,
    foundTimeMillis: block.foundMs,
    network,
    source,
    isAnswered,
    account,
    difficulty,
    expectedBlocks,
    answerSeconds,
    switchSeconds: switchSeconds ?? null,
    reward: proven?.reward === undefined ? null : formatDecimal(proven.reward),
    fees: proven ? formatDecimal(proven.fees) : null,
    paidTo: payeeOf(block) ?? null,
    fault: proven ? null : (block.rewardFault ?? null),
    header: encodeBase64url(block.header),
  };
}

/** @returns comma-separated values. The columns have the names of the JSON's fields; a field that is null is empty */
export function blocksCsv(blocks: readonly TrackedBlock[]): string {
  const names = Object.keys(BlockRow.shape) as (keyof BlockRow)[];
  return csv([names, ...blocks.map(rowOf).map((row) => names.map((name) => row[name]))]);
}

const HEADINGS = ['found', 'chain', 'height', 'state', 'earned', 'by', ''];

function blockTable(blocks: readonly TrackedBlock[]): string[] {
  return aligned([HEADINGS, ...blocks.map(cells)]);
}

function blockLine(block: TrackedBlock): string {
  return cells(block)
    .filter((text) => text !== '')
    .join('  ');
}

function cells(block: TrackedBlock): string[] {
  const { foundMs, chain, height, standing, isRefused, reward, device, rewardFault } = block;
  const payee = payeeOf(block);
  const notes = [
    payee === undefined ? '' : `it pays ${payee}`,
    describeStanding(standing, undefined, isRefused),
    reward || rewardFault === undefined ? '' : rewardFault,
  ];
  return [
    new Date(foundMs).toISOString().replace('T', ' ').slice(0, 19),
    String(chain),
    String(height),
    inWords(standing.state),
    reward ? formatDecimal(earnedBy(reward)) : '',
    oneLine(device),
    oneLine(notes.filter((note) => note !== '').join('; '), 200),
  ];
}

/** @returns the account that the block pays instead of its miner's account, if that is proven; otherwise undefined */
function payeeOf(block: TrackedBlock): string | undefined {
  return block.paidElsewhere && payeeInPlaceOf(block, block.paidElsewhere);
}

export function totalLines(totals: Totals): string[] {
  const { unanswered, lost, earned, unproven, paidElsewhere, notFollowed, luck, switchSeconds } = totals;
  const speed = [
    ...(luck === undefined ? [] : [`luck ${formatPercent(luck)}`]),
    ...(switchSeconds === undefined ? [] : [`median time from a New Cut to new work ${seconds(switchSeconds)}`]),
  ];
  return [
    blocksLine(totals),
    ...(notFollowed === 0 ? [] : [`beside these, ${notFollowed} accepted blocks came too fast to be followed`]),
    ...(unanswered + lost === 0 ? [] : [`beside these, the answer was lost: ${unanswered} unanswered, ${lost} lost`]),
    ...(paidElsewhere === 0
      ? []
      : [`won and paid to another account than yours, which earned nothing: ${paidElsewhere}`]),
    `earned ${formatDecimal(earned)} coins${unproven === 0 ? '' : `, and ${unproven} rewards that are not proven yet`}`,
    ...(speed.length === 0 ? [] : [speed.join(', ')]),
  ];
}

/** @returns a text like `3 accepted = 1 won (1 settled) + 1 orphaned + 1 pending, orphan rate 50.0 %` */
export function blocksLine({ accepted, won, orphaned, pending, byState, orphanRate }: Totals): string {
  const rate = orphanRate === undefined ? '' : `, orphan rate ${formatPercent(orphanRate, 1)}`;
  return `${accepted} accepted = ${won} won (${byState.settled} settled) + ${orphaned} orphaned + ${pending} pending${rate}`;
}

function seconds(value: number): string {
  return `${withPrefix(1000 * value).trimEnd()} ms`;
}
