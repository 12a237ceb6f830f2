/** Asks for nodes, the key and the account, and checks whether the nodes give work for this miner. */

import {
  account as accountType,
  publicKey as publicKeyType,
  rigNamedBy,
} from '../../../app/config/setting-types/rig.ts';
import { DEFAULTS } from '../../../app/config/settings.ts';
import { examineAccount } from '../../../app/doctor/examine-sources.ts';
import { nodeTrust } from '../../../app/nodes/node-clients.ts';
import { UsageError } from '../../../app/process/exit.ts';
import { type Finding, isFault } from '../../../base/finding.ts';
import { accountOf } from '../../../node/client/miner-identity.ts';
import { hasPath } from '../../../node/http/url.ts';
import { guardOfName } from '../../../node/sweep/transfer-commands.ts';
import { examineNode } from '../../../rig/survey/examine-node.ts';
import { makeKeyFile } from '../keygen.ts';
import { accepts, type NodeAnswers, read } from './answers.ts';
import { askNetwork, askNodes, type Nodes } from './ask-sources.ts';
import type { Questions } from './questions.ts';

const USUAL_KEY_FILE = 'pickaxe-key.json';

type Miner = Pick<NodeAnswers, 'publicKey' | 'account' | 'rigName'>;

/** A key as it was typed, perhaps followed by a rig's name: `k:KEY.rig1`. */
interface TypedKey {
  readonly publicKey: string;
  readonly rigName?: string | undefined;
}

/**
 * Asks until the nodes give work for the miner and the account has the miner's keys. The user may also accept that
 * there is no work, or that the keys are different.
 */
export async function askNodesAndMiner(ask: Questions): Promise<NodeAnswers> {
  let nodes = await askNodes(ask);
  let key = await askKey(ask);
  let miner = await askAccount(ask, key);
  for (;;) {
    const trouble = await examineMiner(ask, nodes, miner);
    const next = trouble === undefined ? 'nothing' : await askWhatToChange(ask, nodes, trouble);
    if (next === 'nothing') break;
    if (next === 'node') nodes = await askNodes(ask);
    if (next === 'network') nodes = { ...nodes, network: await askNetwork(ask, nodes.network) };
    if (next === 'key') key = await askKey(ask);
    if (next === 'key' || next === 'account') miner = await askAccount(ask, key);
  }
  return { ...nodes, ...miner };
}

const QUESTIONS = {
  'no work': {
    message: 'The node gives this miner no work. What would you like to change?',
    nothing: 'nothing: the node’s operator will add this miner',
  },
  'other keys': {
    message: 'The account has other keys than this miner. What would you like to change?',
    nothing: 'nothing: go on with this account and this key',
  },
} as const;

/** The network is not offered as a choice if all node URLs have a path, because the path contains the network. */
async function askWhatToChange(ask: Questions, { urls }: Nodes, trouble: Trouble) {
  const { message, nothing } = QUESTIONS[trouble];
  return ask.select(message, [
    { name: nothing, value: 'nothing' },
    { name: 'the account', value: 'account' },
    { name: 'the key', value: 'key' },
    ...(urls.every(hasPath) ? [] : [{ name: 'the network', value: 'network' } as const]),
    { name: 'the node', value: 'node' },
  ]);
}

async function askKey(ask: Questions): Promise<TypedKey> {
  const how = await ask.select('Key for the rewards', [
    { name: 'I have one: paste its public half', value: 'paste' },
    { name: 'make a new key pair', value: 'make' },
  ]);
  return how === 'make' ? { publicKey: await makeKey(ask) } : await pasteKey(ask);
}

async function pasteKey(ask: Questions): Promise<TypedKey> {
  const typed = await ask.input({ message: 'Public key, 64 hex digits', validate: accepts(publicKeyType) });
  return { publicKey: read(publicKeyType, typed), rigName: rigNamedBy(typed.trim()) };
}

async function askAccount(ask: Questions, { publicKey, rigName: namedByKey }: TypedKey): Promise<Miner> {
  const usual = accountOf(publicKey);
  const typed = await ask.input({ message: 'Account', default: usual, validate: accepts(accountType) });
  const account = read(accountType, typed);
  if (!guardOfName(account)) {
    ask.say(
      'Anybody can take a name that is not k: and a key, on each chain where nobody has it yet. You could not be paid there.',
    );
  }
  const rigName = namedByKey ?? rigNamedBy(typed.trim());
  if (rigName !== undefined) ask.say(`name of the rig: ${rigName}`);
  return { publicKey, ...(account !== usual && { account }), ...(rigName !== undefined && { rigName }) };
}

async function makeKey(ask: Questions): Promise<string> {
  for (;;) {
    const file = await ask.input({ message: 'File for the secret half', default: USUAL_KEY_FILE, required: true });
    try {
      const publicKey = makeKeyFile(file.trim());
      ask.say(
        `public key ${publicKey}`,
        `The secret half is in ${file.trim()}: only you can read it. Keep a copy; nobody can restore it.`,
      );
      return publicKey;
    } catch (fault) {
      if (!(fault instanceof UsageError)) throw fault;
      ask.say(fault.message);
    }
  }
}

/** `other keys`: on some or all chains, the account has other keys than the miner, who cannot mine on those chains. */
type Trouble = 'no work' | 'other keys';

type ExaminedNodes = Pick<NodeAnswers, 'urls' | 'fingerprints' | 'network'>;
type ExaminedMiner = Pick<NodeAnswers, 'publicKey' | 'account'>;

/** @returns undefined when nothing keeps this miner from mining */
async function examineMiner(
  ask: Questions,
  { urls, network, ...node }: ExaminedNodes,
  miner: ExaminedMiner,
): Promise<Trouble | undefined> {
  const { publicKey, account = accountOf(publicKey) } = miner;
  const settings = { ...DEFAULTS.node, urls, ...node, ...(network !== undefined && { network }) };
  const identity = { account, predicate: DEFAULTS.miner.predicate, publicKeys: [publicKey] };
  const findings: Finding[] = [];
  ask.say(`asking for work as ${account} …`);
  for (const url of urls) {
    const question = { url, network, miner: identity, trust: nodeTrust(url, settings) };
    findings.push(...(await examineNode(question)).findings);
  }
  const config = { node: settings, ledger: DEFAULTS.ledger, miner: identity };
  const troubles = (await examineAccount(config)).filter(({ state }) => state !== 'ok');
  ask.sayFindings([...findings, ...troubles]);
  // If the account has other keys on all chains, no node can give work, so the keys are the trouble to report.
  if (troubles.some(isFault)) return 'other keys';
  if (!findings.some(isFault)) return troubles.some(({ state }) => state === 'warning') ? 'other keys' : undefined;
  return 'no work';
}
