/** Asks the nodes whether they give a miner work, and whether its account has its keys on every chain where it exists. */

import { defaultAccount } from '../../app/choose-source.ts';
import { nodeTrust } from '../../app/node-trust.ts';
import { DEFAULTS } from '../../config/settings.ts';
import { examineAccount, troublesOf } from '../../doctor/account.ts';
import { examineNode } from '../../doctor/examine-node.ts';
import type { Finding } from '../../doctor/finding.ts';
import { version } from '../../system/version.ts';
import type { NodeAnswers } from './answers.ts';
import { say, sayFindings } from './say.ts';

/** What keeps a miner from mining, or from mining on some chains. */
export type Trouble = 'no work' | 'other keys';

type Nodes = Pick<NodeAnswers, 'urls' | 'fingerprints' | 'network'>;
type Miner = Pick<NodeAnswers, 'publicKey' | 'account'>;

/** Says what it finds. @returns undefined when nothing keeps this miner from mining */
export async function examineMiner({ urls, network, ...node }: Nodes, miner: Miner): Promise<Trouble | undefined> {
  const { publicKey, account = defaultAccount([publicKey]) } = miner;
  const { predicate } = DEFAULTS.miner;
  const settings = { ...DEFAULTS.node, urls, ...node, ...(network !== undefined && { network }) };
  const identity = { account, predicate, publicKeys: [publicKey] };
  const findings: Finding[] = [];
  say(`asking for work as ${account} …`);
  for (const url of urls) {
    const trust = nodeTrust(url, settings);
    const question = { url, network, miner: identity, trust, userAgent: `pickaxe/${version}` };
    findings.push(...(await examineNode(question)).findings);
  }
  const config = { node: settings, ledger: DEFAULTS.ledger, miner: { ...DEFAULTS.miner, ...identity } };
  const troubles = await examineAccount(config, troublesOf);
  sayFindings([...findings, ...troubles]);
  // Where all chains have other keys, the node can give no work, whatever its operator does.
  if (troubles.some(isFault)) return 'other keys';
  if (!findings.some(isFault)) return troubles.some(({ state }) => state === 'warning') ? 'other keys' : undefined;
  return 'no work';
}

function isFault({ state }: Finding): boolean {
  return state === 'fault';
}
