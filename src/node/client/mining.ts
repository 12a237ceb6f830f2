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
 * Sends each request once. The only exception is a URL without a path: after a 404 at one dialect's path, the request
 * may be sent again at the other dialect's path. The path that last answered with 200 is used first.
 */
export class MiningClient extends NodeHttp {
  /** The paths at which the API may be, in the order in which they are tried. */
  #basePaths = basePathsOf(this.address);
  /**
   * Whether the first path has answered a request with 200. A later 404 at this path then does not mean that the path
   * is wrong.
   */
  #isFound = false;

  /**
   * `GET /mining/work`, with the miner as JSON in the body
   * @returns the node's record of 322 bytes as a work
   * @throws NodeError, also for work of a network other than `address.network`. The network of work is not checked if
   *   pickaxe does not know the number of `address.network`
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
    // A 404 to this request leads to an attempt at the other path, even if the first path was right before. A node may
    // serve the other path after a restart.
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
   * @param header the solved header, 286 bytes
   * @throws NodeError if no node answers in time, or if the status is 429 or 5xx
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
   * @returns an event stream in chunks, until the node ends it or `stop` fires. Iterating over it can throw any error
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
   * Sends a request at the first path. After a 404, sends it again at the other path, if there is one.
   * @param mayBeElsewhere whether a 404 can mean that the path is wrong; if not, a 404 is final
   * @returns the answer at the last path that was tried. If both paths answer 404, and the first 404 is not an error
   *   (see `isMissing`), the answer at the first path
   * @throws the error at the last path that was tried, unless the answer at the first path is returned
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
    // Meanwhile, another request may have changed the order of the paths.
    if (this.#basePaths[0] === path) {
      this.#isFound = isFound(second);
      if (this.#isFound) this.#basePaths = [other, path];
    }
    return resultOf(isMissing(second) && 'answer' in first ? first : second);
  }
}

/** A request whose path is given relative to the path of the API. `below` begins with a slash. */
type RequestBelow = Omit<NodeRequest, 'path'> & { readonly below: string };

/** The result of a request: an answer or an error. */
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

/**
 * Whether the request ended with 404. This can be an error: a gateway that forwards only one path answers 404 itself,
 * and its answer does not have a node's headers.
 */
function isMissing(attempt: Attempt<{ readonly status: number }>): boolean {
  if ('answer' in attempt) return attempt.answer.status === 404;
  return attempt.error instanceof NodeError && attempt.error.status === 404;
}

function isFound(attempt: Attempt<{ readonly status: number }>): boolean {
  return 'answer' in attempt && attempt.answer.status === 200;
}
