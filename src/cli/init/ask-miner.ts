/** Asks who gets the rewards, and whether the node gives them work. */

import { input, select } from '@inquirer/prompts';
import { defaultAccount } from '../../app/choose-source.ts';
import { UsageError } from '../../app/exit-codes.ts';
import { nodeTrust } from '../../app/node-trust.ts';
import { account as accountType, publicKey as publicKeyType } from '../../config/setting-types/miner.ts';
import { DEFAULTS } from '../../config/settings.ts';
import { rigNamedBy } from '../../config/worker-name.ts';
import { examineNode } from '../../doctor/examine-node.ts';
import type { Finding } from '../../doctor/finding.ts';
import { hasPath } from '../../node/url.ts';
import { version } from '../../system/version.ts';
import { makeKeyFile } from '../key-file.ts';
import type { NodeAnswers } from './answers.ts';
import { askNetwork, askNodes, type Nodes } from './ask-node.ts';
import { say, sayFindings } from './say.ts';
import { accepts, read } from './typed.ts';

const USUAL_KEY_FILE = 'pickaxe-key.json';

type Miner = Pick<NodeAnswers, 'publicKey' | 'account' | 'rigName'>;

/** A key as it was typed, perhaps with a rig's name after it: `k:KEY.rig1`. */
interface TypedKey {
  readonly publicKey: string;
  readonly rigName?: string | undefined;
}

/** Asks until a node gives the miner work, or the user goes on without that. */
export async function askNodesAndMiner(): Promise<NodeAnswers> {
  let nodes = await askNodes();
  let key = await askKey();
  let miner = await askAccount(key);
  while (!(await getsWork(nodes, miner))) {
    const next = await askWhatToChange(nodes);
    if (next === 'nothing') break;
    if (next === 'node') nodes = await askNodes();
    if (next === 'network') nodes = { ...nodes, network: await askNetwork(nodes.network) };
    if (next === 'key') key = await askKey();
    if (next === 'key' || next === 'account') miner = await askAccount(key);
  }
  return { ...nodes, ...miner };
}

/** The network is part of a node URL that has a path. */
async function askWhatToChange({ urls }: Nodes) {
  return select({
    message: 'The node gives this miner no work. What would you like to change?',
    choices: [
      { name: 'nothing: the node’s operator will add this miner', value: 'nothing' },
      { name: 'the account', value: 'account' },
      { name: 'the key', value: 'key' },
      ...(urls.every(hasPath) ? [] : [{ name: 'the network', value: 'network' } as const]),
      { name: 'the node', value: 'node' },
    ],
  });
}

async function askKey(): Promise<TypedKey> {
  const how = await select({
    message: 'Key for the rewards',
    choices: [
      { name: 'I have one: paste its public half', value: 'paste' },
      { name: 'make a new key pair', value: 'make' },
    ],
  });
  return how === 'make' ? { publicKey: await makeKey() } : await pasteKey();
}

async function pasteKey(): Promise<TypedKey> {
  const typed = await input({ message: 'Public key, 64 hex digits', validate: accepts(publicKeyType) });
  return { publicKey: read(publicKeyType, typed), rigName: rigNamedBy(typed.trim()) };
}

async function askAccount({ publicKey, rigName: namedByKey }: TypedKey): Promise<Miner> {
  const usual = defaultAccount([publicKey]);
  const typed = await input({ message: 'Account', default: usual, validate: accepts(accountType) });
  const account = read(accountType, typed);
  const rigName = namedByKey ?? rigNamedBy(typed.trim());
  if (rigName !== undefined) say(`name of the rig: ${rigName}`);
  return { publicKey, ...(account !== usual && { account }), ...(rigName !== undefined && { rigName }) };
}

async function makeKey(): Promise<string> {
  for (;;) {
    const file = await input({ message: 'File for the secret half', default: USUAL_KEY_FILE, required: true });
    try {
      const publicKey = makeKeyFile(file.trim());
      say(
        `public key ${publicKey}`,
        `The secret half is in ${file.trim()}: only you can read it. Keep a copy; nobody can restore it.`,
      );
      return publicKey;
    } catch (fault) {
      if (!(fault instanceof UsageError)) throw fault;
      say(fault.message);
    }
  }
}

async function getsWork({ urls, network, ...node }: Nodes, miner: Miner): Promise<boolean> {
  const { publicKey, account = defaultAccount([publicKey]) } = miner;
  const { predicate } = DEFAULTS.miner;
  const identity = { account, predicate, publicKeys: [publicKey] };
  const findings: Finding[] = [];
  say(`asking for work as ${account} …`);
  for (const url of urls) {
    const trust = nodeTrust(url, { ...DEFAULTS.node, ...node });
    const question = { url, network, miner: identity, trust, userAgent: `pickaxe/${version}` };
    findings.push(...(await examineNode(question)).findings);
  }
  sayFindings(findings);
  if (findings.every(({ state }) => state !== 'fault')) return true;
  // An entry for this miner would not help at a node of another network.
  if (findings.some(({ about, state }) => about === 'network' && state === 'warning')) return false;
  const entry = { account, predicate, 'public-keys': [publicKey] };
  say('The node’s operator can add this miner with this entry in mining.coordination.miners:', JSON.stringify(entry));
  return false;
}
