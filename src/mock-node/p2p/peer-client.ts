/** Requests to the P2P sides of other nodes, over HTTPS or, of nodes without a certificate, over HTTP. */

import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { Dialect } from '../../ledger/header-json.ts';
import { type Peer, peerIdOf } from '../../ledger/peer.ts';
import { pause, within } from '../../system/abort.ts';

export interface PeerRequest {
  readonly method?: 'GET' | 'POST';
  /** Below the path of the API: `/cut/peer`. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

export interface PeerAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Why a peer has not answered. */
export class PeerError extends Error {
  override readonly name = 'PeerError';
}

/** The mock speaks with this machine only. */
const LOOPBACK: readonly string[] = ['127.0.0.1', '::1', 'localhost'];
/** How long an answer may take, as of real nodes that look whether a peer can be reached. */
const ANSWER_MS = 2_000;
/** A page of headers or a payload is far shorter. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
const TOO_MANY_REQUESTS = 429;
const MOST_ATTEMPTS = 50;
const AGAIN_MS = 200;
/** What a server without TLS causes. */
const NO_TLS: readonly unknown[] = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'];

export class PeerClient {
  readonly #basePath: string;
  readonly #stop: AbortSignal;
  readonly #http = new HttpAgent({ keepAlive: true });
  /** Without sessions, so that every connection shows its certificate. */
  readonly #https = new HttpsAgent({ keepAlive: true, maxCachedSessions: 0, rejectUnauthorized: false });

  /** @param stop ends all requests, and closes the connections */
  constructor(network: string, dialect: Dialect, stop: AbortSignal) {
    this.#basePath = `/${dialect === 'chainweb' ? 'chainweb' : 'ledger'}/0.0/${network}`;
    this.#stop = stop;
    stop.addEventListener('abort', () => {
      this.#http.destroy();
      this.#https.destroy();
    });
  }

  /** @throws PeerError when there is no answer, and when the certificate is not that of the peer's id. */
  async ask(peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    if (!LOOPBACK.includes(peer.address.hostname)) {
      throw new PeerError('the mock node reaches only peers on its own machine');
    }
    try {
      return await this.#exchange('https', peer, request);
    } catch (error) {
      // A peer with an id has a certificate.
      if (peer.id !== null || !NO_TLS.includes((error as NodeJS.ErrnoException).code)) throw peerError(error);
    }
    return await this.#exchange('http', peer, request).catch((error) => Promise.reject(peerError(error)));
  }

  /** Asks again while the peer answers that it is asked too often. @throws PeerError as `ask`. */
  async askPatiently(peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.ask(peer, request);
      if (answer.status !== TOO_MANY_REQUESTS || attempt === MOST_ATTEMPTS) return answer;
      await pause(AGAIN_MS, this.#stop);
    }
  }

  #exchange(scheme: 'http' | 'https', peer: Peer, request: PeerRequest): Promise<PeerAnswer> {
    return within(ANSWER_MS, this.#stop, (signal) => this.#send(scheme, peer, request, signal));
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
        // Most certificates are signed by themselves, so it is the id that says whose it is.
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
