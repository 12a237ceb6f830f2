/** Asks who gets the rewards, and whether the node gives them work. */

import { input, select } from '@inquirer/prompts';
import { defaultAccount } from '../../app/choose-source.ts';
import { UsageError } from '../../app/exit-codes.ts';
import { nodeTrust } from '../../app/node-trust.ts';
import { account as accountType, publicKey as publicKeyType } from '../../config/setting-types/miner.ts';
import { DEFAULTS } from '../../config/settings.ts';
import { examineNode } from '../../doctor/examine-node.ts';
import type { Finding } from '../../doctor/finding.ts';
import { version } from '../../system/version.ts';
import { makeKeyFile } from '../key-file.ts';
import type { Answers } from './answers.ts';
import { say, sayFindings } from './say.ts';
import { accepts, read } from './typed.ts';

const USUAL_KEY_FILE = 'pickaxe-key.json';

type Nodes = Pick<Answers, 'urls' | 'fingerprints' | 'network'>;
type Miner = Pick<Answers, 'publicKey' | 'account'>;

/** Asks until the node takes the miner, or the user goes on without that. */
export async function askMiner(nodes: Nodes): Promise<Miner> {
  let publicKey = await askKey();
  for (;;) {
    const usual = defaultAccount([publicKey]);
    const typed = await input({ message: 'Account', default: usual, validate: accepts(accountType) });
    const account = read(accountType, typed);
    const miner = { publicKey, ...(account !== usual && { account }) };
    if (await isTaken(nodes, miner)) return miner;
    const next = await select({
      message: 'The node gives this miner no work. What now?',
      choices: [
        { name: 'write it down anyway: whoever runs the node will add this miner', value: 'go on' },
        { name: 'another account', value: 'account' },
        { name: 'another key', value: 'key' },
      ],
    });
    if (next === 'go on') return miner;
    if (next === 'key') publicKey = await askKey();
  }
}

async function askKey(): Promise<string> {
  const how = await select({
    message: 'Key for the rewards',
    choices: [
      { name: 'I have one: paste its public half', value: 'paste' },
      { name: 'make a new key pair', value: 'make' },
    ],
  });
  return how === 'make' ? await makeKey() : await pasteKey();
}

async function pasteKey(): Promise<string> {
  return read(publicKeyType, await input({ message: 'Public key, 64 hex digits', validate: accepts(publicKeyType) }));
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

async function isTaken({ urls, network, ...node }: Nodes, miner: Miner): Promise<boolean> {
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
  const entry = { account, predicate, 'public-keys': [publicKey] };
  say('Whoever runs the node lets this miner in with this entry of mining.coordination.miners:', JSON.stringify(entry));
  return false;
}
