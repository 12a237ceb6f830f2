/** Settings with a value for each node: `https://node.example=VALUE`, or VALUE alone for all other nodes. Pure. */

export interface PerNode {
  /** `https://node.example`: the path of a node's URL does not count. Undefined where the value stands alone. */
  readonly origin?: string;
  readonly value: string;
}

/** @returns undefined for a text that begins like a URL, but is not a URL followed by a value */
export function parsePerNode(text: string): PerNode | undefined {
  if (!/^https?:\/\//i.test(text)) return { value: text };
  const { url = '', value = '' } = /^(?<url>[^\s=?#@]+)=(?<value>.+)$/.exec(text)?.groups ?? {};
  return URL.canParse(url) ? { origin: new URL(url).origin, value } : undefined;
}

export function formatPerNode({ origin, value }: PerNode): string {
  return origin === undefined ? value : `${origin}=${value}`;
}

/** @returns the values that name this node's origin, or else those that stand alone */
export function valuesFor(url: string, all: readonly PerNode[]): string[] {
  const { origin } = new URL(url);
  const own = all.filter((one) => one.origin === origin);
  const chosen = own.length > 0 ? own : all.filter((one) => one.origin === undefined);
  return chosen.map(({ value }) => value);
}
