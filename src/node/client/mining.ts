/** A node's endpoints for mining (document 1, "Mining"). */

import { CHAIN_BYTES, WORK_BYTES, WORK_OFFSET } from '../../protocol/chain/bytes.ts';
import { networkNumberOf, parseWork, type Work } from '../../protocol/chain/work.ts';
import { mayBeOf } from '../../protocol/ledger/header.ts';
import { NodeHttp, type NodeRequest, type StatusAnswer } from '../http/exchange.ts';
import { configRefusal, NodeError, otherNetwork, updatesRefusal, workRefusal } from '../http/node-error.ts';
import { basePathsOf, CONFIG_PATH } from '../http/url.ts';
import type { MinerIdentity } from './miner-identity.ts';

const OCTETS = 'application/octet-stream';

/**
 * Sends each request once, except at a URL without a path: after a 404 at one dialect's path, the request is sent again
 * at the other dialect's path. The first path that answers is used for all later requests.
 */
export class MiningClient extends NodeHttp {
  /** The paths at which the API may be, in the order in which they are tried. */
  #basePaths = basePathsOf(this.address);
  /** Whether the first path has answered, so that a 404 there is not about the path. */
  #isFound = false;

  /**
   * `GET /mining/work`, with the miner as JSON in the body
   * @returns the record of 322 bytes as a work, of the network in the address as far as its number is known
   * @throws NodeError
   */
  async work(miner: MinerIdentity, stop: AbortSignal): Promise<Work> {
    const { address, limits } = this;
    const { account, predicate, publicKeys } = miner;
    const request: RequestBelow = {
      method: 'GET',
      below: '/mining/work',
      headers: { 'content-type': 'application/json', accept: OCTETS },
      body: JSON.stringify({ account, predicate, 'public-keys': publicKeys }),
    };
    // A 404 can only mean the path here. After a restart, a node may serve the other path.
    const { status, body } = await this.#findPath(request, true, (at) => this.ask(at, limits.workTimeoutMs, stop));
    if (status !== 200) throw workRefusal(status, body.toString(), miner, address);
    if (body.length !== WORK_BYTES) {
      const what = `${body.length} bytes as work; a work record is ${WORK_BYTES}`;
      throw new NodeError('not understood', `${address.name} sent ${what}.`);
    }
    const code = networkNumberOf(body.subarray(WORK_OFFSET.header));
    if (!mayBeOf(address.network, code)) throw otherNetwork(code, address);
    return parseWork(body);
  }

  /**
   * `POST /mining/solved`. The status shows whether the node accepted the solution.
   * @param header 286 bytes
   * @throws NodeError if the node did not answer, or cannot answer now (429, 5xx)
   */
  async submit(header: Uint8Array, stop: AbortSignal): Promise<StatusAnswer> {
    const request: RequestBelow = {
      method: 'POST',
      below: '/mining/solved',
      headers: { 'content-type': OCTETS },
      body: header,
    };
    return await this.#findPath(request, !this.#isFound, (at) => this.askStatus(at, this.limits.solvedTimeoutMs, stop));
  }

  /**
   * `GET /mining/updates`, with the chain in the body (4 bytes, little-endian)
   * @returns an event stream in chunks, until the node ends it or `stop` fires. Reading it can throw any error
   * @throws NodeError
   */
  async updates(chain: number, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const body = new Uint8Array(CHAIN_BYTES);
    new DataView(body.buffer).setUint32(0, chain, true);
    const request: RequestBelow = {
      method: 'GET',
      below: '/mining/updates',
      headers: { 'content-type': OCTETS, accept: 'text/event-stream' },
      body,
    };
    const { status, body: stream } = await this.#findPath(request, !this.#isFound, (at) => this.openStream(at, stop));
    if (!stream) throw updatesRefusal(status, this.address);
    return stream;
  }

  /** `GET /config`, at the host root @returns the JSON, unchecked @throws NodeError */
  async config(stop: AbortSignal): Promise<unknown> {
    const { address, limits } = this;
    const request: NodeRequest = { method: 'GET', path: CONFIG_PATH, headers: { accept: 'application/json' } };
    const { status, body } = await this.ask(request, limits.configTimeoutMs, stop);
    if (status !== 200) throw configRefusal(status, body.toString(), address);
    try {
      return JSON.parse(body.toString());
    } catch (cause) {
      throw new NodeError('not understood', `${address.origin}${CONFIG_PATH} is not JSON.`, { cause });
    }
  }

  /**
   * Asks at the first path, and after a 404 at the other path, if there is one.
   * @returns the other path's answer, unless it is a 404, too
   */
  async #findPath<T extends { readonly status: number }>(
    { below, ...request }: RequestBelow,
    mayBeElsewhere: boolean,
    ask: (request: NodeRequest) => Promise<T>,
  ): Promise<T> {
    const [path, other] = this.#basePaths;
    const first = await attempt(() => ask({ ...request, path: path + below }));
    if (!isMissing(first)) {
      this.#isFound ||= isFound(first);
      return resultOf(first);
    }
    if (other === undefined || !mayBeElsewhere) return resultOf(first);
    const second = await attempt(() => ask({ ...request, path: other + below }));
    // Other requests may have found the path meanwhile.
    if (this.#basePaths[0] === path) {
      this.#isFound = isFound(second);
      if (this.#isFound) this.#basePaths = [other, path];
    }
    return resultOf(isMissing(second) && 'answer' in first ? first : second);
  }
}

/** A request below the path of the API. */
type RequestBelow = Omit<NodeRequest, 'path'> & { readonly below: string };

/** An answer or an error. */
type Attempt<T> = { readonly answer: T } | { readonly error: unknown };

async function attempt<T>(ask: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { answer: await ask() };
  } catch (error) {
    return { error };
  }
}

function resultOf<T>(attempt: Attempt<T>): T {
  if ('error' in attempt) throw attempt.error;
  return attempt.answer;
}

/** A gateway that forwards only one path answers 404 by itself, without a node's headers. */
function isMissing(attempt: Attempt<{ readonly status: number }>): boolean {
  if ('answer' in attempt) return attempt.answer.status === 404;
  return attempt.error instanceof NodeError && attempt.error.status === 404;
}

function isFound(attempt: Attempt<{ readonly status: number }>): boolean {
  return 'answer' in attempt && attempt.answer.status === 200;
}
