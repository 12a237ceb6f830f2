/** The errors of requests to a node, with messages that tell people what to do. */

import { rootOf, speaksNoTls, whyUnreachable } from '../net/unreachable.ts';
import { oneLine } from '../text/one-line.ts';

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
