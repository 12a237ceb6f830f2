/** The errors for requests that a node refuses, with advice for people. */

import { NodeError, quote } from './errors.ts';
import type { MinerIdentity } from './miner-identity.ts';
import { CONFIG_PATH, hidePath, type NodeAddress } from './url.ts';

/** @param text the body of the answer */
export function workRefusal(status: number, text: string, miner: MinerIdentity, address: NodeAddress): NodeError {
  const message = workMessage(status, said(status, text, address), miner, address);
  return new NodeError('refused', message, status === 403 ? { nodeConfiguration: nodeConfigurationFor(miner) } : {});
}

export function updatesRefusal(status: number, address: NodeAddress): NodeError {
  return new NodeError('refused', `${address.name} refuses update streams (${status}).`);
}

/** @param text the body of the answer */
export function configRefusal(status: number, text: string, address: NodeAddress): NodeError {
  const message = `${address.origin}${CONFIG_PATH} is not served (${said(status, text, address)}).`;
  return new NodeError('refused', message);
}

function workMessage(status: number, said: string, miner: MinerIdentity, { name }: NodeAddress): string {
  switch (status) {
    case 400:
      return `${name} cannot read the request (${said}). Check account and keys.`;
    case 403:
      return `${name} does not know this miner (${said}). ${explainMiner(miner)}`;
    case 404:
      return (
        `there is no mining API at ${name} (${said}). Either the network or the path is wrong (some nodes serve ` +
        '/chainweb/0.0/<network>), or mining is off at the node, as it is by default: set ' +
        'mining.coordination.enabled in the node’s configuration.'
      );
    default:
      return `${name} refuses to serve mining/work (${said}). Check that it is a mining node.`;
  }
}

function said(status: number, text: string, address: NodeAddress): string {
  return text === '' ? `${status}` : `${status}: "${quote(hidePath(text, address))}"`;
}

/** @returns lines of YAML for the node's configuration that let this miner mine there; the first one says where they belong */
export function nodeConfigurationFor({ account, predicate, publicKeys }: MinerIdentity): string[] {
  // A JSON string is a YAML string, whatever characters an account has.
  const keys = publicKeys.map((key) => JSON.stringify(key)).join(', ');
  return [
    '# for the node’s configuration: for its section chainweb, where it has one',
    'mining:',
    '  coordination:',
    '    enabled: true',
    '    miners:',
    `      - account: ${JSON.stringify(account)}`,
    `        predicate: ${predicate}`,
    `        public-keys: [${keys}]`,
  ];
}

/** @returns for people: what a node compares, and the usual mistakes */
export function explainMiner({ account, predicate, publicKeys }: MinerIdentity): string {
  const bare = /^[0-9a-f]{64}$/i.test(account);
  const prefixed = /^k:/.test(account) && publicKeys[0] !== account.slice(2);
  const hint = bare
    ? ` The account is a bare key. Most accounts begin with "k:", and "k:${account}" is a different account.`
    : prefixed
      ? ' The account begins with "k:", but the key behind that is not the first public key.'
      : ' "k:" followed by a key and the bare key are two different accounts.';
  return (
    `The account (${account}), the predicate (${predicate}) and the public keys must all equal those of a miner in the ` +
    `node's configuration.${hint}`
  );
}
