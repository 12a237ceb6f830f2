/** A node's endpoints for mining (document 1, "Mining"). */

import { CHAIN_BYTES, WORK_BYTES } from '../chain/bytes.ts';
import { configRefusal, NodeError, updatesRefusal, workRefusal } from './errors.ts';
import { NodeHttp, type NodeRequest, type StatusAnswer } from './http.ts';
import type { MinerIdentity } from './miner-identity.ts';
import { CONFIG_PATH } from './url.ts';

const OCTETS = 'application/octet-stream';

/** No request is repeated here. */
export class MiningClient extends NodeHttp {
  /** `GET /mining/work`, with the miner as JSON in the body @returns 322 bytes @throws NodeError */
  async work(miner: MinerIdentity, stop: AbortSignal): Promise<Uint8Array> {
    const { address, limits } = this;
    const { account, predicate, publicKeys } = miner;
    const request: NodeRequest = {
      method: 'GET',
      path: `${address.basePath}/mining/work`,
      headers: { 'content-type': 'application/json', accept: OCTETS },
      body: JSON.stringify({ account, predicate, 'public-keys': publicKeys }),
    };
    const { status, body } = await this.ask(request, limits.workTimeoutMs, stop);
    if (status !== 200) throw workRefusal(status, body.toString(), miner, address);
    if (body.length === WORK_BYTES) return body;
    const what = `${body.length} bytes as work; a work record is ${WORK_BYTES}`;
    throw new NodeError('not understood', `${address.name} sent ${what}.`);
  }

  /**
   * `POST /mining/solved`. The status shows whether the node accepted the solution.
   * @param header 286 bytes
   * @throws NodeError if the node did not answer, or cannot answer now (429, 5xx)
   */
  async submit(header: Uint8Array, stop: AbortSignal): Promise<StatusAnswer> {
    const request: NodeRequest = {
      method: 'POST',
      path: `${this.address.basePath}/mining/solved`,
      headers: { 'content-type': OCTETS },
      body: header,
    };
    return await this.askStatus(request, this.limits.solvedTimeoutMs, stop);
  }

  /**
   * `GET /mining/updates`, with the chain in the body (4 bytes, little-endian)
   * @returns an event stream in chunks, until the node ends it or `stop` fires. Reading it can throw any error
   * @throws NodeError
   */
  async updates(chain: number, stop: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const body = new Uint8Array(CHAIN_BYTES);
    new DataView(body.buffer).setUint32(0, chain, true);
    const request: NodeRequest = {
      method: 'GET',
      path: `${this.address.basePath}/mining/updates`,
      headers: { 'content-type': OCTETS, accept: 'text/event-stream' },
      body,
    };
    const { status, body: stream } = await this.openStream(request, stop);
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
}
