/** What is wrong with settings together, each of which is fine by itself: a sentence each, none when all is well. Pure. */

import { hasPath } from '../node/url.ts';
import { isLoopback, parseHttpAddress } from '../text/http-address.ts';
import { ofNode, valuesFor } from './of-node.ts';
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
    ...certificates(node),
  ]);
}

/** What says which certificates are trusted must have a node to say it of, and one answer for each. */
function certificates({ urls = [], fingerprints = [], caFiles = [], insecureTls }: Config['node']): Perhaps[] {
  if (urls.length === 0) return [];
  const isFor = (url: string, texts: readonly string[]) => valuesFor(url, texts).length > 0;
  const ownFiles = urls.length === 1 ? caFiles : caFiles.filter((text) => ofNode(text)?.origin !== undefined);
  const both = urls.find((url) => isFor(url, fingerprints) && isFor(url, ownFiles));
  const either = fingerprints.length > 0 ? '--node-fingerprint' : caFiles.length > 0 && '--node-ca-file';
  return [
    ...fingerprints.map((text) => withoutNode('--node-fingerprint', text, urls) || withoutUrl(text, urls)),
    ...caFiles.map((text) => withoutNode('--node-ca-file', text, urls)),
    both !== undefined &&
      `--node-fingerprint decides alone on the certificate of ${new URL(both).origin}: remove its --node-ca-file.`,
    insecureTls && either && `--insecure-tls takes any certificate, and ${either} does not: give one of them.`,
  ];
}

/** @returns what is wrong with the node that a setting names, or with all nodes where it names none */
function withoutNode(flag: string, text: string, urls: readonly string[]): Perhaps {
  const named = ofNode(text)?.origin;
  const origins = urls.map((url) => new URL(url).origin);
  const meant = origins.filter((origin) => named === undefined || named === origin);
  if (meant.length === 0) {
    return `${flag} names ${named}, which is none of the nodes (${origins.join(', ')}): correct its URL or remove it.`;
  }
  if (meant.some((origin) => origin.startsWith('https:'))) return false;
  return `${flag} needs a node URL that begins with https://: ${meant.join(' and ')} shows no certificate.`;
}

function withoutUrl(fingerprint: string, urls: readonly string[]): Perhaps {
  if (urls.length === 1 || ofNode(fingerprint)?.origin !== undefined) return false;
  const url = urls.find((url) => /^https:/i.test(url)) ?? urls[0];
  return `There are ${urls.length} nodes: write --node-fingerprint with the URL of one of them, like ${new URL(url).origin}=${fingerprint}.`;
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
