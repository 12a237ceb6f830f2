/** The three mining endpoints of a node (document 1, "Mining"). */

import { CHAIN_BYTES, WORK_BYTES } from '../chain/bytes.ts';
import { NodeError, updatesRefusal, workRefusal } from './errors.ts';
import type { NodeHttp, NodeRequest, StatusAnswer } from './http.ts';
import type { MinerIdentity } from './miner-identity.ts';

const OCTETS = 'application/octet-stream';

/**
 * Sends GET /mining/work, with the miner as JSON in the body.
 * @returns a work record, 322 bytes
 * @throws NodeError
 */
export async function getWork(http: NodeHttp, miner: MinerIdentity, stop: AbortSignal): Promise<Uint8Array> {
  const { address, limits } = http;
  const { account, predicate, publicKeys } = miner;
  const request: NodeRequest = {
    method: 'GET',
    path: `${address.basePath}/mining/work`,
    headers: { 'content-type': 'application/json', accept: OCTETS },
    body: JSON.stringify({ account, predicate, 'public-keys': publicKeys }),
  };
  const { status, body } = await http.ask(request, limits.workTimeoutMs, stop);
  if (status !== 200) throw workRefusal(status, body.toString(), miner, address);
  if (body.length === WORK_BYTES) return body;
  throw new NodeError(
    'not understood',
    `${address.name} sent ${body.length} bytes as work; a work record is ${WORK_BYTES}.`,
  );
}

/**
 * Sends POST /mining/solved. The status of the answer says whether the node accepted the solution.
 * @param header 286 bytes
 * @returns the answer, even when the node did not accept the solution
 * @throws NodeError when the node did not answer, or answered that it cannot answer now (429, 5xx)
 */
export async function postSolved(http: NodeHttp, header: Uint8Array, stop: AbortSignal): Promise<StatusAnswer> {
  const { address, limits } = http;
  const request: NodeRequest = {
    method: 'POST',
    path: `${address.basePath}/mining/solved`,
    headers: { 'content-type': OCTETS },
    body: header,
  };
  return await http.askStatus(request, limits.solvedTimeoutMs, stop);
}

/**
 * Sends GET /mining/updates, with the chain in the body (4 bytes, little-endian). The stream lasts until the node ends
 * it or `stop` fires.
 * @returns the body of an event stream, in chunks. Reading it can throw any error
 * @throws NodeError
 */
export async function openUpdates(
  http: NodeHttp,
  chain: number,
  stop: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const { address } = http;
  const body = new Uint8Array(CHAIN_BYTES);
  new DataView(body.buffer).setUint32(0, chain, true);
  const request: NodeRequest = {
    method: 'GET',
    path: `${address.basePath}/mining/updates`,
    headers: { 'content-type': OCTETS, accept: 'text/event-stream' },
    body,
  };
  const { status, body: stream } = await http.openStream(request, stop);
  if (!stream) throw updatesRefusal(status, address);
  return stream;
}
