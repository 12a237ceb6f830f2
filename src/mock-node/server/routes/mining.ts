/** Mining (document 1, "Mining"). */

import { z } from 'zod';
import { CHAIN_BYTES, viewOf } from '../../../protocol/chain/bytes.ts';
import { UnpaidError } from '../../ledger/ledger.ts';
import { allowedMinerSchema, MINING_DEGREE } from '../../options.ts';
import {
  type Answer,
  type Asked,
  type Backend,
  JSON_TYPE,
  type Message,
  NO_MORE_STREAMS,
  OCTETS,
  type Route,
} from '../route.ts';

const MINING = { side: 'service', when: canMine } as const;

export const miningRoutes: readonly Route[] = [
  {
    ...MINING,
    endpoint: 'work',
    method: 'GET',
    path: /^\/mining\/work$/,
    takes: JSON_TYPE,
    gives: [OCTETS],
    answer: work,
  },
  // As on real nodes, the client must accept JSON, although the answer is empty.
  {
    ...MINING,
    endpoint: 'solved',
    method: 'POST',
    path: /^\/mining\/solved$/,
    takes: OCTETS,
    gives: [JSON_TYPE],
    answer: solved,
  },
  // Real nodes open a stream whatever the client accepts.
  { ...MINING, endpoint: 'updates', method: 'GET', path: /^\/mining\/updates$/, takes: OCTETS, answer: updates },
];

/** Miners hash headers of 286 bytes, which only chains with three neighbours have. */
function canMine({ miningEnabled, ledger }: Backend): boolean {
  return miningEnabled && ledger.chains.graph.every((neighbours) => neighbours.length === MINING_DEGREE);
}

function work({ backend: { ledger, settings }, body }: Asked): Message {
  let json: unknown;
  try {
    json = JSON.parse(body.toString());
  } catch (error) {
    return { status: 400, text: `Error in $: not JSON: ${error}` };
  }
  const asker = askerSchema.safeParse(json);
  if (!asker.success) return { status: 400, text: `Error in $: ${asker.error.issues[0].message}` };
  const { account, predicate, 'public-keys': publicKeys } = asker.data;
  if (ledger.hasTooMuchWork) return { status: 503, text: 'Too many work requests' };
  if (!isAuthorized(asker.data, settings.miners)) return { status: 403, text: `Unauthorized Miner: ${account}` };
  try {
    return { status: 200, bytes: ledger.issueWork(account, { predicate, publicKeys }) };
  } catch (error) {
    if (!(error instanceof UnpaidError)) throw error;
    // In this case, a real node makes no work and never answers.
    return { status: 503, text: `No work on any chain: ${error.message}` };
  }
}

function solved({ backend: { ledger, settings }, body }: Asked): Message {
  const judgement = ledger.submit(new Uint8Array(body));
  if (judgement.outcome === 'accepted') return { status: settings.acceptedStatus, text: '' };
  return { status: judgement.outcome === 'stale' ? 404 : 400, text: judgement.reason };
}

/**
 * A body that is not 4 bytes is answered with 400 and a reason; real nodes answer with 500. A request for a chain that
 * is not there is never answered, as on real nodes, which wait for its first work.
 */
async function updates({ backend: { ledger, streams }, body, signal }: Asked): Promise<Answer> {
  if (streams.full) return NO_MORE_STREAMS;
  if (body.length !== CHAIN_BYTES) return { status: 400, text: `Decoding error: expected ${CHAIN_BYTES} bytes` };
  const chain = viewOf(body).getUint32(0, true);
  if (chain < ledger.settings.chains) return { stream: chain };
  await streams.wait(signal);
  return NO_MORE_STREAMS;
}

/** The miner in a request for work. Real nodes accept any texts, and compare them with the configured miners. */
const askerSchema = z.object({
  account: z.string(),
  predicate: z.string(),
  'public-keys': z.array(z.string()),
});

type MinerInfo = z.infer<typeof askerSchema>;

/**
 * Whether the miner in the request may mine. If miners are configured, it must be one of them; otherwise, it must be
 * valid.
 */
function isAuthorized(asker: MinerInfo, miners: readonly MinerInfo[]): boolean {
  const same = (miner: MinerInfo) =>
    miner.account === asker.account && miner.predicate === asker.predicate && keySet(miner) === keySet(asker);
  return miners.length === 0 ? allowedMinerSchema.safeParse(asker).success : miners.some(same);
}

/** @returns a text that is equal for equal sets of keys, in any order */
function keySet(miner: MinerInfo): string {
  return JSON.stringify([...new Set(miner['public-keys'])].sort());
}
