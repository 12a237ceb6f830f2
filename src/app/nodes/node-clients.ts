/** Makes clients of nodes' APIs from settings. */

import { X509Certificate } from 'node:crypto';
import type { Trust } from '../../base/net/tls-trust.ts';
import {
  distrust,
  type RegularFile,
  readRegularFile,
  UnfitFile,
  whyUnreadable,
} from '../../base/system/regular-file.ts';
import { version } from '../../base/system/version.ts';
import { decodeText } from '../../base/text/plain-text.ts';
import { NodeApi, type NodeApiContext, type NodeApiOptions } from '../../node/client/node-api.ts';
import { NodeError, unlessMissing } from '../../node/http/node-error.ts';
import { hasPath, shownUrl } from '../../node/http/url.ts';
import { readSecretFile, readSecretText } from '../config/secrets.ts';
import { valuesFor } from '../config/setting-types/addresses.ts';
import { NETWORK_NAME } from '../config/setting-types/rig.ts';
import { type Config, DEFAULTS } from '../config/settings.ts';
import { orUsageError, UsageError } from '../process/exit.ts';

export type ApiSettings = Pick<Config, 'node' | 'ledger'> & Partial<Pick<Config, 'nats'>>;

/**
 * Limit on the size of an answer. It bounds the time for which a node can block the main thread: parsing 4 MiB of JSON
 * takes a third of a second (EPYC).
 */
export const RIG_LIMITS = { mostAnswerBytes: 2 ** 22 };

/** What the clients of a rig's nodes use from outside. Each member has a default. */
export type NodeContext = Pick<NodeApiContext, 'clock' | 'random' | 'transport'>;

/** The URL of a node's service port, of its P2P port, or both. */
export interface ConfiguredNode {
  readonly url?: string;
  readonly p2pUrl?: string;
}

/** @returns the configured nodes, in order of preference. The P2P port of the settings belongs to the first node */
export function configuredNodes({ node: { urls = [] }, ledger: { peerUrl } }: ApiSettings): ConfiguredNode[] {
  const p2p = peerUrl === undefined ? {} : { p2pUrl: peerUrl };
  if (urls.length === 0) return peerUrl === undefined ? [] : [p2p];
  return urls.map((url, i) => ({ url, ...(i === 0 && p2p) }));
}

/** @returns the error for a command that needs a node */
export function noNode({ nats }: Partial<Pick<Config, 'nats'>>): UsageError {
  if (nats?.urls !== undefined) {
    return new UsageError(
      'This rig mines for a fleet and has no node of its own: name one with --node URL, or ask at the coordinator.',
    );
  }
  return new UsageError('No node is configured. Name one with --node URL, or write one to a file: pickaxe init');
}

/** @returns the node's name in messages */
export function shownNode({ url, p2pUrl }: ConfiguredNode): string {
  return shownUrl((url ?? p2pUrl)!);
}

/**
 * @param network the node's network. Empty if the URL has a path, which usually names the network, or if the client is
 *   only to ask the node for its network
 * @returns a client, which the caller closes
 * @throws UsageError when a file of certificates cannot be used
 */
export function nodeApi(
  { url, p2pUrl }: ConfiguredNode,
  network: string,
  { node, ledger }: ApiSettings,
  context: NodeApiContext = {},
): NodeApi {
  const service = url !== undefined && { url, trust: nodeTrust(url, node) };
  const p2p = p2pUrl !== undefined && { p2pUrl, p2pTrust: nodeTrust(p2pUrl, node) };
  return new NodeApi({ ...service, ...p2p, network, ...words(ledger) }, context);
}

/**
 * Makes a client. The node is asked for its network if the settings name none, `network` is absent, and the URL has no
 * path.
 * @param stop ends the request for the network
 * @throws UsageError when a file of certificates cannot be used, or when the node was asked for its network and names
 *   none; NodeError when that request fails
 */
export async function openNodeApi(
  node: ConfiguredNode,
  settings: ApiSettings,
  context: NodeApiContext = {},
  network?: string,
  stop?: AbortSignal,
): Promise<NodeApi> {
  const named = settings.node.network ?? network ?? (hasPath((node.url ?? node.p2pUrl)!) ? '' : undefined);
  return nodeApi(node, named ?? (await askNetwork(node, settings, context, stop)), settings, context);
}

/** Time limit for the answers of all nodes about their network. It is short, because a person waits at a terminal. */
const NETWORK_MS = 5_000;

/**
 * Makes the message of the error that no network is configured. For this, asks the nodes in turn which network they
 * serve.
 * @returns the message, with the first network that a node names, or with the reasons why no node names one
 */
export async function describeServedNetwork(settings: ApiSettings, context: NodeApiContext = {}): Promise<string> {
  const none = 'No network is configured.';
  const stop = AbortSignal.timeout(NETWORK_MS);
  const reasons: string[] = [];
  for (const node of configuredNodes({ ...settings, ledger: DEFAULTS.ledger })) {
    try {
      const network = (await networkOf(node, settings, context, stop)) ?? '';
      if (NETWORK_NAME.test(network)) {
        return `${none} ${shownNode(node)} serves ${network}: if that is the one you mean, add --network ${network}.`;
      }
      reasons.push(`${shownNode(node)} does not say which one it serves`);
    } catch (fault) {
      if (!(fault instanceof NodeError || fault instanceof UsageError || stop.aborted)) throw fault;
      reasons.push(stop.aborted ? `${shownNode(node)} does not answer` : (fault as Error).message.replace(/\.$/, ''));
    }
  }
  return `${none} Give it with --network, like --network mainnet01. Asking for it failed: ${reasons.join('; ')}.`.replace(
    /\?\.$/,
    '?',
  );
}

function words({
  dialect,
  commandPath,
}: Config['ledger']): Pick<NodeApiOptions, 'dialect' | 'commandPath' | 'userAgent'> {
  return { dialect, ...(commandPath !== undefined && { commandPath }), userAgent: `pickaxe/${version}` };
}

async function askNetwork(...[node, ...how]: Parameters<typeof networkOf>): Promise<string> {
  const network = await networkOf(node, ...how);
  if (network !== undefined) return network;
  throw new UsageError(
    `${shownNode(node)} does not say which network it serves: give it with --network, like --network mainnet01.`,
  );
}

/** @returns the network that the node serves; undefined when the node names none */
async function networkOf(
  node: ConfiguredNode,
  settings: ApiSettings,
  context: NodeApiContext,
  stop: AbortSignal | undefined,
): Promise<string | undefined> {
  const api = nodeApi(node, '', settings, context);
  try {
    return (await unlessMissing(api.info(stop)))?.network;
  } finally {
    await api.close();
  }
}

/* Trust in the certificates of nodes and pools. */

/** @throws UsageError when a file of certificates cannot be used */
export function nodeTrust(url: string, node: Config['node']): Trust {
  return trustIn(url, node, node.insecureTls, '--node-ca-file');
}

export function poolTrust(url: string, pool: Config['pool'], { insecureTls }: Config['node']): Trust {
  return trustIn(url, pool, insecureTls, '--pool-ca-file');
}

function trustIn(
  url: string,
  { fingerprints = [], caFiles = [] }: Pick<Config['node'], 'fingerprints' | 'caFiles'>,
  insecureTls: boolean,
  option: string,
): Trust {
  const pinned = valuesFor(url, fingerprints);
  if (pinned.length > 0) return { by: 'fingerprint', fingerprints: pinned };
  if (insecureTls) return { by: 'nothing' };
  const files = valuesFor(url, caFiles);
  if (files.length === 0) return { by: 'authority' };
  return { by: 'authority', authorities: files.flatMap((file) => certificatesIn(file, option)) };
}

/** Maximum size in bytes of a file of certificates: four times the size of all certificates that browsers trust. */
const MAX_BYTES = 1_048_576;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * @param option the flag that names the file, for errors: `--node-ca-file`
 * @returns the certificates of a PEM file (RFC 7468), at least one, each as a PEM text
 * @throws UsageError when the file cannot be read or trusted, when it contains a private key or no certificate, or when
 *   a certificate in it is incomplete or cannot be parsed
 */
export function certificatesIn(file: string, option: string): string[] {
  const refuse = (what: string) => new UsageError(`${option}: ${file} ${what}`);
  let read: RegularFile;
  try {
    read = readRegularFile(file, MAX_BYTES, (facts) => distrust(file, 'settings', facts));
  } catch (fault) {
    const why = fault instanceof UnfitFile ? fault.message : whyUnreadable(fault as NodeJS.ErrnoException, file);
    throw refuse(`cannot be read: ${why}.`);
  }
  const text = textOf(read.bytes);
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw refuse(
      'contains a private key, which only its owner should have: name a file that contains only certificates.',
    );
  }
  if (!text.includes('-----BEGIN ')) {
    throw refuse(`is not PEM. To convert it from DER: openssl x509 -inform der -in FILE -out FILE.pem`);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw refuse('contains no certificate: each begins with -----BEGIN CERTIFICATE-----');
  if (certificates.length < text.split('-----BEGIN CERTIFICATE-----').length - 1) {
    throw refuse('ends in the middle of a certificate: copy it again.');
  }
  for (const [index, certificate] of certificates.entries()) {
    if (!isReadable(certificate))
      throw refuse(`contains a certificate that cannot be read, number ${index + 1}: copy it again.`);
  }
  return certificates;
}

/**
 * Reads bytes that are not valid UTF-8 as Latin-1. The file may be DER, and then `certificatesIn` throws an error that
 * explains how to convert the file.
 */
function textOf(bytes: Buffer): string {
  try {
    return decodeText(bytes);
  } catch {
    return bytes.toString('latin1');
  }
}

function isReadable(certificate: string): boolean {
  try {
    return new X509Certificate(certificate).raw.length > 0;
  } catch {
    return false;
  }
}

/* Secrets in files. */

/**
 * @param option the flag that names the file, for errors: `--http-token-file`
 * @returns the secret @throws UsageError about the file; the message repeats nothing of its content
 */
export function secretIn(file: string, option: string): string {
  return orUsageError(() => readSecretFile(file, option));
}

/** Like `secretIn`, for a secret of several lines, such as a key in PEM. */
export function secretTextIn(file: string, option: string): string {
  return orUsageError(() => readSecretText(file, option));
}
