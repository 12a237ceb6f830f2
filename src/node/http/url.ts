/** The addresses of a node's endpoints (document 1, "Conventions that apply to every endpoint", 1). */

export interface NodeAddress {
  /** The scheme, host and port: `http://host:port`. */
  readonly origin: string;
  /**
   * The URL's path, without a slash at the end. Undefined if the URL has no path: the API is then at one of
   * `basePathsOf`.
   */
  readonly givenPath: string | undefined;
  /** The network that the path names. If the path names none, the network that was given with the URL. */
  readonly network: string;
  /** The origin and the given path. The path is shortened for people, as in `shownUrl`. */
  readonly name: string;
}

/** The first segment of the API's path: in document 1 ("Conventions", 1), and at real nodes. */
const SEGMENT = { document: 'ledger', chainweb: 'chainweb' } as const;

const API_PATH = /\/(?:ledger|chainweb)\/0\.0\/([^/]+)$/;

/** The path at which a node reports its configuration, from the host root. */
export const CONFIG_PATH = '/config';
/** The path of the health check, from the host root. */
export const HEALTH_PATH = '/health-check';

/**
 * @param network the network, for a URL whose path names none
 * @throws Error whose message explains the form of a node URL
 */
export function nodeAddress(url: string, network: string): NodeAddress {
  const parsed = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed)
    throw new Error(`"${url}" is not a node URL: write it like http://127.0.0.1:1848 or https://node.example`);
  if (parsed.search || parsed.hash || parsed.username || parsed.password) {
    throw new Error(
      `the node URL for ${parsed.host} must be only a host and a path, without user, password, "?" or "#"`,
    );
  }
  const path = parsed.pathname.replace(/\/+$/, '');
  return {
    origin: parsed.origin,
    givenPath: path === '' ? undefined : path,
    network: API_PATH.exec(path)?.[1] ?? network,
    name: parsed.origin + shownPath(path),
  };
}

export function basePathOf(dialect: keyof typeof SEGMENT, network: string): string {
  return `/${SEGMENT[dialect]}/0.0/${network}`;
}

/** @returns the paths at which the API may be: the given path; if no path was given, the paths of both dialects */
export function basePathsOf({ givenPath, network }: NodeAddress): readonly [string, ...string[]] {
  if (givenPath !== undefined) return [givenPath];
  return [basePathOf('document', network), basePathOf('chainweb', network)];
}

/** @returns the dialect that the given path belongs to; undefined if the path does not show it */
export function dialectOfPath({ givenPath = '' }: NodeAddress): keyof typeof SEGMENT | undefined {
  if (givenPath.includes(`/${SEGMENT.chainweb}/0.0/`)) return 'chainweb';
  return givenPath.includes(`/${SEGMENT.document}/0.0/`) ? 'document' : undefined;
}

/**
 * Shortens a URL for people. The path of a hosted node's URL can contain a customer's key, so only the part of the path
 * that belongs to the API is shown: `http://host/…/chainweb/0.0/mainnet01`, or `http://host/…` if there is no such
 * part.
 */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, '');
  const shown = shownPath(path);
  return shown === path ? url : origin + shown;
}

export function shownPath(path: string): string {
  const at = path.search(API_PATH);
  if (at === 0 || path === '') return path;
  return at < 0 ? '/…' : `/…${path.slice(at)}`;
}

/** Replaces the given path in a node's text by its shown form (`shownPath`), because the text may quote the request. */
export function hidePath(text: string, { givenPath }: NodeAddress): string {
  return givenPath === undefined ? text : text.replaceAll(givenPath, shownPath(givenPath));
}

/**
 * Numbers repeated names: `name`, `name (2)`. Different nodes can have the same name, because names do not show all
 * parts of the URLs.
 */
export function numberRepeated(names: readonly string[]): string[] {
  return names.map((name, index) => {
    const number = names.slice(0, index + 1).filter((each) => each === name).length;
    return number === 1 ? name : `${name} (${number})`;
  });
}

/** Whether a node's URL has a path, which usually names the network. @param url a valid URL */
export function hasPath(url: string): boolean {
  return new URL(url).pathname.replace(/\/+$/, '') !== '';
}
