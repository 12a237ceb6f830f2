/**
 * Lies that agree with each other, and which several nodes may share. Once a command was sent to one of the nodes, they
 * show a branch of their own making on its chain, to which their cuts, results and times fit.
 */

import type { Random } from '#pickaxe/mock-node/random.js';
import { blockWeight } from '#pickaxe/protocol/ledger/difficulty.js';
import { type BlockHeader, blockHash, headerToJson } from '#pickaxe/protocol/ledger/header.js';
import { type ExactJson, encodeBase64url, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import { type PayloadWithOutputs, payloadWithOutputsToJson } from '#pickaxe/protocol/ledger/payload.js';
import { payloadOf, solved } from '../../node/sweep/forger.ts';
import { type Answer, type Asked, type LedgerNode, type Lie, NETWORK } from './ledger-node.ts';
import { chainOf, endpointOf, jsonAnswer, resultOf } from './lies.ts';

/** `no block`: no forged block has the command. `success` and `failure`: a forged block has it, with this result. */
export type Claim = 'no block' | 'success' | 'failure';

/** The most time by which a forged block is ahead, in ms: what a clock may differ from another one. */
const MOST_AHEAD_MS = 55 * 60_000;

interface Sent {
  readonly cmd: string;
  readonly hash: string;
}

interface Block {
  readonly header: BlockHeader;
  readonly payload: PayloadWithOutputs;
}

/** A target that any hash meets: nobody who forges has as much power as a network. */
const ANYTHING = new Uint8Array(32).fill(255);

export class Conspiracy {
  readonly claim: Claim;
  /** Whether the nodes also do what they are asked, such as taking commands. */
  readonly #isTaking: boolean;
  readonly #random: Random;
  readonly #nowUs: () => bigint;
  readonly #leastMs: number;
  #chain = -1;
  #key = '';
  /** The forged blocks and those below them, highest first. */
  #blocks: readonly Block[] = [];
  #result: object = {};

  /** @param leastMs the least time by which the newest forged block is ahead of now, in ms */
  constructor(claim: Claim, random: Random, nowUs: () => bigint, leastMs = 0) {
    this.#random = random;
    this.#nowUs = nowUs;
    this.#leastMs = leastMs;
    this.claim = claim;
    this.#isTaking = random() < 0.5;
  }

  readonly lie: Lie = async (node, asked, truth) => {
    const endpoint = endpointOf(asked);
    if (this.#blocks.length === 0) {
      if (endpoint !== 'send') return await truth();
      this.#forge(node, asked);
    }
    if (endpoint === 'cut') return this.#cut(await truth());
    if (chainOf(asked) !== this.#chain) return await truth();
    if (endpoint === 'send') {
      if (this.#isTaking) await truth();
      return jsonAnswer({ requestKeys: [JSON.parse(asked.body.toString()).cmds[0].hash] });
    }
    if (endpoint === 'poll') return await this.#poll(asked, truth);
    if (endpoint === 'local') return this.#local(await truth());
    return endpoint.endsWith('/branch') ? this.#page(node, asked, endpoint) : await truth();
  };

  #forge(node: LedgerNode, asked: Asked): void {
    const random = this.#random;
    const chain = chainOf(asked);
    const [sent]: Sent[] = JSON.parse(asked.body.toString()).cmds;
    const store = node.ledger.chains.blocksOf(chain);
    const all = [...store.ancestry(store.tip)];
    const below = all.slice(Math.min(all.length - 1, Math.floor(random() * 3)));
    const [base] = below;
    const count = 7 + Math.floor(random() * (random() < 0.5 ? 10 : 150));
    const startUs = base.header.creationTimeUs;
    const aheadMs = this.#leastMs + random() * (MOST_AHEAD_MS - this.#leastMs);
    const endUs = this.#nowUs() + BigInt(Math.floor(1000 * aheadMs));
    const empty = payloadOf(base.payload, []);
    const at = 1 + Math.floor(random() * 2);
    const result = resultOf(sent.hash, Number(base.header.height) + at, this.claim === 'success');
    const paid = payloadOf(base.payload, [[JSON.stringify(sent), JSON.stringify(result)]]);
    const blocks: Block[] = [...below];
    for (let i = 1; i <= count; i++) {
      const parent = blocks[0].header;
      const payload = i === at && this.claim !== 'no block' ? paid : empty;
      const timeUs = startUs + ((endUs - startUs) * BigInt(i)) / BigInt(count);
      const header: BlockHeader = {
        ...parent,
        parent: blockHash(parent),
        payloadHash: payload.payloadHash,
        height: parent.height + 1n,
        creationTimeUs: timeUs > parent.creationTimeUs ? timeUs : parent.creationTimeUs + 1n,
        weight: parent.weight + blockWeight(ANYTHING),
        target: ANYTHING,
      };
      blocks.unshift({ header: solved(header), payload });
    }
    this.#chain = chain;
    this.#key = sent.hash;
    this.#result = result;
    this.#blocks = blocks;
  }

  #cut(truth: Answer): Answer {
    const cut = JSON.parse(truth.body.toString());
    const [{ header }] = this.#blocks;
    cut.hashes[this.#chain] = { height: Number(header.height), hash: encodeBase64url(blockHash(header)) };
    return jsonAnswer(cut);
  }

  async #poll(asked: Asked, truth: () => Promise<Answer>): Promise<Answer> {
    if (!asked.body.includes(this.#key)) return await truth();
    return jsonAnswer(this.claim === 'no block' ? {} : { [this.#key]: this.#result });
  }

  #local(truth: Answer): Answer {
    if (truth.status !== 200) return truth;
    const [{ header }] = this.#blocks;
    const json = JSON.parse(truth.body.toString());
    const { metaData } = json.preflightResult ?? json;
    if (metaData) {
      metaData.blockHeight = Number(header.height) + 1;
      metaData.blockTime = Number(header.creationTimeUs);
    }
    return jsonAnswer(json);
  }

  #page({ dialect }: LedgerNode, { path }: Asked, endpoint: string): Answer {
    const query = new URLSearchParams(path.split('?')[1]);
    const [least, most] = ['minheight', 'maxheight'].map((name) => Number(query.get(name) ?? Number.NaN));
    const items = this.#blocks
      .filter(({ header: { height } }) => !(Number(height) < least) && !(Number(height) > most))
      .map(({ header, payload }): ExactJson => {
        if (endpoint === 'hash/branch') return encodeBase64url(blockHash(header));
        const shown = headerToJson(header, dialect, NETWORK);
        if (endpoint === 'header/branch') return shown;
        return { header: shown, payloadWithOutputs: payloadWithOutputsToJson(payload) };
      });
    const body = stringifyExactJson({ items, limit: items.length, next: null } as never);
    return { status: 200, body: Buffer.from(body), type: 'application/json;blockheader-encoding=object' };
  }
}
