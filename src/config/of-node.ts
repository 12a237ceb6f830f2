/** Settings that hold for one node each: `https://node.example=VALUE`, or the value alone. Pure. */

export interface OfNode {
  /** `https://node.example`: the path of a node's URL does not count. Undefined where the value stands alone. */
  readonly origin?: string;
  readonly value: string;
}

/** @returns undefined for what begins like a URL and is none with a value behind it */
export function ofNode(text: string): OfNode | undefined {
  if (!/^https?:\/\//i.test(text)) return { value: text };
  const { url = '', value = '' } = /^(?<url>[^\s=?#@]+)=(?<value>.+)$/.exec(text)?.groups ?? {};
  return URL.canParse(url) ? { origin: new URL(url).origin, value } : undefined;
}

/** @returns the values that name this node's URL, or else those that are alone */
export function valuesFor(url: string, texts: readonly string[]): string[] {
  const { origin } = new URL(url);
  const all = texts.flatMap((text) => ofNode(text) ?? []);
  const own = all.filter((one) => one.origin === origin);
  const chosen = own.length > 0 ? own : all.filter((one) => one.origin === undefined);
  return chosen.map(({ value }) => value);
}
