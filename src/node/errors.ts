/** The errors of requests to a node, with messages that tell people what to do. */

import { rootOf, speaksNoTls, whyUnreachable } from '../net/connecting.ts';
import { oneLine } from '../text/plain-text.ts';
import type { MinerIdentity } from './miner-identity.ts';
import { CONFIG_PATH, hidePath, type NodeAddress } from './url.ts';

export type NodeFault =
  /** No connection was made: the node has surely not seen the request. */
  | 'unreachable'
  /** The connection broke: the node may have seen the request. */
  | 'broken'
  /** No answer came in time: the node may have seen the request. */
  | 'no answer'
  /** Something answered that is not the node: a captive portal, a proxy, another service. */
  | 'not a node'
  /** 429 or 503. */
  | 'busy'
  /** Another 5xx. */
  | 'failed'
  /** Another 4xx: asking again will not help until something is changed. */
  | 'refused'
  /** The answer is not what the specification says. */
  | 'garbled';

export class NodeError extends Error {
  override readonly name = 'NodeError';
  readonly fault: NodeFault;
  /** From the answer's `retry-after` header; undefined when it had none. */
  readonly retryAfterMs: number | undefined;
  /** Whether the node may have carried out the request despite the error. */
  readonly mayHaveBeenTaken: boolean;
  /** The fingerprint of the node's certificate, if the certificate is not trusted. */
  readonly fingerprint: string | undefined;
  /** What the node's configuration must have, line by line, where that would help. */
  readonly nodeConfiguration: readonly string[] | undefined;

  constructor(fault: NodeFault, message: string, options: NodeErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
    this.mayHaveBeenTaken = fault !== 'unreachable' && !(fault === 'busy' && options.byNode === true);
    this.fingerprint = options.fingerprint;
    this.nodeConfiguration = options.nodeConfiguration;
  }
}

interface NodeErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** Whether the node itself answered. A gateway that answers may have passed the request on to the node. */
  readonly byNode?: boolean;
  readonly fingerprint?: string;
  readonly nodeConfiguration?: readonly string[];
}

/**
 * Turns an error of undici or of the socket into a NodeError.
 * @param origin the node's origin, for the message
 */
export function networkError(cause: unknown, origin: string): NodeError {
  if (cause instanceof NodeError) return cause;
  const { code, name, message } = rootOf(cause);
  if (name === 'TimeoutError') return new NodeError('no answer', `${origin} did not answer in time.`, { cause });
  const why = whyUnreachable(code, 'node');
  if (why !== undefined) return new NodeError('unreachable', `cannot reach ${origin} (${code}): ${why}`, { cause });
  if (speaksNoTls(code)) {
    return new NodeError('unreachable', `${origin} does not speak TLS: use http:// instead of https://.`, { cause });
  }
  if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
    const hint = 'Is it the right port, and should the URL begin with https://?';
    return new NodeError('not a node', `${origin} does not speak HTTP (${quote(message)}). ${hint}`, { cause });
  }
  const what = quote(code === '' ? message : code);
  return new NodeError('broken', `the connection to ${origin} broke before the answer came (${what}).`, { cause });
}

/** The most characters of a node's text that are shown. */
const MAX_QUOTE = 200;

/** @returns a node's text as one short, printable line */
export function quote(text: string): string {
  return oneLine(text, MAX_QUOTE);
}

/* The errors for requests that a node refuses, with advice for people. */

/** @param text the body of the answer */
export function workRefusal(status: number, text: string, miner: MinerIdentity, address: NodeAddress): NodeError {
  const message = workMessage(status, said(status, text, address), miner, address);
  return new NodeError('refused', message, status === 403 ? { nodeConfiguration: nodeConfigurationFor(miner) } : {});
}

export function updatesRefusal(status: number, address: NodeAddress): NodeError {
  return new NodeError('refused', `${address.name} refuses update streams (${status}).`);
}

/** @param text the body of the answer */
export function configRefusal(status: number, text: string, address: NodeAddress): NodeError {
  const message = `${address.origin}${CONFIG_PATH} is not served (${said(status, text, address)}).`;
  return new NodeError('refused', message);
}

function workMessage(status: number, quoted: string, miner: MinerIdentity, { name }: NodeAddress): string {
  switch (status) {
    case 400:
      return `${name} cannot read the request (${quoted}). Check account and keys.`;
    case 403:
      return `${name} does not know this miner (${quoted}). ${explainMiner(miner)}`;
    case 404:
      return (
        `there is no mining API at ${name} (${quoted}). Either the network or the path is wrong (some nodes serve ` +
        '/chainweb/0.0/<network>), or mining is off at the node, as it is by default: set ' +
        'mining.coordination.enabled in the node’s configuration.'
      );
    default:
      return `${name} refuses to serve mining/work (${quoted}). Check that it is a mining node.`;
  }
}

function said(status: number, text: string, address: NodeAddress): string {
  return text === '' ? `${status}` : `${status}: "${quote(hidePath(text, address))}"`;
}

/**
 * @returns lines of YAML for the node's configuration that let this miner mine there; the first one says where they
 *   belong
 */
export function nodeConfigurationFor({ account, predicate, publicKeys }: MinerIdentity): string[] {
  // A JSON string is a YAML string, whatever characters an account has.
  const keys = publicKeys.map((key) => JSON.stringify(key)).join(', ');
  return [
    '# for the node’s configuration: for its section chainweb, where it has one',
    'mining:',
    '  coordination:',
    '    enabled: true',
    '    miners:',
    `      - account: ${JSON.stringify(account)}`,
    `        predicate: ${predicate}`,
    `        public-keys: [${keys}]`,
  ];
}

/** @returns for people: what a node compares, and the usual mistakes */
export function explainMiner({ account, predicate, publicKeys }: MinerIdentity): string {
  const bare = /^[0-9a-f]{64}$/i.test(account);
  const prefixed = /^k:/.test(account) && publicKeys[0] !== account.slice(2);
  const hint = bare
    ? ` The account is a bare key. Most accounts begin with "k:", and "k:${account}" is a different account.`
    : prefixed
      ? ' The account begins with "k:", but the key behind that is not the first public key.'
      : ' "k:" followed by a key and the bare key are two different accounts.';
  return (
    `The account (${account}), the predicate (${predicate}) and the public keys must all equal those of a miner in the ` +
    `node's configuration.${hint}`
  );
}
