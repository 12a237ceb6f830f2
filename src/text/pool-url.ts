/** Reads the URLs of pools. Pure. */

export interface PoolAddress {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** `stratum+tcp://host:port` or `stratum+ssl://host:port`: always spelt the same way. */
  readonly url: string;
}

const POOL_URL = /^(?:(?:stratum\+)?(tcp|ssl|tls):\/\/|stratum:\/\/)?([\w.-]+|\[[\da-f:.]+\]):(\d{1,5})\/?$/i;

/** Whether a text begins as only URLs of pools do. The rest of it may be wrong. */
export function isPoolUrl(text: string): boolean {
  return /^(?:stratum2?(?:\+(?:tcp|ssl|tls))?|tcp|ssl|tls):\/\//i.test(text);
}

/**
 * @param text `stratum+tcp://HOST:PORT` or `stratum+ssl://HOST:PORT`, as pools write them, also without `stratum+`; `HOST:PORT`
 *   means TCP without TLS
 * @returns undefined when the text is not the URL of a pool
 */
export function parsePoolUrl(text: string): PoolAddress | undefined {
  const [, scheme = 'tcp', host = '', port = ''] = POOL_URL.exec(text) ?? [];
  if (host === '' || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return poolAddress(host.replace(/^\[|\]$/g, '').toLowerCase(), Number(port), scheme.toLowerCase() !== 'tcp');
}

/** @param host without brackets */
export function poolAddress(host: string, port: number, tls: boolean): PoolAddress {
  const shown = host.includes(':') ? `[${host}]` : host;
  return { host, port, tls, url: `stratum+${tls ? 'ssl' : 'tcp'}://${shown}:${port}` };
}
