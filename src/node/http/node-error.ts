/**
 * The errors of requests to a node. Each kind of error calls for another reaction of the caller, and the messages have
 * advice.
 */

import { z } from 'zod';
import { rootOf, speaksNoTls, whyUnreachable } from '../../base/net/connecting.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { networkOf } from '../../protocol/ledger/header.ts';
import { LedgerFormatError, parseExactJson } from '../../protocol/ledger/json.ts';
import { explainMiner, type MinerIdentity, nodeConfigurationFor } from '../client/miner-identity.ts';
import { basePathsOf, CONFIG_PATH, hidePath, type NodeAddress } from './url.ts';

export type NodeErrorKind =
  /** No trusted connection was made, so the node has received no request. */
  | 'unreachable'
  /** The connection broke before the whole answer had come. */
  | 'broken'
  /** The status is 408, or the answer did not come in time. */
  | 'timed out'
  /** Something other than a node answered: a login page, a proxy, or a service that does not use HTTP. */
  | 'not a node'
  /** The status is 400: the request is wrong or not permitted. */
  | 'bad request'
  /** The status is 401. */
  | 'unauthorized'
  /** The status is 404: the requested thing does not exist, or the node serves nothing at this path. */
  | 'not found'
  /** The status is 406: the node cannot answer in the requested format. */
  | 'not acceptable'
  /** The status is 429. */
  | 'too many requests'
  /** The status is 5xx. */
  | 'failed'
  /**
   * Any other status outside 2xx. When `MiningClient` asks for work, updates or the configuration: any status other
   * than 200, 429 and 5xx.
   */
  | 'refused'
  /** The answer violates the specification, or does not match the request. */
  | 'not understood'
  /** The answer is about a network other than the requested one. */
  | 'other network'
  /** The request is for a port of the node (service or P2P) whose URL was not given. */
  | 'no such side';

export interface NodeErrorDetails extends ErrorOptions {
  readonly status?: number | undefined;
  readonly text?: string;
  readonly key?: string | undefined;
  readonly reason?: string | undefined;
  readonly network?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Default: false. */
  readonly retryable?: boolean;
  /** Default: true, unless the kind implies that no request was sent. */
  readonly mayHaveBeenTaken?: boolean;
  readonly fingerprint?: string | undefined;
  readonly nodeConfiguration?: readonly string[] | undefined;
}

export class NodeError extends Error {
  override readonly name: string = 'NodeError';
  readonly kind: NodeErrorKind;
  readonly status: number | undefined;
  /** The node's message, at most 16,384 characters. It is foreign text: make it safe before showing it. */
  readonly text: string;
  /** The key of the missing thing, if the body of a 404 has it (document 1, "Not-found body"). Foreign text. */
  readonly key: string | undefined;
  /** The reason in the body of a 404, if there is one. Foreign text. */
  readonly reason: string | undefined;
  /** The network that the node serves, for errors of the kind `other network`. Foreign text. */
  readonly network: string | undefined;
  /** The pause that the node requested with the header `retry-after`. */
  readonly retryAfterMs: number | undefined;
  /**
   * Whether the same request may succeed a moment later. `NodeApi` throws such an error only after it has repeated the
   * request, except for the requests that it never repeats (`Call.isRepeatable`).
   */
  readonly retryable: boolean;
  /** Whether the node may have carried out the request, in this attempt or in an earlier one. */
  readonly mayHaveBeenTaken: boolean;
  /** The fingerprint of the node's certificate, if the certificate is not trusted. */
  readonly fingerprint: string | undefined;
  /**
   * If the node does not know the miner: lines of YAML for the node's configuration, with which the node would accept
   * the miner. Otherwise undefined.
   */
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

  get isBusy(): boolean {
    return this.status === 429 || this.status === 503;
  }
}

/**
 * @param cause the error of undici or of the socket
 * @param where the shortened URL of the request, for the message
 * @param everAnswered whether an answer has ever come from this origin
 */
export function networkError(cause: unknown, origin: string, where = origin, everAnswered = true): NodeError {
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
  const hint = everAnswered ? '' : ` Should the URL begin with ${otherScheme(origin)}?`;
  return new NodeError('broken', `the connection to ${origin} broke before the answer came (${what}).${hint}`, {
    cause,
    retryable: true,
  });
}

function otherScheme(origin: string): string {
  return origin.startsWith('https:') ? 'http://' : 'https://';
}

/** Maximum number of characters of a node's text in a message. */
const MAX_QUOTE = 200;

/** @returns the text as one printable line of at most `MAX_QUOTE` characters */
export function quote(text: string): string {
  return oneLine(text, MAX_QUOTE);
}

/* Errors of requests for mining, and for `/config`. */

export function workRefusal(status: number, text: string, miner: MinerIdentity, address: NodeAddress): NodeError {
  const message = workMessage(status, answerText(status, text, address), miner, address);
  const nodeConfiguration = status === 403 ? nodeConfigurationFor(miner) : undefined;
  return new NodeError('refused', message, { status, nodeConfiguration });
}

/** @param code the number of the network in the header of a work */
export function otherNetwork(code: number, { name, network: wanted }: NodeAddress): NodeError {
  const network = networkOf(code);
  const what = `${name} gives work of another network (${network}) than ${wanted}, and nothing is mined for it`;
  return new NodeError('other network', `${what}: check the node URL and the network.`, { network });
}

export function updatesRefusal(status: number, address: NodeAddress): NodeError {
  return new NodeError('refused', `${address.name} refuses update streams (${status}).`, { status });
}

export function configRefusal(status: number, text: string, address: NodeAddress): NodeError {
  const message = `${address.origin}${CONFIG_PATH} is not served (${answerText(status, text, address)}).`;
  return new NodeError('refused', message, { status });
}

function workMessage(status: number, quoted: string, miner: MinerIdentity, address: NodeAddress): string {
  const { name, givenPath } = address;
  const [where, what] =
    givenPath === undefined
      ? [`, neither below ${basePathsOf(address).join(' nor below ')}`, 'network']
      : ['', 'network or the path'];
  switch (status) {
    case 400:
      return `${name} cannot read the request (${quoted}). Check account and keys.`;
    case 403:
      return `${name} does not know this miner (${quoted}). ${explainMiner(miner)}`;
    case 404:
      return (
        `there is no mining API at ${name}${where} (${quoted}). Either the ${what} is wrong, or mining is off at the ` +
        'node, as it is by default: set mining.coordination.enabled in the node’s configuration.'
      );
    default:
      return `${name} refuses to serve mining/work (${quoted}). Check that it is a mining node.`;
  }
}

function answerText(status: number, text: string, address: NodeAddress): string {
  return text === '' ? `${status}` : `${status}: "${quote(hidePath(text, address))}"`;
}

/* Errors for the statuses of the API. */

/** Each text continues a sentence that begins with the URL of the request. */
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

/**
 * The statuses below 500 after which a request is repeated. The reference client repeats requests after the same
 * statuses.
 */
const PASSING: ReadonlySet<number> = new Set([408, 423, 425, 429]);

const MAX_TEXT = 16_384;
const NotFound = z.object({ key: z.string().optional(), reason: z.string().optional() });

interface Answered {
  readonly status: number;
  readonly body: Uint8Array;
  readonly byNode: boolean;
  readonly retryAfterMs: number | undefined;
}

/** @param where the shortened URL of the request, for the message @param hide removes secrets from a text */
export function statusError(answer: Answered, where: string, hide: (text: string) => string): NodeError {
  const { status, byNode, retryAfterMs } = answer;
  const kind = KINDS.get(status) ?? (status >= 500 ? 'failed' : 'refused');
  const text = textOf(answer.body);
  const { key, reason } = status === 404 ? notFound(text) : {};
  const quoted = text === '' ? '' : `: "${quote(hide(text))}"`;
  // A real node limits the rate of requests before it adds its headers, so its 429 lacks them.
  const isOfNode = byNode || status === 429 || status >= 500;
  const hint = isOfNode ? '' : ' The headers of a node are missing: is the URL right?';
  return new NodeError(kind, `${where} ${WORDS[kind]} (${status}${quoted}).${hint}`, {
    status,
    text,
    key,
    reason,
    retryAfterMs,
    retryable: status >= 500 || PASSING.has(status),
    mayHaveBeenTaken: status >= 500 || status === 408,
  });
}

/**
 * @param error the error that occurred when the answer was read
 * @throws `error`, unless it is a LedgerFormatError
 */
export function notUnderstood(error: unknown, answer: Answered, where: string): NodeError {
  if (!(error instanceof LedgerFormatError)) throw error;
  const hint = answer.byNode ? '' : ' The headers of a node are missing: is there a proxy in between?';
  const message = `The answer of ${where} is not understood: ${quote(error.message)}.${hint}`;
  return new NodeError('not understood', message, { cause: error, status: answer.status, mayHaveBeenTaken: true });
}

/** Decodes a message, which some nodes send as a JSON string and others as plain text. */
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

/**
 * @returns the answer; undefined if the node does not have the thing or does not serve it (`not found`, `no such side`)
 * @throws every other error with which `answer` is rejected
 */
export async function unlessMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NodeError && (error.kind === 'not found' || error.kind === 'no such side')) return undefined;
    throw error;
  }
}
