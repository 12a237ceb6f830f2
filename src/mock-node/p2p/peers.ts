/**
 * The known peers (one list for cuts, and one for each chain's mempool), requests to peers, and the node's certificate.
 */

import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { pause, within } from '../../base/system/abort.ts';
import { systemClock } from '../../base/system/clock.ts';
import { type Peer, peerIdOf } from '../../protocol/ledger/cut.ts';
import type { Dialect } from '../../protocol/ledger/header.ts';

/** The network to which a list of peers belongs: `cut`, or the number of the chain whose mempools it connects. */
export type PeerNetwork = 'cut' | number;

/** Maximum number of known peers of each network. Above it, the oldest peer is dropped. */
export const MAX_PEERS = 1_000;

export class Peers {
  /** The node's own P2P side; null if it has no port of its own, or with the option `bootstrap`. */
  own: Peer | null = null;
  readonly #lists = new Map<PeerNetwork, Peer[]>();

  of(network: PeerNetwork): readonly Peer[] {
    return this.#lists.get(network) ?? [];
  }

  /** Adds a peer without checking that it can be reached. A known peer with the same address is replaced. */
  add(network: PeerNetwork, peer: Peer): void {
    const others = this.of(network).filter((other) => !sameAddress(other, peer));
    this.#lists.set(network, [...others.slice(-(MAX_PEERS - 1)), peer]);
  }

  has(network: PeerNetwork, peer: Peer): boolean {
    return this.of(network).some((other) => sameAddress(other, peer));
  }

  isOwn(peer: Peer): boolean {
    return this.own !== null && sameAddress(this.own, peer);
  }
}

function sameAddress(a: Peer, b: Peer): boolean {
  return a.address.hostname === b.address.hostname && a.address.port === b.address.port;
}

/* Decides whether to add a peer to a list (document 1, "Peers"), with the messages of real nodes. */

/** The headers with the version of a node. An answer with one of them comes from a node. */
const VERSION_HEADERS = ['x-chainweb-node-version', 'x-ledger-node-version'];

/**
 * Checks that a new peer can be reached and is a node.
 * @returns why the peer must not be added; undefined if it may be
 */
export async function whyNotAdded(
  network: PeerNetwork,
  peer: Peer,
  peers: Peers,
  client: PeerClient,
): Promise<string | undefined> {
  if (peers.isOwn(peer)) return 'IsLocalPeerAddress';
  if (peers.has(network, peer)) return undefined;
  const path = network === 'cut' ? '/cut/peer' : `/chain/${network}/mempool/peer`;
  try {
    const { headers } = await client.ask({ ...peer, id: null }, { path });
    if (VERSION_HEADERS.some((name) => headers[name] !== undefined)) return undefined;
    return notReachable(`missing ${VERSION_HEADERS[0]} header`);
  } catch (error) {
    if (error instanceof PeerError) return notReachable(error.message);
    throw error;
  }
}

function notReachable(why: string): string {
  return `IsNotReachable ${JSON.stringify(why)}`;
}

/* Requests to the P2P sides of other nodes, over HTTPS, or over HTTP to nodes without a certificate. */

export interface PeerRequest {
  readonly method?: 'GET' | 'POST';
  /** The rest of the path, after the base path of the API: for example `/cut/peer`. */
  readonly path: string;
  /** The body in JSON. */
  readonly body?: string;
}

interface PeerAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/** The hosts that the mock node contacts: only this machine. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
/** Time limit for an answer. Real nodes have the same limit when they check whether a peer can be reached. */
const ANSWER_MS = 2_000;
/** Maximum size of an answer, in bytes. A page of headers, or a payload, is far smaller. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const TOO_MANY_REQUESTS = 429;
const MOST_ATTEMPTS = 50;
const AGAIN_MS = 200;
/** Error codes of TLS connections to a server without TLS. */
const NO_TLS: readonly unknown[] = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

export class PeerClient {
  readonly #basePath: string;
  readonly #stop: AbortSignal;
  readonly #http = new HttpAgent({ keepAlive: true });
  /** TLS sessions are not resumed, so that the peer sends its certificate on every connection. */
  readonly #https = new HttpsAgent({ keepAlive: true, maxCachedSessions: 0, rejectUnauthorized: false });

  /** @param stop its abort ends all requests, and closes the connections */
  constructor(network: string, dialect: Dialect, stop: AbortSignal) {
    this.#basePath = `/${dialect === 'chainweb' ? 'chainweb' : 'ledger'}/0.0/${network}`;
    this.#stop = stop;
    stop.addEventListener('abort', () => {
      this.#http.destroy();
      this.#https.destroy();
    });
  }

  /**
   * @throws PeerError if the peer is on another machine, cannot be reached, does not answer in time, sends more than
   *   8 MiB, or has an id that does not match its certificate
   */
  async ask(peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    if (!LOOPBACK.includes(peer.address.hostname)) {
      throw new PeerError('the mock node reaches only peers on its own machine');
    }
    try {
      return await this.#exchange('https', peer, request);
    } catch (error) {
      // A peer with an id has a certificate, so it is not asked without TLS.
      if (peer.id !== null || !NO_TLS.includes((error as NodeJS.ErrnoException).code)) throw peerError(error);
    }
    return await this.#exchange('http', peer, request).catch((error) => Promise.reject(peerError(error)));
  }

  /**
   * Sends the request up to `MOST_ATTEMPTS` times, as long as the peer refuses it because of too many requests (429).
   * @throws PeerError like `ask`
   */
  async askPatiently(peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.ask(peer, request);
      if (answer.status !== TOO_MANY_REQUESTS || attempt === MOST_ATTEMPTS) return answer;
      await pause(systemClock, AGAIN_MS, this.#stop);
    }
  }

  #exchange(scheme: 'http' | 'https', peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    return within(systemClock, ANSWER_MS, this.#stop, (signal) => this.#send(scheme, peer, request, signal));
  }

  #send(
    scheme: 'http' | 'https',
    { id, address }: Peer,
    { method = 'GET', path, body }: PeerRequest,
    signal: AbortSignal,
  ): Promise<PeerAnswer> {
    const { hostname: host, port } = address;
    const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) };
    const options = { host, port, method, path: this.#basePath + path, headers, signal };
    return new Promise((resolve, reject) => {
      const take = (response: IncomingMessage) => {
        // Most certificates are self-signed, so only the id shows whose certificate it is.
        const certificate = (response.socket as Partial<TLSSocket>).getPeerCertificate?.().raw;
        if (id !== null && (!certificate || peerIdOf(certificate) !== id)) {
          reject(new PeerError(`the certificate is not that of the id ${id}`));
          response.destroy();
        } else {
          read(response).then(resolve, reject);
        }
      };
      const sent =
        scheme === 'https'
          ? requestHttps({ ...options, agent: this.#https }, take)
          : requestHttp({ ...options, agent: this.#http }, take);
      sent.on('error', reject);
      sent.end(body);
    });
  }
}

async function read(response: IncomingMessage): Promise<PeerAnswer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    length += chunk.length;
    if (length > MAX_ANSWER_BYTES) throw new PeerError(`the answer has more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) };
}

function peerError(error: unknown): PeerError {
  if (error instanceof PeerError) return error;
  return new PeerError(error instanceof Error ? error.message : String(error), { cause: error });
}

/* A self-signed certificate (RFC 5280), like those of most nodes. */

export interface Identity {
  readonly key: string;
  readonly cert: string;
  /** The id of a peer with this certificate, 43 characters. */
  readonly peerId: string;
}

/** Tags of DER (X.690). */
const TAG = { integer: 0x02, bits: 0x03, oid: 0x06, text: 0x0c, time: 0x18, sequence: 0x30, set: 0x31, version: 0xa0 };
const ECDSA_WITH_SHA256 = der(TAG.sequence, der(TAG.oid, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(TAG.oid, Buffer.from('550403', 'hex'));
const VALID = ['20200101000000Z', '21200101000000Z'].map((time) => der(TAG.time, Buffer.from(time)));

/** @returns a new P-256 key, with a certificate for the name `mock-node`, valid from 2020 to 2120 */
export function makeIdentity(): Identity {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(TAG.sequence, der(TAG.set, der(TAG.sequence, COMMON_NAME, der(TAG.text, Buffer.from('mock-node')))));
  const content = der(
    TAG.sequence,
    der(TAG.version, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, serial()),
    ECDSA_WITH_SHA256,
    name,
    der(TAG.sequence, ...VALID),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = sign('sha256', content, privateKey);
  const certificate = der(TAG.sequence, content, ECDSA_WITH_SHA256, der(TAG.bits, Buffer.from([0]), signature));
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pemOf(certificate),
    peerId: peerIdOf(certificate),
  };
}

/**
 * @param certificate DER
 * @returns PEM (RFC 7468), as Node.js makes it. Simple code that breaks the base64 into lines would add an empty line
 *   after a full last line, and OpenSSL refuses such a text. About one of 20,000 certificates has a full last line
 */
export function pemOf(certificate: Uint8Array): string {
  return new X509Certificate(certificate).toString();
}

/** @returns a random positive integer whose first byte is not 0 */
function serial(): Buffer {
  const bytes = randomBytes(8);
  bytes[0] = (bytes[0] & 0x3f) | 0x40;
  return bytes;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}
