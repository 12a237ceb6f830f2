/** Settings with a value for each node or pool: `https://node.example=VALUE`, or VALUE alone for all others. Pure. */

import { parsePoolUrl } from '../text/pool-url.ts';

export interface PerNode {
  /** `https://node.example`: the path of a node's URL does not count. Undefined where the value stands alone. */
  readonly origin?: string;
  readonly value: string;
}

const SCHEME = /^(?:https?|(?:stratum\+)?(?:tcp|ssl|tls)|stratum):\/\//i;

/** @returns undefined for a text that begins like a URL, but is not a URL followed by a value */
export function parsePerNode(text: string): PerNode | undefined {
  if (!SCHEME.test(text)) return { value: text };
  const { url = '', value = '' } = /^(?<url>[^\s=?#@]+)=(?<value>.+)$/.exec(text)?.groups ?? {};
  const origin = originOf(url);
  return origin === undefined ? undefined : { origin, value };
}

export function formatPerNode({ origin, value }: PerNode): string {
  return origin === undefined ? value : `${origin}=${value}`;
}

/** @returns the values that name this node or pool, or else those that stand alone */
export function valuesFor(url: string, all: readonly PerNode[]): string[] {
  const origin = originOf(url);
  const own = all.filter((one) => one.origin === origin);
  const chosen = own.length > 0 ? own : all.filter((one) => one.origin === undefined);
  return chosen.map(({ value }) => value);
}

/** @returns the origin of a node's URL, or a pool's URL in its usual spelling; undefined when the text is neither */
export function originOf(url: string): string | undefined {
  if (!/^https?:/i.test(url)) return parsePoolUrl(url)?.url;
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
