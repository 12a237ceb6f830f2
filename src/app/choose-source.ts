/** Makes the source of work that the settings ask for. */

import { minerContradictions } from '../config/contradictions.ts';
import type { Config } from '../config/settings.ts';
import type { Events } from '../events/events.ts';
import { nodeAddress, numberRepeated, shownUrl } from '../node/url.ts';
import { FailoverSource } from '../source/failover.ts';
import { NodeSource } from '../source/node/node-source.ts';
import type { WorkSource } from '../source/source.ts';
import { version } from '../system/version.ts';
import { refuse, UsageError } from './exit-codes.ts';
import { nodeTrust } from './node-trust.ts';

/** The settings that name the nodes to mine on and the miner to mine for. */
export type NodeSettings = Pick<Config, 'node' | 'miner'>;

/** @throws UsageError that says which setting is missing or wrong. */
export function chooseSource({ node, miner: wishes }: NodeSettings, events: Events): WorkSource {
  const { urls = [], network } = node;
  const { account, predicate, publicKeys = [] } = wishes;
  if (urls.length === 0) {
    throw new UsageError(
      'No node is configured. To write one to a file, run: pickaxe init\n' +
        'To give it here: pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY\n' +
        'To try pickaxe on a mock node: pickaxe demo',
    );
  }
  if (publicKeys.length === 0) {
    throw new UsageError(
      'No key is configured. Give your public key with --public-key HEX, or make a new one with: pickaxe keygen pickaxe-key.json',
    );
  }
  refuse(minerContradictions({ node, miner: wishes }));
  const miner = { account: account ?? defaultAccount(publicKeys), predicate, publicKeys };
  const sources = namesOf(urls, network ?? '').map((name, index) => {
    const url = urls[index];
    const trust = nodeTrust(url, node);
    const options = { url, name, network: network ?? '', miner, trust, userAgent: `pickaxe/${version}` };
    return new NodeSource(options, { emit: events.emit });
  });
  return sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit: events.emit });
}

function namesOf(urls: readonly string[], network: string): string[] {
  try {
    return numberRepeated(urls.map((url) => nodeAddress(url, network).name));
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}

/** @returns what `--insecure-tls` risks and what to use instead; undefined when no https node is left unchecked */
export function insecureTlsRisk({ urls = [], insecureTls }: Config['node']) {
  const unchecked = urls.filter((url) => /^https:/i.test(url));
  if (!insecureTls || unchecked.length === 0) return undefined;
  return {
    what: `--insecure-tls accepts any certificate from ${unchecked.map(shownUrl).join(', ')}`,
    why: 'somebody in between can read and change everything that is sent',
    mend: 'give the fingerprint of the node’s certificate with --node-fingerprint instead',
  };
}

/** @returns the account that belongs to the first key: `k:` and the key */
export function defaultAccount([publicKey]: readonly string[]): string {
  return `k:${publicKey}`;
}
