/** Asks for the URLs of nodes or pools, and connects to each URL at once to check it. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
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
import { accepts, type NodeAnswers, type Password, type Places, type PoolAnswers, read } from './answers.ts';
import type { Questions } from './questions.ts';

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
async function askUrls(
  ask: Questions,
  wanted: Wanted,
): Promise<{ readonly places: Places; readonly network?: string }> {
  const { kind, usual } = wanted;
  const first = await askUrl(ask, wanted, `${kind === 'node' ? 'Node' : 'Pool'} URL`, usual);
  const all = [first];
  while (all.length < MOST) {
    const next = await askUrl(ask, wanted, `Another ${kind}, for when that one fails (none: leave it empty)`, NONE);
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
async function askUrl(ask: Questions, wanted: Wanted, message: string, usual?: string): Promise<Asked> {
  const isUrl = accepts(wanted.type);
  for (;;) {
    const typed = await ask.input({
      message,
      ...(usual && { default: usual }),
      validate: (text) => text.trim() === usual || isUrl(text),
    });
    if (typed.trim() === NONE) return { url: NONE };
    const url = read(wanted.type, typed);
    ask.say(`asking ${url} …`);
    const { isThere, ...found } = await attempt(ask, wanted, url);
    if (isThere || (await ask.confirm('Use it anyway?'))) return { url, ...found };
  }
}

/**
 * @param fingerprint fingerprint of a certificate that the user trusts. Without it, an authority must have signed the
 * certificate
 */
async function attempt(
  ask: Questions,
  wanted: Wanted,
  url: string,
  fingerprint?: string,
): Promise<Omit<Asked, 'url'> & { readonly isThere: boolean }> {
  const trust: Trust = fingerprint === undefined ? BY_AUTHORITY : { by: 'fingerprint', fingerprints: [fingerprint] };
  const { findings, network, untrusted } = await wanted.attempt(url, trust);
  if (untrusted !== undefined && fingerprint === undefined && (await recognizes(ask, wanted, untrusted)))
    return attempt(ask, wanted, url, untrusted);
  ask.sayFindings(findings);
  const isThere = !findings.some(isFault);
  return { ...(fingerprint !== undefined && { fingerprint }), ...(network !== undefined && { network }), isThere };
}

async function recognizes(ask: Questions, { kind }: Wanted, fingerprint: string): Promise<boolean> {
  ask.say(
    `No known authority has signed its certificate: ${OFTEN[kind]} sign their own. Its fingerprint is`,
    `  ${fingerprint}`,
    COMPARE[kind],
    `  ${hexOf(fingerprint)}`,
  );
  return ask.confirm(`Is that the fingerprint of your ${kind}?`);
}

const OFTEN = { node: 'nodes often', pool: 'some pools' } as const;
const COMPARE = {
  node: 'On the node’s own machine this prints the same as hex digits: openssl x509 -in FILE -noout -fingerprint -sha256',
  pool: 'Compare it with the one that the pool’s operator gives. The same as hex digits:',
} as const;

const USUAL_URL = 'http://127.0.0.1:1848';
const USUAL_NETWORK = 'mainnet01';

export type Nodes = Pick<NodeAnswers, 'urls' | 'fingerprints' | 'network'>;

export async function askNodes(ask: Questions): Promise<Nodes> {
  const { places, network } = await askUrls(ask, {
    kind: 'node',
    type: nodeUrl,
    usual: USUAL_URL,
    attempt: attemptNode,
  });
  if (places.urls.every(hasPath)) return places;
  return { ...places, network: await askNetwork(ask, network) };
}

/** @param usual the default answer */
export async function askNetwork(ask: Questions, usual = USUAL_NETWORK): Promise<string> {
  const network = await ask.input({ message: 'Network', default: usual, validate: acceptsNetwork });
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
export async function askPools(ask: Questions, folder: string): Promise<PoolAnswers> {
  let places = await askPlaces(ask);
  let user = await askUser(ask);
  let password = await askPassword(ask);
  while (!(await getsWork(ask, places, user, password))) {
    const next = await askWhatToChange(ask);
    if (next === 'nothing') break;
    if (next === 'pool') places = await askPlaces(ask);
    if (next === 'user') user = await askUser(ask);
    if (next === 'password') password = await askPassword(ask);
  }
  return { ...places, user, ...(password !== '' && { password: await askPasswordFile(ask, folder, password) }) };
}

async function askWhatToChange(ask: Questions) {
  return ask.select('The pool gives this user no work. What would you like to change?', [
    { name: 'nothing: that will be put right at the pool', value: 'nothing' },
    { name: 'the user', value: 'user' },
    { name: 'the password', value: 'password' },
    { name: 'the pool', value: 'pool' },
  ]);
}

async function askPlaces(ask: Questions): Promise<Places> {
  return (await askUrls(ask, { kind: 'pool', type: poolUrl, attempt: attemptPool })).places;
}

/** Checks only whether there is a pool at the URL, because the user's name is not known yet. */
async function attemptPool(url: string, trust: Trust): Promise<Attempt> {
  return examinePool({ url, trust });
}

async function askUser(ask: Questions): Promise<string> {
  const message = 'User, as the pool wants it: usually NAME.WORKER';
  return read(poolUser, await ask.input({ message, validate: accepts(poolUser) }));
}

/** @returns the password; an empty text if the pool needs none */
async function askPassword(ask: Questions): Promise<string> {
  const typed = await ask.password({
    message: 'Password (most pools need none: leave it empty)',
    mask: true,
    validate: accepts(passwordType),
  });
  return read(passwordType, typed);
}

async function askPasswordFile(ask: Questions, folder: string, text: string): Promise<Password> {
  const typed = await ask.input({
    message: 'File for the password',
    default: USUAL_PASSWORD_FILE,
    validate: (name) => whyNotNew(folder, name.trim()) ?? true,
  });
  const file = typed.trim();
  ask.say(`The password goes to ${resolve(folder, file)}: only you will be able to read it.`);
  return { file, text };
}

function whyNotNew(folder: string, name: string): string | undefined {
  if (name === '') return 'Give the name of a file.';
  const file = resolve(folder, name);
  return existsSync(file) ? `${file} already exists and stays as it is: give another file.` : undefined;
}

async function getsWork(
  ask: Questions,
  { urls, fingerprints }: Places,
  user: string,
  password: string,
): Promise<boolean> {
  const account = { user, password: password === '' ? USUAL_PASSWORD : password };
  const pool = { ...DEFAULTS.pool, ...(fingerprints && { fingerprints }) };
  const findings: Finding[] = [];
  ask.say(`asking for work as ${user} …`);
  for (const url of urls) {
    const trust = poolTrust(url, pool, DEFAULTS.node);
    findings.push(...(await examinePool({ url, account, trust })).findings);
  }
  ask.sayFindings(findings);
  return !findings.some(isFault);
}
