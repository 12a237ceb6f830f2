/** Why a node says no, and what to do about it. */

import type { MinerIdentity } from './client.ts';
import { NodeError, quote } from './errors.ts';
import { CONFIG_PATH, hidePath, type NodeAddress } from './url.ts';

export function refusal(
  endpoint: 'work' | 'updates' | 'config',
  status: number,
  text: string,
  { address, miner }: { readonly address: NodeAddress; readonly miner: MinerIdentity },
): NodeError {
  const said = text === '' ? `${status}` : `${status}: "${quote(hidePath(text, address))}"`;
  if (endpoint === 'updates') {
    return new NodeError('refused', `${address.name} refuses update streams (${said}).`);
  }
  if (endpoint === 'config') {
    return new NodeError('refused', `${address.origin}${CONFIG_PATH} is not served (${said}).`);
  }
  if (status === 403) {
    return new NodeError('refused', `${address.name} does not know this miner (${said}). ${explainMiner(miner)}`);
  }
  if (status === 404) {
    const hint =
      `Mining is disabled there by default: set mining.coordination.enabled in its configuration. Or the path is wrong: ` +
      `check the network name, and whether the node serves another path such as /chainweb/0.0/<network>.`;
    return new NodeError('refused', `there is no mining API at ${address.name} (${said}). ${hint}`);
  }
  if (status === 400) {
    return new NodeError('refused', `${address.name} cannot read the request (${said}). Check account and keys.`);
  }
  const message = `${address.name} refuses to serve mining/${endpoint} (${said}). Check that it is a mining node.`;
  return new NodeError('refused', message);
}

/** What a node compares, and how people get it wrong. */
export function explainMiner({ account, predicate, publicKeys }: MinerIdentity): string {
  const bare = /^[0-9a-f]{64}$/i.test(account);
  const prefixed = /^k:/.test(account) && publicKeys[0] !== account.slice(2);
  const hint = bare
    ? ` The account is a bare key: most are called "k:${account}", which is another account.`
    : prefixed
      ? ' A "k:" account is usually followed by its own public key, and it is not.'
      : ' "k:" followed by a key, and the bare key, are different accounts.';
  return (
    `The account (${account}), the predicate (${predicate}) and the public keys must all equal those of a miner in the ` +
    `node's configuration.${hint}`
  );
}
