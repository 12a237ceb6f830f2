/** From settings to a source. */

import { minerContradictions } from '../config/contradictions.ts';
import type { Config } from '../config/settings.ts';
import type { Events } from '../events/events.ts';
import { FailoverSource } from '../source/failover.ts';
import { NodeSource } from '../source/node/node-source.ts';
import { nodeAddress, toldApart } from '../source/node/url.ts';
import type { WorkSource } from '../source/source.ts';
import { version } from '../version.ts';
import { refuse, UsageError } from './exit-codes.ts';

/** The settings that say where to mine and for whom. */
export type NodeSettings = Pick<Config, 'node' | 'miner'>;

/** @throws UsageError that says which setting is missing or wrong. */
export function nodeSource({ node, miner: wishes }: NodeSettings, events: Events): WorkSource {
  const { urls = [], network, insecureTls } = node;
  const { account, predicate, publicKeys = [] } = wishes;
  if (urls.length === 0) {
    throw new UsageError(
      'No node is configured. Try pickaxe on a mock node:   pickaxe demo\n' +
        'Or mine on a real one:  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY\n' +
        'To write both down once: pickaxe init',
    );
  }
  if (publicKeys.length === 0) {
    throw new UsageError('Give the miner’s key with --public-key HEX. For a new one: pickaxe keygen FILE');
  }
  refuse(minerContradictions({ node, miner: wishes }));
  const miner = { account: account ?? defaultAccount(publicKeys), predicate, publicKeys };
  const sources = namesOf(urls, network ?? '').map((name, index) => {
    const url = urls[index];
    const options = { url, name, network: network ?? '', miner, insecureTls, userAgent: `pickaxe/${version}` };
    return new NodeSource(options, { emit: events.emit });
  });
  return sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit: events.emit });
}

function namesOf(urls: readonly string[], network: string): string[] {
  try {
    return toldApart(urls.map((url) => nodeAddress(url, network).name));
  } catch (fault) {
    throw new UsageError((fault as Error).message);
  }
}

/** Of a miner with one key. */
export function defaultAccount([publicKey]: readonly string[]): string {
  return `k:${publicKey}`;
}
