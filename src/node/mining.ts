/**
 * What a miner asks of a node: work, solved headers, update streams (document 1, "Mining"), and whether the node's
 * configuration lets it mine there (document 1, "Configuration").
 */

import { z } from 'zod';
import { CHAIN_BYTES, WORK_BYTES } from '../chain/bytes.ts';
import { configRefusal, NodeError, quote, updatesRefusal, workRefusal } from './errors.ts';
import { NodeHttp, type NodeRequest, type StatusAnswer } from './http.ts';
import { explainMiner, type MinerIdentity, nodeConfigurationFor } from './miner-identity.ts';
import { CONFIG_PATH } from './url.ts';

const OCTETS = 'application/octet-stream';

/** Connections to one node, for mining. No request is repeated here. */
export class MiningClient extends NodeHttp {
  /**
   * Sends GET /mining/work, with the miner as JSON in the body.
   * @returns a work record, 322 bytes
   * @throws NodeError
   */
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
   * Sends POST /mining/solved. The status of the answer says whether the node accepted the solution.
   * @param header 286 bytes
   * @returns the answer, even when the node did not accept the solution
   * @throws NodeError when the node did not answer, or answered that it cannot answer now (429, 5xx)
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
   * Sends GET /mining/updates, with the chain in the body (4 bytes, little-endian). The stream lasts until the node
   * ends it or `stop` fires.
   * @returns the body of an event stream, in chunks. Reading it can throw any error
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

  /**
   * Sends GET /config, at the host root. `servedNetwork` and `checkConfig` read the answer.
   * @returns the JSON of the answer, unchecked
   * @throws NodeError
   */
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

/*
 * Reads a node's report of its configuration. Its schema is not stable, and not every node serves it, so there are
 * notes but no errors.
 */

const minerSchema = z.looseObject({
  account: z.string(),
  predicate: z.string().optional(),
  'public-keys': z.array(z.string()).optional(),
});

const configSchema = z.looseObject({
  /** Document 1 calls it `ledgerVersion`; live nodes call it `chainwebVersion`. */
  ledgerVersion: z.string().optional(),
  chainwebVersion: z.string().optional(),
  mining: z
    .looseObject({
      coordination: z
        .looseObject({ enabled: z.boolean().optional(), miners: z.array(minerSchema).optional() })
        .optional(),
    })
    .optional(),
});

/** For people: a sentence about what the report says. */
interface ConfigNote {
  /** Whether it is about the network, about mining at all, or about this miner. */
  readonly about: 'network' | 'mining' | 'miner';
  readonly state: 'info' | 'warning';
  readonly reason: string;
  /** What the node's configuration must have, line by line, where that would help. */
  readonly nodeConfiguration?: readonly string[];
}

/**
 * @param report the JSON of `/config`
 * @returns the network that the node says it serves
 */
export function servedNetwork(report: unknown): string | undefined {
  const { ledgerVersion, chainwebVersion } = configSchema.safeParse(report).data ?? {};
  const served = ledgerVersion ?? chainwebVersion;
  return served === undefined ? undefined : quote(served);
}

/**
 * @param report the JSON of `/config`
 * @param network the expected network; undefined when any will do
 * @param miner the miner that must be configured; undefined when any will do
 * @returns a warning for each problem, or one note that there is no problem
 */
export function checkConfig(
  report: unknown,
  network: string | undefined,
  miner: MinerIdentity | undefined,
): ConfigNote[] {
  const parsed = configSchema.safeParse(report);
  if (!parsed.success) {
    return [{ about: 'mining', state: 'info', reason: 'the node reports its configuration in an unknown form' }];
  }
  const served = servedNetwork(report);
  const coordination = parsed.data.mining?.coordination;
  const isForeign = served !== undefined && network !== undefined && served !== network;
  // At a node of another network an entry would not help.
  const entry = miner && !isForeign && { nodeConfiguration: nodeConfigurationFor(miner) };
  const warnings: ConfigNote[] = [];
  if (isForeign) {
    const reason = `the node serves the network ${served}, not ${network}: check the network or the node URL`;
    warnings.push({ about: 'network', state: 'warning', reason });
  }
  const miners = coordination?.miners ?? [];
  const isDisabled = coordination?.enabled === false;
  const isUnlisted = miner !== undefined && miners.length > 0 && !miners.some((known) => isSame(known, miner));
  if (isDisabled) {
    const reason = 'mining is disabled at the node: set mining.coordination.enabled in its configuration';
    warnings.push({ about: 'mining', state: 'warning', reason, ...(!isUnlisted && entry) });
  }
  if (isUnlisted) {
    const reason = `the node does not list this miner. ${explainMiner(miner)}`;
    warnings.push({ about: 'miner', state: 'warning', reason, ...entry });
  }
  if (warnings.length > 0) return warnings;
  return [
    {
      about: 'mining',
      state: 'info',
      reason: `the node serves ${served ?? network ?? 'some network'} and its configuration allows mining`,
    },
  ];
}

/** Whether a miner in the report is this one. Keys and predicate are compared only if the report has them. */
function isSame(known: z.infer<typeof minerSchema>, { account, predicate, publicKeys }: MinerIdentity): boolean {
  const keys = known['public-keys'];
  return (
    known.account === account &&
    (known.predicate === undefined || known.predicate === predicate) &&
    (keys === undefined || [...keys].sort().join() === [...publicKeys].sort().join())
  );
}
