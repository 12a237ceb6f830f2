/** From --node, --network and the key options to a source. */

import type { Events } from '../events/events.ts';
import { FailoverSource } from '../source/failover.ts';
import { NodeSource } from '../source/node/node-source.ts';
import type { WorkSource } from '../source/source.ts';
import { version } from '../version.ts';
import { UsageError } from './exit-codes.ts';

export interface NodeOptions {
  /** In order of preference. */
  readonly node?: readonly string[];
  readonly network?: string;
  readonly publicKey?: readonly string[];
  readonly account?: string;
  readonly predicate: 'keys-all' | 'keys-any' | 'keys-2';
  readonly insecureTls?: boolean;
}

/** @throws UsageError that says which option is missing or wrong. */
export function nodeSource(options: NodeOptions, events: Events): WorkSource {
  const { node: urls = [], network, publicKey: publicKeys = [], predicate, insecureTls = false } = options;
  if (urls.length === 0) {
    throw new UsageError(
      'No node is configured. Try pickaxe on a mock node:   pickaxe demo\n' +
        'Or mine on a real one:  pickaxe mine --node http://HOST:1848 --network mainnet01 --public-key KEY',
    );
  }
  if (publicKeys.length === 0) {
    throw new UsageError('Give the miner’s key with --public-key HEX. For a new one: pickaxe keygen FILE');
  }
  if (options.account === undefined && publicKeys.length > 1) {
    throw new UsageError('Several keys have no default account: name it with --account NAME.');
  }
  if (options.account === '') throw new UsageError('The account is empty: give its name, or leave --account out.');
  if (network === undefined && urls.some((url) => URL.canParse(url) && !hasPath(url))) {
    throw new UsageError('Name the network with --network, like --network mainnet01.');
  }
  if (network !== undefined && !/^[a-z0-9][a-z0-9-]{0,63}$/i.test(network)) {
    throw new UsageError(`"${network}" is not a network: write it like mainnet01 or testnet04.`);
  }
  const miner = { account: options.account ?? `k:${publicKeys[0]}`, predicate, publicKeys };
  const sources = urls.map((url) => {
    try {
      const options = { url, network: network ?? '', miner, insecureTls, userAgent: `pickaxe/${version}` };
      return new NodeSource(options, { emit: events.emit });
    } catch (fault) {
      throw new UsageError((fault as Error).message);
    }
  });
  return sources.length === 1 ? sources[0] : new FailoverSource({ sources, emit: events.emit });
}

function hasPath(url: string): boolean {
  return new URL(url).pathname.replace(/\/+$/, '') !== '';
}
