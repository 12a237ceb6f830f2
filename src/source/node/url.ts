/** Where a node's endpoints are (document 1, "Conventions that apply to every endpoint", 1). */

export interface NodeAddress {
  /** `http://host:port` */
  readonly origin: string;
  /** Path of the API, without a slash at the end. */
  readonly basePath: string;
  /** The network that the path names: its last segment. */
  readonly network: string;
  /** Origin and path, for people. */
  readonly name: string;
}

/** `/config` and `/health-check` are at the host root. */
export const CONFIG_PATH = '/config';
export const HEALTH_PATH = '/health-check';

/**
 * @param url a node's URL. With no path it gets `/ledger/0.0/<network>`; a path is taken as it is.
 * @throws Error that says what a node URL looks like
 */
export function nodeAddress(url: string, network: string): NodeAddress {
  const parsed = /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed)
    throw new Error(`"${url}" is not a node URL: write it like http://127.0.0.1:1848 or https://node.example`);
  if (parsed.search || parsed.hash || parsed.username || parsed.password) {
    throw new Error(`the node URL for ${parsed.host} must be a host and a path: leave out user, password, "?" and "#"`);
  }
  const path = parsed.pathname.replace(/\/+$/, '');
  const basePath = path === '' ? `/ledger/0.0/${network}` : path;
  return {
    origin: parsed.origin,
    basePath,
    network: basePath.slice(basePath.lastIndexOf('/') + 1),
    name: parsed.origin + basePath,
  };
}

/** Whether a node's URL names its API's path, and with it the network. @param url one that can be parsed */
export function hasPath(url: string): boolean {
  return new URL(url).pathname.replace(/\/+$/, '') !== '';
}
