/** What is wrong with settings together, each of which is fine by itself: a sentence each, none when all is well. Pure. */

import { isLoopback, parseHttpAddress } from '../http-address.ts';
import { hasPath } from '../source/node/url.ts';
import type { Config } from './settings.ts';

/** Of whom and where mining is for: what `pickaxe mine` needs beside a node and a key. */
export function minerContradictions({ node, miner }: Pick<Config, 'node' | 'miner'>): string[] {
  const { urls = [], network } = node;
  const { publicKeys = [], account } = miner;
  return present([
    publicKeys.length > 1 &&
      account === undefined &&
      'Several keys have no default account: name it with --account NAME.',
    network === undefined && !urls.every(hasPath) && 'Name the network with --network, like --network mainnet01.',
  ]);
}

/** Of all that mines, on whatever node. */
export function rigContradictions({ devices, http, webhook, alarm }: Config): string[] {
  return present([
    ...temperatures(devices),
    ...server(http),
    webhook.url !== undefined && webhook.urlFile !== undefined && 'Give --webhook or --webhook-file, not both.',
    webhook.tokenFile !== undefined &&
      webhook.url === undefined &&
      webhook.urlFile === undefined &&
      '--webhook-token-file needs a --webhook.',
    ...leastRates(alarm),
  ]);
}

type Perhaps = string | false;

function present(all: readonly Perhaps[]): string[] {
  return all.filter((one) => one !== false);
}

function temperatures({ tempLimit, tempResume }: Config['devices']): Perhaps[] {
  if (tempResume === undefined) return [];
  return [
    tempLimit === 'none' && '--temp-resume needs a --temp-limit.',
    tempLimit !== 'none' &&
      tempResume >= tempLimit &&
      `--temp-resume (${tempResume}) must be below --temp-limit (${tempLimit}).`,
  ];
}

function server({ listen, tokenFile, control }: Config['http']): Perhaps[] {
  const address = listen === undefined ? undefined : parseHttpAddress(listen);
  if (!address) {
    return [(tokenFile !== undefined || control) && '--http-token-file and --http-control need --http [HOST:]PORT.'];
  }
  return [
    tokenFile === undefined &&
      !isLoopback(address.host) &&
      `--http ${listen} can be reached by other machines: name a --http-token-file FILE with a token.`,
  ];
}

function leastRates({ minHashrate = [] }: Config['alarm']): string[] {
  const whose = minHashrate.map((text) => /^(.*)=/.exec(text)?.[1] ?? 'the rig');
  const twice = new Set(whose.filter((one, index) => whose.indexOf(one) < index));
  return [...twice].map((one) => `--min-hashrate is given twice for ${one}.`);
}
