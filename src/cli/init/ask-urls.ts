/** Asks for the URLs of nodes or pools, and tries each of them at once. */

import { confirm, input } from '@inquirer/prompts';
import { originOf } from '../../config/per-node.ts';
import type { SettingType } from '../../config/setting-types/setting-type.ts';
import type { Finding } from '../../doctor/finding.ts';
import { hexOf } from '../../net/certificate.ts';
import { BY_AUTHORITY, type Trust } from '../../net/trust.ts';
import type { Places } from './answers.ts';
import { say, sayFindings } from './say.ts';
import { accepts, read } from './typed.ts';

/** What is asked for, and how it is tried. */
export interface Wanted {
  readonly kind: 'node' | 'pool';
  readonly type: SettingType<string>;
  /** The URL that Enter alone stands for. */
  readonly usual?: string;
  readonly attempt: (url: string, trust: Trust) => Promise<Attempt>;
}

export interface Attempt {
  /** What to show. There is a fault among them if nothing was found at the URL. */
  readonly findings: readonly Finding[];
  /** The fingerprint of the certificate that was shown, where that is not trusted. */
  readonly untrusted?: string;
  /** The network that a node says it serves. */
  readonly network?: string;
}

interface Asked {
  readonly url: string;
  /** The fingerprint of its certificate, where that is the only reason to trust it. */
  readonly fingerprint?: string;
  readonly network?: string;
}

/** More nodes or pools for failover would help nobody. */
const MOST = 5;
const NONE = '';

/** @returns them, and the network that the first one says it serves */
export async function askUrls(wanted: Wanted): Promise<{ readonly places: Places; readonly network?: string }> {
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

/** @param usual what Enter alone stands for; without it, Enter alone is not enough */
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

/** @param fingerprint that of the certificate that the user trusts; without one, an authority must have signed it */
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
  const isThere = findings.every(({ state }) => state !== 'fault');
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
