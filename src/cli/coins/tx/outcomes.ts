/**
 * Proves the results that `tx poll` and `tx send` show. If a node reports wrongly that a command has failed, a user may
 * send coins twice. So a result is read from its block, whose proof of work must not be much easier than those of the
 * network's other blocks.
 */

import { NodeSweepLedger } from '../../../app/nodes/node-sweep-ledger.ts';
import type { NodesInTurn } from '../../../app/nodes/nodes-in-turn.ts';
import type { KnownWork } from '../../../node/blocks/known-work.ts';
import { NodeError } from '../../../node/http/node-error.ts';
import { MARGIN_S } from '../../../node/sweep/command-search.ts';
import { type Searched, SweepFault, type SweepLedger } from '../../../node/sweep/sweep-ledger.ts';
import { lifeOf } from '../../../node/sweep/transfer-commands.ts';
import type { Command } from '../../../protocol/ledger/command/command.ts';
import { LedgerFormatError } from '../../../protocol/ledger/json.ts';
import { hasWork } from '../../../protocol/ledger/least-work.ts';
import type { ShownResult } from './results.ts';

interface Outcomes {
  readonly chain: number;
  /** Network of the commands; null for the node's network. */
  readonly network: string | null;
  /** The commands of the results, if the user has given a file of commands. */
  readonly commands?: readonly Command[];
  readonly results: readonly ShownResult[];
}

/**
 * @returns the results with their proofs. A result that is neither proven nor trusted becomes pending, and `doubt` has
 *   the reason
 */
export type Prove = (outcomes: Outcomes, nodes: NodesInTurn, stop: AbortSignal) => Promise<ShownResult[]>;

/**
 * @param known loads the known work, once, when the first result is to be proven
 * @param trusts whether the nodes' claims are enough where work does not prove a result
 */
export function proverOf(known: () => Promise<KnownWork>, trusts: boolean): Prove {
  let asked: Promise<KnownWork> | undefined;
  return async ({ chain, network: wanted, commands = [], results }, nodes, stop) => {
    if (results.every(({ status }) => status === 'pending')) return [...results];
    const network = wanted ?? (await nodes.ask(async (api) => api.network));
    if (!hasWork(network))
      return results.map((each) => (each.status === 'pending' ? each : { ...each, provenBy: 'node' }));
    asked ??= known();
    const ledger = new NodeSweepLedger(network, nodes, await asked);
    const proven: ShownResult[] = [];
    for (const result of results) {
      const command = commands.find(({ hash }) => hash === result.requestKey);
      proven.push(await prove(result, { ledger, chain, command, trusts, stop }));
    }
    return proven;
  };
}

interface Question {
  readonly ledger: SweepLedger;
  readonly chain: number;
  readonly command: Command | undefined;
  readonly trusts: boolean;
  readonly stop: AbortSignal;
}

async function prove(result: ShownResult, question: Question): Promise<ShownResult> {
  const { status, requestKey } = result;
  if (status === 'pending' || requestKey === null) return result;
  try {
    const searched = await search(result, requestKey, question);
    const contradiction = contradictionOf(result, searched);
    if (contradiction !== undefined) return doubted(result, contradiction);
    const { work, nodes, why } = searched.evidence;
    if (work === 'enough') return { ...result, provenBy: 'work' };
    if (question.trusts) return { ...result, provenBy: nodes > 1 ? 'nodes' : 'node' };
    return doubted(result, `${why}. If the nodes are your own, add --trust-nodes`);
  } catch (error) {
    if (!(error instanceof SweepFault)) throw error;
    // Some gateways serve no blocks, so the search ends with a NodeError. After another fault, such as a contradiction
    // between nodes, the node's report is not trusted.
    if (question.trusts && error.cause instanceof NodeError) return { ...result, provenBy: 'node' };
    return doubted(result, error.message);
  }
}

async function search(
  { status, block }: ShownResult,
  key: string,
  { ledger, chain, command, stop }: Question,
): Promise<Searched> {
  const life = lifeIn(command);
  const query = { what: 'command', key, madeS: life?.madeS ?? 0 } as const;
  if (status === 'expired') {
    if (life === undefined) throw new SweepFault('its time to live is not known');
    const { endS } = life;
    return await ledger.search(chain, query, { untilS: endS + MARGIN_S, expiresS: endS }, stop);
  }
  const height = block?.height ?? -1;
  if (height < 0) throw new SweepFault('the node names no block that has it');
  return await ledger.search(chain, query, { height }, stop);
}

function contradictionOf({ status }: ShownResult, { found }: Searched): string | undefined {
  if (status !== 'expired') {
    return found?.result.result.status === status ? undefined : 'the block that the node names does not say so';
  }
  return (
    found && `it is in the block of height ${found.height}, but the node does not know its result: ask another node`
  );
}

const WORDS = {
  success: 'it has succeeded',
  failure: 'it has failed',
  expired: 'no block has it',
  pending: '',
} as const;

function doubted(result: ShownResult, why: string): ShownResult {
  const doubt = `by the word of the node ${WORDS[result.status]}, but that is not proven: ${why}`;
  return { ...result, status: 'pending', data: null, error: null, provenBy: null, doubt };
}

function lifeIn(command: Command | undefined): ReturnType<typeof lifeOf> | undefined {
  try {
    return command && lifeOf(command);
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}
