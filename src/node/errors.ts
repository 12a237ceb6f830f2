/** The errors of requests to a node: one kind for each reaction that makes sense, and messages that say what to do. */

import { z } from 'zod';
import { LedgerFormatError, parseExactJson } from '../ledger/json.ts';
import { rootOf, speaksNoTls, whyUnreachable } from '../net/connecting.ts';
import { oneLine } from '../text/plain-text.ts';
import { explainMiner, type MinerIdentity, nodeConfigurationFor } from './miner-identity.ts';
import { CONFIG_PATH, hidePath, type NodeAddress } from './url.ts';

export type NodeErrorKind =
  /** No connection was made: the node has surely not seen the request. */
  | 'unreachable'
  /** The connection broke before the answer was complete. */
  | 'broken'
  /** 408, or no answer came in time. */
  | 'timed out'
  /** Something answered that is not a node: a captive portal, a proxy, a service that does not speak HTTP. */
  | 'not a node'
  /** 400: the request itself is wrong, or what it asks for is not allowed. */
  | 'bad request'
  /** 401: the node does not allow this. */
  | 'unauthorized'
  /** 404: what was asked for is not there, or the node serves nothing at this path. */
  | 'not found'
  /** 406: the node cannot answer in the format that was asked for. */
  | 'not acceptable'
  /** 429. */
  | 'too many requests'
  /** 5xx. */
  | 'failed'
  /** Another status that is not 2xx. Of mining calls and `/config`: any, except 429 and 5xx. */
  | 'refused'
  /** The answer is not what the specification says, or what was asked for. */
  | 'not understood'
  /** The answer is about another network than the one that was asked for. */
  | 'other network'
  /** The URL of the side of the node that serves this was not given. */
  | 'no such side';

export interface NodeErrorDetails extends ErrorOptions {
  readonly status?: number | undefined;
  readonly text?: string;
  readonly key?: string | undefined;
  readonly reason?: string | undefined;
  readonly network?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The default is false. */
  readonly retryable?: boolean;
  /** The default is true, unless the kind says that no request was sent. */
  readonly mayHaveBeenTaken?: boolean;
  readonly fingerprint?: string | undefined;
  readonly nodeConfiguration?: readonly string[] | undefined;
}

export class NodeError extends Error {
  override readonly name: string = 'NodeError';
  readonly kind: NodeErrorKind;
  /** The status of the answer; undefined when there was none. */
  readonly status: number | undefined;
  /** What the node said, at most 16,384 characters. Foreign: make it safe before showing it. The message is safe. */
  readonly text: string;
  /** Of a 404: what was not found, if the node said so (document 1, "Not-found body"). Foreign, as the reason. */
  readonly key: string | undefined;
  readonly reason: string | undefined;
  /** Of `other network`: the one that the node serves. Foreign. */
  readonly network: string | undefined;
  /** The pause that the node has asked for (`retry-after`). */
  readonly retryAfterMs: number | undefined;
  /** Whether the same request may succeed a moment later. `NodeApi` has then sent it several times already. */
  readonly retryable: boolean;
  /** Whether the node may have carried out the request all the same, or an earlier attempt of it. */
  readonly mayHaveBeenTaken: boolean;
  /** The fingerprint of the node's certificate, if the certificate is not trusted. */
  readonly fingerprint: string | undefined;
  /** What the node's configuration must have, line by line, where that would help. */
  readonly nodeConfiguration: readonly string[] | undefined;

  constructor(kind: NodeErrorKind, message: string, details: NodeErrorDetails = {}) {
    super(message, details);
    this.kind = kind;
    this.status = details.status;
    this.text = details.text ?? '';
    this.key = details.key;
    this.reason = details.reason;
    this.network = details.network;
    this.retryAfterMs = details.retryAfterMs;
    this.retryable = details.retryable ?? false;
    this.mayHaveBeenTaken = details.mayHaveBeenTaken ?? (kind !== 'unreachable' && kind !== 'no such side');
    this.fingerprint = details.fingerprint;
    this.nodeConfiguration = details.nodeConfiguration;
  }

  /** Whether the node can answer later, but not now. */
  get isBusy(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

/**
 * Turns an error of undici or of the socket into a NodeError.
 * @param origin the node's origin, for the message
 * @param where for people: the URL of the request, shortened
 */
export function networkError(cause: unknown, origin: string, where = origin): NodeError {
  if (cause instanceof NodeError) return cause;
  const { code, name, message } = rootOf(cause);
  if (name === 'TimeoutError') {
    return new NodeError('timed out', `${where} did not answer in time.`, { cause, retryable: true });
  }
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
  return new NodeError('broken', `the connection to ${origin} broke before the answer came (${what}).`, {
    cause,
    retryable: true,
  });
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
  const nodeConfiguration = status === 403 ? nodeConfigurationFor(miner) : undefined;
  return new NodeError('refused', message, { status, nodeConfiguration });
}

export function updatesRefusal(status: number, address: NodeAddress): NodeError {
  return new NodeError('refused', `${address.name} refuses update streams (${status}).`, { status });
}

/** @param text the body of the answer */
export function configRefusal(status: number, text: string, address: NodeAddress): NodeError {
  const message = `${address.origin}${CONFIG_PATH} is not served (${said(status, text, address)}).`;
  return new NodeError('refused', message, { status });
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

/* The errors for the statuses of the API. */

/** What each kind of status means, as it follows the node's name in a message. */
const WORDS = {
  'bad request': 'cannot do what was asked for',
  unauthorized: 'does not let us do this',
  'not found': 'has nothing there',
  'not acceptable': 'cannot answer in the format that was asked for',
  'timed out': 'has waited too long',
  'too many requests': 'gets too many requests',
  failed: 'failed',
  refused: 'refuses the request',
} as const;

const KINDS: ReadonlyMap<number, keyof typeof WORDS> = new Map([
  [400, 'bad request'],
  [401, 'unauthorized'],
  [404, 'not found'],
  [406, 'not acceptable'],
  [408, 'timed out'],
  [429, 'too many requests'],
]);

/** The statuses besides 5xx that may be another one a moment later, as the reference client has them. */
const PASSING: ReadonlySet<number> = new Set([408, 423, 425, 429]);

const MAX_TEXT = 16_384;
const NotFound = z.object({ key: z.string().optional(), reason: z.string().optional() });

/** The part of an answer that an error can report. */
interface Answered {
  readonly status: number;
  readonly body: Uint8Array;
  /** Whether it has the headers of a node. */
  readonly byNode: boolean;
  readonly retryAfterMs: number | undefined;
}

/**
 * @param where for people: the URL of the request, shortened
 * @param hide removes from a text what must not be shown
 */
export function statusError(answer: Answered, where: string, hide: (text: string) => string): NodeError {
  const { status, byNode, retryAfterMs } = answer;
  const kind = KINDS.get(status) ?? (status >= 500 ? 'failed' : 'refused');
  const text = textOf(answer.body);
  const { key, reason } = status === 404 ? notFound(text) : {};
  const said = text === '' ? '' : `: "${quote(hide(text))}"`;
  // Real nodes refuse clients that ask too often before they add their headers.
  const isOfNode = byNode || status === 429 || status >= 500;
  const hint = isOfNode ? '' : ' The headers of a node are missing: is the URL right?';
  return new NodeError(kind, `${where} ${WORDS[kind]} (${status}${said}).${hint}`, {
    status,
    text,
    key,
    reason,
    retryAfterMs,
    retryable: status >= 500 || PASSING.has(status),
    mayHaveBeenTaken: status >= 500 || status === 408,
  });
}

/** @param error from reading the answer; other errors than a LedgerFormatError are thrown */
export function notUnderstood(error: unknown, answer: Answered, where: string): NodeError {
  if (!(error instanceof LedgerFormatError)) throw error;
  const hint = answer.byNode ? '' : ' The headers of a node are missing: is there a proxy in between?';
  const message = `The answer of ${where} is not understood: ${quote(error.message)}.${hint}`;
  return new NodeError('not understood', message, { cause: error, status: answer.status, mayHaveBeenTaken: true });
}

/** Some texts come as a JSON string, and some bare. */
function textOf(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 4 * MAX_TEXT)).slice(0, MAX_TEXT);
  const json = /^\s*"/.test(text) ? jsonOf(text) : undefined;
  return typeof json === 'string' ? json : text.trim();
}

function notFound(text: string): { key?: string | undefined; reason?: string | undefined } {
  return NotFound.safeParse(jsonOf(text)).data ?? {};
}

function jsonOf(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (error) {
    if (error instanceof LedgerFormatError) return undefined;
    throw error;
  }
}
