/** Types of settings: addresses of nodes, pools and servers, and files and fingerprints of their certificates. */

import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { parseFingerprint } from '../../../base/net/certificate.ts';
import {
  formatHttpAddress,
  isPoolUrl,
  parseHttpAddress,
  parseNatsUrl,
  parsePoolUrl,
} from '../../../base/text/addresses.ts';
import { oneLine } from '../../../base/text/plain-text.ts';
import { MAX_CHARACTERS, parsed, type SettingType, text } from './basic.ts';

/* Settings with a value for each node or pool: `https://node.example=VALUE`, or VALUE alone for all others. */

export interface PerNode {
  /** `https://node.example`: a node's URL without its path, or a pool's URL. Undefined if the value stands alone. */
  readonly origin?: string;
  readonly value: string;
}

const SCHEME = /^(?:https?|(?:stratum\+)?(?:tcp|ssl|tls)|stratum):\/\//i;

/** @returns undefined for a text that begins like a URL, but is not a URL with `=` and a value */
export function parsePerNode(text: string): PerNode | undefined {
  if (!SCHEME.test(text)) return { value: text };
  const { url = '', value = '' } = /^(?<url>[^\s=?#@]+)=(?<value>.+)$/.exec(text)?.groups ?? {};
  const origin = originOf(url);
  return origin === undefined ? undefined : { origin, value };
}

function formatPerNode({ origin, value }: PerNode): string {
  return origin === undefined ? value : `${origin}=${value}`;
}

/** @returns the values that name this node or pool; if there are none, the values without a URL */
export function valuesFor(url: string, all: readonly PerNode[]): string[] {
  const origin = originOf(url);
  const own = all.filter((one) => one.origin === origin);
  const chosen = own.length > 0 ? own : all.filter((one) => one.origin === undefined);
  return chosen.map(({ value }) => value);
}

/** @returns the origin of a node's URL, or a pool's URL in its usual spelling; undefined for any other text */
export function originOf(url: string): string | undefined {
  if (!/^https?:/i.test(url)) return parsePoolUrl(url)?.url;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

const URL_WITH_SCHEME = /^[hH][tT][tT][pP][sS]?:\/\/[^\s?#]+$/;

/** @param port the default port of a URL without a scheme; undefined if a URL without a scheme must contain a port */
function httpUrl(port: number | undefined, hint: string): SettingType<string> {
  const needed = port === undefined ? '' : '?';
  // Matches `203.0.113.7:1848` and `[::1]:1848/path`, and with a default port also `localhost`.
  const bare = new RegExp(String.raw`^([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})${needed}(/[^\s?#]*)?$`);
  return parsed({
    hint,
    pattern: new RegExp(`${URL_WITH_SCHEME.source}|${bare.source}`),
    parse: (text) => {
      const [, host, given = `:${port}`, path = ''] = bare.exec(text) ?? [];
      const url = host === undefined ? text : `http://${host}${given}${path}`;
      const flaw = flawOfUrl(url);
      if (flaw !== undefined) throw new RangeError(flaw);
      return url;
    },
  });
}

const TWO_SCHEMES = /^[a-z][a-z\d+.-]*:\/{1,3}[a-z][a-z\d+.-]*:\/\//i;

/** @returns what is wrong with the URL of a node, without possible secrets; undefined if nothing is wrong */
function flawOfUrl(text: string): string | undefined {
  const [, scheme] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
  if (TWO_SCHEMES.test(text)) return 'it has two schemes, one behind the other: leave one of them out';
  if (isPoolUrl(text)) return 'this is the URL of a pool, which belongs to --pool (pool.urls)';
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return `a node has no ${oneLine(scheme, 20)}://`;
  if (text.includes('@') && (scheme === undefined || !hasNoUser(text))) return 'it must have no user and password';
  if (/\s/.test(text)) return 'it has a space in it';
  if (/[?#]/.test(text)) return 'it must have no "?" or "#"';
  if (/^[\da-f]*:[\da-f:]*:[\da-f:]*$/i.test(text)) return 'an IPv6 address is written in brackets, like [::1]';
  return URL_WITH_SCHEME.test(text) && URL.canParse(text) ? undefined : 'it is not the URL of a host';
}

/** The URL of a node. `host` becomes `http://host:1848`, and `host:port` becomes `http://host:port`. */
export const nodeUrl = httpUrl(
  1848,
  'Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.',
);

export const peerUrl = httpUrl(undefined, 'Write the URL of a P2P port like https://127.0.0.1:1789, or as HOST:PORT.');

/** A path. Its segments have letters, digits, dots, dashes and underscores, or are `<chain>`. */
export const commandPath = text(
  /^\/?(?:[\w.-]+|<chain>)(?:\/(?:[\w.-]+|<chain>))*$/,
  'Write the path of the API for commands like chain/<chain>/pact/api/v1, or like /api/v1 from the host root.',
);

function hasNoUser(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/** The URL of a pool in the form `stratum+tcp://host:port` or `stratum+ssl://host:port`. */
export const poolUrl = parsed({
  hint: 'Write a pool URL like stratum+tcp://pool.example:3333, or stratum+ssl://pool.example:3334 for TLS.',
  parse: (text) => {
    const { url } = parsePoolUrl(text) ?? {};
    if (url === undefined) throw new RangeError(flawOfPoolUrl(text));
    return url;
  },
});

/** @returns what is wrong with the URL of a pool, without possible secrets */
function flawOfPoolUrl(text: string): string {
  if (text.trim() === '') return 'it is empty: is there a comma too many?';
  if (/["'“”‘’«»]/.test(text)) return 'it has a quote in it: leave that out';
  if (/\s/.test(text)) return 'it has a space in it';
  if (TWO_SCHEMES.test(text)) return 'it has two schemes, one behind the other: leave one of them out';
  if (/^https?:\/\//i.test(text)) return 'this is the URL of a node, which belongs to --node (node.urls)';
  if (/^stratum2/i.test(text)) return 'pickaxe does not speak stratum2';
  if (/^[a-z\d+]+:\/(?!\/)/i.test(text)) return 'there must be two slashes behind its scheme, as in stratum+tcp://';
  if (text.includes('@')) return 'the user and the password belong to --user and --password (pool.user, pool.password)';
  const [, scheme, place] = /^(?:([a-z][a-z\d+.-]*):\/\/)?(.*)$/i.exec(text) as unknown as [string, string?, string?];
  if (scheme !== undefined && !/^(?:(?:stratum1?\+)?(?:tcp|ssl|tls)|stratum1?)$/i.test(scheme))
    return `a pool has no ${oneLine(scheme, 20)}://`;
  return flawOfPlace(place as string);
}

/** @param place the part of a pool's URL after the scheme @returns what is wrong with this part */
function flawOfPlace(place: string): string {
  if (/^[\da-f]*:[\da-f:]*:[\da-f:.]*$/i.test(place)) return 'an IPv6 address is written in brackets, like [::1]:3333';
  const [, port, rest] = /^(?:\[[^\]]*\]|[^:/?#]*):(\d+)(.*)$/s.exec(place) ?? [];
  if (port === undefined) return 'it has no port';
  if (Number(port) < 1 || Number(port) > 65_535) return 'its port is not between 1 and 65535';
  if (/^[;,]/.test(rest)) return `it has a "${rest[0]}" after the port: leave that out`;
  if (rest !== '' && rest !== '/') {
    return 'nothing belongs after the port: the name of the rig is part of --user (pool.user)';
  }
  return 'its host is neither a name nor an address';
}

/** The URL of a NATS server in the form `nats://host:port` or `tls://host:port`. */
export const natsUrl = parsed({
  hint: 'Write the URL of a NATS server like nats://10.0.0.2:4222, or tls://nats.example:4222 for TLS.',
  parse: (text) => {
    if (text.includes('@')) throw new RangeError('credentials do not belong in the URL: use --nats-credentials FILE');
    return parseNatsUrl(text);
  },
});

/** The SHA-256 of a certificate as Base64Url without padding: 43 characters. */
export const nodeFingerprint = parsed<PerNode>({
  hint:
    'Give the SHA-256 of the certificate: 43 characters of Base64Url, or 64 hex digits as ' +
    'openssl x509 -fingerprint -sha256 prints them; for one of several nodes or pools, URL=FINGERPRINT.',
  parse: (text) => {
    const { value: written = '', ...node } = parsePerNode(text) ?? {};
    const value = parseFingerprint(written);
    return value === undefined ? undefined : { ...node, value };
  },
  print: formatPerNode,
});

export const nodeFile: SettingType<PerNode> = {
  ...parsed({
    hint: 'Give the path of a file; for one of several nodes or pools, URL=FILE.',
    parse: (text) => (text === '' || text.includes('\0') ? undefined : parsePerNode(text)),
    print: formatPerNode,
  }),
  startAt: (folder, { value, ...node }) => ({ ...node, value: resolve(folder, value) }),
};

export const httpAddress = parsed({
  hint: 'Give a port or a host and a port, like 8080, 127.0.0.1:8080 or [::1]:8080 (port 0: a free one).',
  parse: parseHttpAddress,
  print: formatHttpAddress,
});

const NETWORK = /^([\da-f:.]{2,45})(?:\/(\d{1,3}))?$/i;

/** An IP address, or a network in CIDR notation (RFC 4632 §3.1). */
export const ipNetwork = parsed({
  hint: 'Give an IP address like 10.0.0.2 or ::1, or a network like 10.0.0.0/8.',
  pattern: NETWORK,
  parse: (text) => {
    const [, address = '', bits] = NETWORK.exec(text) ?? [];
    const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return Number(bits ?? 0) <= most ? text : undefined;
  },
});

/** The URL of a webhook. It has no user and no password, because requests would not contain these. */
export const webhookUrl: SettingType<string> = {
  form: 'text',
  hint: 'A webhook is a URL that begins with https:// or http://, without user and password.',
  schema: (z) => z.string().max(MAX_CHARACTERS).refine(isWebhookUrl),
};

export function isWebhookUrl(text: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(text) && hasNoUser(text);
}
