/** The errors of requests to a node, with messages that tell people what to do. */

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

  constructor(fault: NodeFault, message: string, options: NodeErrorOptions = {}) {
    super(message, options);
    this.fault = fault;
    this.retryAfterMs = options.retryAfterMs;
    this.mayHaveBeenTaken = fault !== 'unreachable' && !(fault === 'busy' && options.byNode === true);
    this.fingerprint = options.fingerprint;
  }
}

interface NodeErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined;
  /** Whether the node itself answered. A gateway that answers may have passed the request on to the node. */
  readonly byNode?: boolean;
  readonly fingerprint?: string;
}

const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there. Is the node running, and is this its mining port?',
  ENOTFOUND: 'there is no host of that name. Check the node URL.',
  EAI_AGAIN: 'its name cannot be looked up now. Check the network connection and the name server.',
  EHOSTUNREACH: 'there is no route to it. Check the address and the network connection.',
  ENETUNREACH: 'there is no route to it. Check the address and the network connection.',
  UND_ERR_CONNECT_TIMEOUT: 'it does not accept the connection. Check the address, the port and firewalls.',
  ETIMEDOUT: 'it does not accept the connection. Check the address, the port and firewalls.',
  EACCES: 'this machine does not allow the connection. Check its firewall.',
};

/**
 * Turns an error of undici or of the socket into a NodeError.
 * @param origin the node's origin, for the message
 */
export function networkError(cause: unknown, origin: string): NodeError {
  if (cause instanceof NodeError) return cause;
  const { code, name, message } = rootOf(cause);
  if (name === 'TimeoutError') return new NodeError('no answer', `${origin} did not answer in time.`, { cause });
  if (Object.hasOwn(UNREACHABLE, code)) {
    return new NodeError('unreachable', `cannot reach ${origin} (${code}): ${UNREACHABLE[code]}`, { cause });
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return new NodeError('unreachable', `${origin} does not speak TLS: use http:// instead of https://.`, { cause });
  }
  if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
    const hint = 'Is it the right port, and should the URL begin with https://?';
    return new NodeError('not a node', `${origin} does not speak HTTP (${quote(message)}). ${hint}`, { cause });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return new NodeError('garbled', `${origin} sent far more than the specification allows.`, { cause });
  }
  const what = quote(code === '' ? message : code);
  return new NodeError('broken', `the connection to ${origin} broke before the answer came (${what}).`, { cause });
}

function rootOf(error: unknown): { code: string; name: string; message: string } {
  const outer = error as { code?: unknown; name?: unknown; message?: unknown; errors?: unknown[] } | undefined;
  // A connection to a host with several addresses fails with one error for each.
  if (outer?.errors?.length && typeof outer.code !== 'string') return rootOf(outer.errors[0]);
  const { code, name, message } = outer ?? {};
  return { code: typeof code === 'string' ? code : '', name: String(name ?? ''), message: String(message ?? error) };
}

/** The most characters of a node's text that are shown. */
const MAX_QUOTE = 200;

/** @returns a node's text as one short, printable line */
export function quote(text: string): string {
  return oneLine(text, MAX_QUOTE);
}
