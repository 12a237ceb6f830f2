/** `pickaxe nodes`: prints the state of the configured nodes, and whether they give work. */

import type { Command } from 'commander';
import { z } from 'zod';
import type { Loaded } from '../../app/config/load.ts';
import { noNode } from '../../app/nodes/node-clients.ts';
import { openCandidates } from '../../app/nodes/node-watch.ts';
import { EXIT } from '../../app/process/exit.ts';
import { isFault } from '../../base/finding.ts';
import { systemClock } from '../../base/system/clock.ts';
import { jsonText, oneLine } from '../../base/text/plain-text.ts';
import { type Surveyed, survey } from '../../rig/survey/comparison.ts';
import type { Io, Line } from '../io.ts';
import { settingsOf, withSettings } from '../usage/options.ts';
import { sayNodes } from './on-nodes.ts';

export function declare(command: Command, { io, action }: Line): void {
  withSettings(command, 'node', 'ledger', 'miner')
    .option('--json', 'one JSON object on stdout', false)
    .action(action(async (options) => runNodes(await settingsOf(command), options, io)));
}

interface NodesOptions {
  readonly json: boolean;
}

/** @throws UsageError when no node is configured, or when the network is not known */
async function runNodes(loaded: Loaded, options: NodesOptions, io: Io): Promise<number> {
  const { config } = loaded;
  if ((config.node.urls ?? []).length === 0) throw noNode(config);
  sayNodes(loaded, io);
  const { candidates, network, close } = await openCandidates(config);
  try {
    const surveyed = await survey(candidates, network, systemClock);
    const report: NodesReport = { network: network === '' ? null : network, nodes: surveyed.map(toJson) };
    io.out(`${options.json ? jsonText(report) : surveyed.flatMap(linesOf).join('\n')}\n`);
    const isUsable = surveyed.some(({ problems }) => !problems.some(isFault));
    return isUsable ? EXIT.done : EXIT.failed;
  } finally {
    await close();
  }
}

function stateOf(problems: Surveyed['problems']): 'ok' | 'warning' | 'fault' {
  return problems.some(isFault) ? 'fault' : problems.length > 0 ? 'warning' : 'ok';
}

function linesOf({ candidate, look, behind, problems, givesWork }: Surveyed): string[] {
  const { cut, software, newestBlockUs } = look;
  const facts = [
    ...(cut ? [`cut height ${cut.height}`] : []),
    ...(behind ? [`${behind} behind`] : []),
    ...(newestBlockUs === undefined ? [] : [`newest block ${ageS(newestBlockUs)} s old`]),
    ...(software === undefined ? [] : [`software ${software}`]),
    ...(givesWork ? ['gives work'] : []),
  ];
  return [
    `${stateOf(problems).padEnd(9)}${candidate.name}${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`,
    ...problems.map(({ what }) => `${' '.repeat(9)}${oneLine(what)}`),
  ];
}

function ageS(timeUs: bigint): number {
  return Math.max(0, Number((systemClock.nowUs() - timeUs) / 1_000_000n));
}

function toJson({ candidate, look, behind, problems, givesWork }: Surveyed): NodeReport {
  const { cut, software, network, newestBlockUs, skew } = look;
  return {
    name: candidate.name,
    state: stateOf(problems),
    problems: problems.map(({ state, what }) => ({ state, what: oneLine(what) })),
    network: network ?? null,
    software: software ?? null,
    cutHeight: cut === undefined ? null : Number(cut.height),
    blocksBehind: behind ?? null,
    newestBlockAgeSeconds: newestBlockUs === undefined ? null : ageS(newestBlockUs),
    clockAheadSeconds: skew === undefined ? null : -Number((skew.leastUs + skew.mostUs) / 2_000n) / 1_000,
    givesWork: givesWork ?? null,
  };
}

const count = z.int().nonnegative();

const NodeReport = z.object({
  name: z.string().meta({ description: 'the URL of the node, as it is shown' }),
  state: z.enum(['ok', 'warning', 'fault']),
  problems: z.array(z.object({ state: z.enum(['warning', 'fault']), what: z.string() })),
  network: z.string().nullable(),
  software: z.string().nullable().meta({ description: 'the version of its software' }),
  cutHeight: count.nullable(),
  blocksBehind: count.nullable().meta({ description: 'blocks of each chain behind the best node' }),
  newestBlockAgeSeconds: count.nullable(),
  clockAheadSeconds: z.number().nullable().meta({ description: 'how far its clock is ahead of ours' }),
  givesWork: z.boolean().nullable().meta({ description: 'null: it was not asked' }),
});
type NodeReport = Readonly<z.infer<typeof NodeReport>>;

export const NodesReport = z.object({
  network: z.string().nullable().meta({ description: 'the wanted one; null where neither settings nor a URL name it' }),
  nodes: z.array(NodeReport),
});
export type NodesReport = Readonly<z.infer<typeof NodesReport>>;
