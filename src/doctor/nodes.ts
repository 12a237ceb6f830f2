/** Examines all nodes that are configured. */

import { defaultAccount, insecureTlsRisk } from '../app/choose-source.ts';
import { UsageError } from '../app/exit-codes.ts';
import { nodeTrust } from '../app/node-trust.ts';
import type { Work } from '../chain/work.ts';
import { type Config, DEFAULTS } from '../config/settings.ts';
import { numberRepeated, shownUrl } from '../node/url.ts';
import { version } from '../system/version.ts';
import { type Examination, examineNode, type NodeQuestion } from './examine-node.ts';
import { type Finding, softened } from './finding.ts';

/** Examines one node; tests replace it. */
export type Ask = (question: NodeQuestion) => Promise<Examination>;

/** Is called with the work that a node or a pool gives. */
export type OnWork = (work: Work) => void;

/** @returns findings, with faults only if no node is left to mine on */
export async function examineNodes(
  { node, miner }: Pick<Config, 'node' | 'miner'>,
  ask: Ask = examineNode,
  onWork: OnWork = () => {},
) {
  const { urls = [], network } = node;
  if (urls.length === 0) {
    const what = 'no node is configured, so none was asked, and the clock was not checked';
    const why = 'pickaxe mine does not start without one';
    return [
      { about: 'node', state: 'fault', what, why, mend: 'run pickaxe init, or give --node URL' } satisfies Finding,
    ];
  }
  const { publicKeys = [], predicate, account } = miner;
  const identity =
    publicKeys.length === 0 ? undefined : { account: account ?? defaultAccount(publicKeys), predicate, publicKeys };
  const userAgent = `pickaxe/${version}`;
  const names = numberRepeated(urls.map(shownUrl));
  const each = await Promise.all(
    urls.map(async (url, index) =>
      findingsOf(node, names[index], ask, onWork, { url, network, miner: identity, userAgent }),
    ),
  );
  const canMine = each.some((findings) => findings.every(({ state }) => state !== 'fault'));
  const findings = each.flat().map((finding) => (canMine ? softened(finding) : finding));
  const risk = insecureTlsRisk({ node, pool: DEFAULTS.pool });
  return [
    ...findings,
    ...(risk ? [{ about: 'node', state: 'warning', ...risk } satisfies Finding] : []),
    ...(identity ? [] : [NO_KEY]),
  ];
}

const NO_KEY: Finding = {
  about: 'miner',
  state: 'fault',
  what: 'no public key is configured, so no work was asked for',
  why: 'pickaxe mine does not start without one, since rewards go to a key',
  mend: 'run pickaxe init, or give --public-key HEX; pickaxe keygen pickaxe-key.json makes a key',
};

async function findingsOf(
  node: Config['node'],
  name: string,
  ask: Ask,
  onWork: OnWork,
  question: NodeQuestion,
): Promise<Finding[]> {
  const { url } = question;
  try {
    const { findings, work } = await ask({ ...question, trust: nodeTrust(url, node) });
    if (work) onWork(work);
    return findings.map(({ about, what, ...rest }) => ({ ...rest, about: 'node', what: `${name} ${about}: ${what}` }));
  } catch (fault) {
    if (!(fault instanceof UsageError)) throw fault;
    return [
      {
        about: 'node',
        state: 'fault',
        what: fault.message,
        why: 'pickaxe mine does not start until this is corrected',
      },
    ];
  }
}
