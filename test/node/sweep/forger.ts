/**
 * A node whose lies agree with each other: once a command was sent to one chain, it shows a branch of its own making on
 * that chain, to which its cut, its results and its time fit. All else it passes on to a node that tells the truth.
 */

import { lifeOf } from '#pickaxe/node/sweep/transfer-commands.js';
import { targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { blockWeight } from '#pickaxe/protocol/ledger/difficulty.js';
import { type BlockHeader, blockHash, headerToJson, powHash } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { leafHash, merkleRoot } from '#pickaxe/protocol/ledger/merkle.js';
import {
  outputLeaves,
  PAYLOAD_TAG,
  type PayloadWithOutputs,
  payloadWithOutputsToJson,
} from '#pickaxe/protocol/ledger/payload.js';
import { type Answer, type Asked, chainOf, json, lyingNode } from './lying-node.ts';
import type { World } from './world.ts';

export interface Forgery {
  /**
   * `no block`: the command is passed on, and no forged block has it, nor have the results. `done` and `failure`: it is
   * swallowed, and a forged block has it with this result.
   */
  readonly lie: 'no block' | 'done' | 'failure';
  readonly chain: number;
  /** Number of forged blocks. */
  readonly blocks: number;
  /** Number of the forged block with the command, counted from the lowest, 1. Default: the lowest. */
  readonly at?: number;
  /** The creation time of the newest forged block, relative to now, in ms. */
  readonly untilMs: number;
  /** The target, 32 bytes, little-endian. The forger does the work that it requires. Default: any hash is enough. */
  readonly target?: Uint8Array;
  /** Whether weights follow from the targets, as every node checks. Default: true. */
  readonly isWeighed?: boolean;
}

const ANYTHING = new Uint8Array(32).fill(255);

interface Sent {
  readonly cmd: string;
  readonly hash: string;
}

/** @returns the URL of the forger, and what it has done so far */
export async function forger(world: World, forgery: Forgery) {
  const { chain, lie } = forgery;
  const { chains } = world.node.ledger;
  const done = { lies: 0, hashes: 0 };
  let branch: Forged | undefined;
  const answerOf = (asked: Asked, truth: () => Promise<Answer>): Promise<Answer | undefined> | Answer | undefined => {
    const { path, body } = asked;
    if (branch === undefined) {
      if (!path.includes('/send') || chainOf(asked) !== chain) return undefined;
      const [sent]: Sent[] = JSON.parse(body).cmds;
      branch = forgedAbove(chains.tip(chain), sent, forgery, done);
      return lie === 'no block' ? undefined : json({ requestKeys: [sent.hash] });
    }
    if (path.endsWith('/cut')) return truth().then((answer) => withHead(answer, chain, branch!.newest));
    if (chainOf(asked) !== chain) return undefined;
    if (path.includes('/send') && lie !== 'no block') return json({ requestKeys: [branch.key] });
    if (path.includes('/poll')) return lie === 'no block' ? json({}) : json({ [branch.key]: branch.result });
    if (/\/(header|block|hash)\/branch/.test(path)) return branch.page(asked);
    if (path.includes('/local')) return truth().then((answer) => branch!.dated(answer));
    return undefined;
  };
  const url = await lyingNode(world.url, async (asked, truth) => {
    const answer = await answerOf(asked, truth);
    if (answer) done.lies++;
    return answer;
  });
  return { url, done };
}

interface Tip {
  readonly header: BlockHeader;
  readonly payload: PayloadWithOutputs;
}

type Forged = ReturnType<typeof forgedAbove>;

function forgedAbove(tip: Tip, sent: Sent, forgery: Forgery, done: { hashes: number }) {
  const { lie, blocks, at = 1, untilMs, target = ANYTHING, isWeighed = true } = forgery;
  const empty = payloadOf(tip.payload, []);
  const result = {
    reqKey: sent.hash,
    gas: 600,
    result:
      lie === 'failure'
        ? { status: 'failure', error: { message: 'Insufficient funds', type: 'EvalError', info: '', callStack: [] } }
        : { status: 'success', data: 'Write succeeded' },
    txId: 7,
    logs: null,
    events: [],
    continuation: null,
    metaData: { blockHeight: Number(tip.header.height) + at },
  };
  const paid = payloadOf(tip.payload, [[JSON.stringify(sent), JSON.stringify(result)]]);
  const startUs = BigInt(lifeOf({ ...sent, sigs: [] }).madeS) * 1_000_000n;
  const endUs = BigInt(Date.now() + untilMs) * 1000n;
  const headers: BlockHeader[] = [];
  let parent = tip.header;
  for (let i = 1; i <= blocks; i++) {
    const earliest = parent.creationTimeUs + 1n;
    const evenly = startUs + ((endUs - startUs) * BigInt(i)) / BigInt(blocks);
    const header: BlockHeader = {
      ...parent,
      parent: blockHash(parent),
      payloadHash: (i === at && lie !== 'no block' ? paid : empty).payloadHash,
      height: parent.height + 1n,
      creationTimeUs: evenly > earliest ? evenly : earliest,
      weight: isWeighed ? parent.weight + blockWeight(target) : parent.weight,
      target,
    };
    parent = solved(header, done);
    headers.unshift(parent);
  }
  const payloadFor = ({ payloadHash }: BlockHeader) => (payloadHash === paid.payloadHash ? paid : empty);
  const [newest] = headers;
  return {
    key: sent.hash,
    result,
    newest,
    /** @returns the requested part of the forged branch; below the branch, an empty page */
    page({ path }: Asked): Answer {
      const query = new URLSearchParams(path.split('?')[1]);
      const [least, most] = [Number(query.get('minheight') ?? 0), Number(query.get('maxheight') ?? Infinity)];
      const all = [...headers, tip.header].filter(({ height }) => Number(height) >= least && Number(height) <= most);
      const items = all.map((header) => {
        if (path.includes('/hash/')) return encodeBase64url(blockHash(header));
        const shown = headerToJson(header, 'chainweb');
        if (!path.includes('/block/')) return shown;
        const payload = header === tip.header ? tip.payload : payloadFor(header);
        return { header: shown, payloadWithOutputs: payloadWithOutputsToJson(payload) };
      });
      const body = stringifyExactJson({ items, limit: items.length, next: null } as never);
      return { status: 200, body, type: 'application/json;blockheader-encoding=object' };
    },
    /** The time and the height of the forged branch, in an answer of `/local`. */
    dated({ status, body }: Answer): Answer {
      const answer = JSON.parse(body);
      const metaData = {
        ...answer.metaData,
        blockHeight: Number(newest.height) + 1,
        blockTime: Number(newest.creationTimeUs),
      };
      return { status, body: JSON.stringify({ ...answer, metaData }) };
    },
  };
}

/** @param done counts the hashes @returns the header with a nonce that meets its target */
export function solved(header: BlockHeader, done = { hashes: 0 }): BlockHeader {
  const most = targetToInteger(header.target);
  for (let nonce = 0n; ; nonce++) {
    done.hashes++;
    if (targetToInteger(powHash({ ...header, nonce })) <= most) return { ...header, nonce };
  }
}

/** @returns a payload with other transactions, whose roots are right */
export function payloadOf(
  { minerData, coinbase }: PayloadWithOutputs,
  texts: readonly (readonly [transaction: string, output: string])[],
): PayloadWithOutputs {
  const transactions = texts.map(([transaction]) => Buffer.from(transaction));
  const outputs = texts.map(([, output]) => Buffer.from(output));
  const transactionsHash = merkleRoot([
    leafHash(PAYLOAD_TAG.minerData, minerData),
    ...transactions.map((each) => leafHash(PAYLOAD_TAG.transaction, each)),
  ]);
  const outputsHash = merkleRoot(outputLeaves({ coinbase, outputs }));
  const payloadHash = merkleRoot([transactionsHash, outputsHash]);
  return { minerData, coinbase, transactions, outputs, transactionsHash, outputsHash, payloadHash };
}

function withHead({ body }: Answer, chain: number, { height, ...header }: BlockHeader): Answer {
  const cut = JSON.parse(body);
  const head = { height: Number(height), hash: encodeBase64url(blockHash({ height, ...header })) };
  return json({ ...cut, hashes: { ...cut.hashes, [chain]: head } });
}
