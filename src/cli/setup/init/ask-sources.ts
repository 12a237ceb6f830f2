/** Asks for the URLs of nodes or pools, and connects to each URL at once to check it. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { confirm, password as hiddenInput, input, select } from '@inquirer/prompts';
import { USUAL_PASSWORD } from '../../../app/composition/choose-source.ts';
import { misspeltNetwork } from '../../../app/config/known-names.ts';
import { nodeUrl, originOf, poolUrl } from '../../../app/config/setting-types/addresses.ts';
import { type SettingType, text } from '../../../app/config/setting-types/basic.ts';
import { network as networkType, poolUser } from '../../../app/config/setting-types/rig.ts';
import { DEFAULTS } from '../../../app/config/settings.ts';
import { poolTrust } from '../../../app/nodes/node-clients.ts';
import { type Finding, isFault } from '../../../base/finding.ts';
import { hexOf } from '../../../base/net/certificate.ts';
import { BY_AUTHORITY, type Trust } from '../../../base/net/tls-trust.ts';
import { hasPath } from '../../../node/http/url.ts';
import { examineNode } from '../../../rig/survey/examine-node.ts';
import { examinePool } from '../../../rig/survey/examine-pool.ts';
import {
  accepts,
  type NodeAnswers,
  type Password,
  type Places,
  type PoolAnswers,
  read,
  say,
  sayFindings,
} from './answers.ts';

/** What to ask for, nodes or pools, and how each URL is checked. */
interface Wanted {
  readonly kind: 'node' | 'pool';
  readonly type: SettingType<string>;
  /** The default answer for the first URL. If absent, a URL must be typed. */
  readonly usual?: string;
  readonly attempt: (url: string, trust: Trust) => Promise<Attempt>;
}

interface Attempt {
  /** Findings to print. A fault among them means that no node or pool was found at the URL. */
  readonly findings: readonly Finding[];
  /** Fingerprint of the presented certificate, if it is not trusted. */
  readonly untrusted?: string;
  /** The network that the node names. */
  readonly network?: string;
}

interface Asked {
  readonly url: string;
  /** Fingerprint of the certificate, if only the user trusts it. */
  readonly fingerprint?: string;
  readonly network?: string;
}

/** Maximum number of nodes or pools. More of them would be of no use for failover. */
const MOST = 5;
const NONE = '';

/** @returns the URLs with fingerprints, and the network that the first node reports */
async function askUrls(wanted: Wanted): Promise<{ readonly places: Places; readonly network?: string }> {
  const { kind, usual } = wanted;
  const first = await askUrl(wanted, `${kind === 'node' ? 'Node' : 'Pool'} URL`, usual);
  const all = [first];
  while (all.length < MOST) {
    const next = await askUrl(wanted, `Another ${kind}, for when that one fails (none: leave it empty)`, NONE);
    if (next.url === NONE) break;
    all.push(next);
  }
  return { places: placesOf(all), ...(first.network !== undefined && { network: first.network }) };
}

function placesOf(all: readonly Asked[]): Places {
  const fingerprints = all.flatMap(({ url, fingerprint }) => {
    const origin = originOf(url);
    return fingerprint === undefined || origin === undefined ? [] : { origin, value: fingerprint };
  });
  return { urls: all.map(({ url }) => url), ...(fingerprints.length > 0 && { fingerprints }) };
}

/** @param usual the default answer, which may be empty for no further URL. If absent, a URL must be typed */
async function askUrl(wanted: Wanted, message: string, usual?: string): Promise<Asked> {
  const isUrl = accepts(wanted.type);
  for (;;) {
    const typed = await input({
      message,
      ...(usual && { default: usual }),
      validate: (text) => text.trim() === usual || isUrl(text),
    });
    if (typed.trim() === NONE) return { url: NONE };
    const url = read(wanted.type, typed);
    say(`asking ${url} …`);
    const { isThere, ...found } = await attempt(wanted, url);
    if (isThere || (await confirm({ message: 'Use it anyway?', default: false }))) return { url, ...found };
  }
}

/**
 * @param fingerprint fingerprint of a certificate that the user trusts. Without it, an authority must have signed the
 * certificate
 */
async function attempt(
  wanted: Wanted,
  url: string,
  fingerprint?: string,
): Promise<Omit<Asked, 'url'> & { readonly isThere: boolean }> {
  const trust: Trust = fingerprint === undefined ? BY_AUTHORITY : { by: 'fingerprint', fingerprints: [fingerprint] };
  const { findings, network, untrusted } = await wanted.attempt(url, trust);
  if (untrusted !== undefined && fingerprint === undefined && (await recognizes(wanted, untrusted)))
    return attempt(wanted, url, untrusted);
  sayFindings(findings);
  const isThere = !findings.some(isFault);
  return { ...(fingerprint !== undefined && { fingerprint }), ...(network !== undefined && { network }), isThere };
}

async function recognizes({ kind }: Wanted, fingerprint: string): Promise<boolean> {
  say(
    `No known authority has signed its certificate: ${OFTEN[kind]} sign their own. Its fingerprint is`,
    `  ${fingerprint}`,
    COMPARE[kind],
    `  ${hexOf(fingerprint)}`,
  );
  return confirm({ message: `Is that the fingerprint of your ${kind}?`, default: false });
}

const OFTEN = { node: 'nodes often', pool: 'some pools' } as const;
const COMPARE = {
  node: 'On the node’s own machine this prints the same as hex digits: openssl x509 -in FILE -noout -fingerprint -sha256',
  pool: 'Compare it with the one that the pool’s operator gives. The same as hex digits:',
} as const;

const USUAL_URL = 'http://127.0.0.1:1848';
const USUAL_NETWORK = 'mainnet01';

export type Nodes = Pick<NodeAnswers, 'urls' | 'fingerprints' | 'network'>;

export async function askNodes(): Promise<Nodes> {
  const { places, network } = await askUrls({ kind: 'node', type: nodeUrl, usual: USUAL_URL, attempt: attemptNode });
  if (places.urls.every(hasPath)) return places;
  return { ...places, network: await askNetwork(network) };
}

/** @param usual the default answer */
export async function askNetwork(usual = USUAL_NETWORK): Promise<string> {
  const network = await input({ message: 'Network', default: usual, validate: acceptsNetwork });
  return network.trim();
}

const isNetwork = accepts(networkType);

function acceptsNetwork(text: string): true | string {
  const meant = misspeltNetwork(text.trim());
  if (meant === undefined) return isNetwork(text);
  return `Did you mean ${meant}? If not, write the network into the node URL: http://HOST:PORT/ledger/0.0/${text.trim()}`;
}

/**
 * Checks only the connection, the network that the node names, and the node's clock, because the network to mine on and
 * the key are not known yet.
 */
async function attemptNode(url: string, trust: Trust): Promise<Attempt> {
  const { findings, ...found } = await examineNode({ url, trust });
  const relevant = findings.filter(
    ({ about, state }) =>
      about === 'connection' ||
      (about === 'network' && found.network !== undefined) ||
      (about === 'clock' && state !== 'ok'),
  );
  return { ...found, findings: relevant };
}

const USUAL_PASSWORD_FILE = 'pool.password';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses control characters
const passwordType = text(/^[^\x00-\x1f\x7f]{0,256}$/, 'Give a password of at most 256 characters.');

/** Asks until the pools give work, or the user accepts that they do not. @param folder the folder of the settings */
export async function askPools(folder: string): Promise<PoolAnswers> {
  let places = await askPlaces();
  let user = await askUser();
  let password = await askPassword();
  while (!(await getsWork(places, user, password))) {
    const next = await askWhatToChange();
    if (next === 'nothing') break;
    if (next === 'pool') places = await askPlaces();
    if (next === 'user') user = await askUser();
    if (next === 'password') password = await askPassword();
  }
  return { ...places, user, ...(password !== '' && { password: await askPasswordFile(folder, password) }) };
}

async function askWhatToChange() {
  return select({
    message: 'The pool gives this user no work. What would you like to change?',
    choices: [
      { name: 'nothing: that will be put right at the pool', value: 'nothing' },
      { name: 'the user', value: 'user' },
      { name: 'the password', value: 'password' },
      { name: 'the pool', value: 'pool' },
    ],
  });
}

async function askPlaces(): Promise<Places> {
  return (await askUrls({ kind: 'pool', type: poolUrl, attempt: attemptPool })).places;
}

/** Checks only whether there is a pool at the URL, because the user's name is not known yet. */
async function attemptPool(url: string, trust: Trust): Promise<Attempt> {
  return examinePool({ url, trust });
}

async function askUser(): Promise<string> {
  const message = 'User, as the pool wants it: usually NAME.WORKER';
  return read(poolUser, await input({ message, validate: accepts(poolUser) }));
}

/** @returns the password; an empty text if the pool needs none */
async function askPassword(): Promise<string> {
  const typed = await hiddenInput({
    message: 'Password (most pools need none: leave it empty)',
    mask: true,
    validate: accepts(passwordType),
  });
  return read(passwordType, typed);
}

async function askPasswordFile(folder: string, text: string): Promise<Password> {
  const typed = await input({
    message: 'File for the password',
    default: USUAL_PASSWORD_FILE,
    validate: (name) => whyNotNew(folder, name.trim()) ?? true,
  });
  const file = typed.trim();
  say(`The password goes to ${resolve(folder, file)}: only you will be able to read it.`);
  return { file, text };
}

function whyNotNew(folder: string, name: string): string | undefined {
  if (name === '') return 'Give the name of a file.';
  const file = resolve(folder, name);
  return existsSync(file) ? `${file} already exists and stays as it is: give another file.` : undefined;
}

async function getsWork({ urls, fingerprints }: Places, user: string, password: string): Promise<boolean> {
  const account = { user, password: password === '' ? USUAL_PASSWORD : password };
  const pool = { ...DEFAULTS.pool, ...(fingerprints && { fingerprints }) };
  const findings: Finding[] = [];
  say(`asking for work as ${user} …`);
  for (const url of urls) {
    const trust = poolTrust(url, pool, DEFAULTS.node);
    findings.push(...(await examinePool({ url, account, trust })).findings);
  }
  sayFindings(findings);
  return !findings.some(isFault);
}
