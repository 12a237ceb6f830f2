/** Tests queries for payloads (document 1), in JSON and in the binary form of real nodes. */

import { describe, expect, it } from 'vitest';
import { type ExactJson, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import {
  type PayloadWithOutputs,
  payloadFromJson,
  payloadWithOutputsFromJson,
  provePayload,
} from '#pickaxe/protocol/ledger/payload.js';
import { provenReward } from '../../protocol/ledger/proven-reward.ts';
import { at, mocksOf } from '../ask.ts';
import { banksOf, commandOf, toBob } from '../execution/bank.ts';

const startMock = mocksOf('chainweb');
const startBank = banksOf('chainweb');

/** Reads the binary form of payloads, as the source of real nodes defines it. */
class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  get rest(): number {
    return this.#bytes.length - this.#at;
  }

  count(): number {
    return Number(this.take(8).readBigUInt64BE());
  }

  text(): string {
    return this.take(this.count()).toString();
  }

  take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

function readPayload(reader: Reader, hasOutputs: boolean) {
  const transactions = Array.from({ length: reader.count() }, () => [
    reader.text(),
    ...(hasOutputs ? [reader.text()] : []),
  ]);
  const texts = [reader.text(), ...(hasOutputs ? [reader.text()] : [])];
  return { transactions, texts, roots: [0, 1, 2].map(() => encodeBase64url(reader.take(32))) };
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

function bare({ transactions, minerData, payloadHash, transactionsHash, outputsHash }: PayloadWithOutputs) {
  return {
    transactions: transactions.map((each) => [textOf(each)]),
    texts: [textOf(minerData)],
    roots: [payloadHash, transactionsHash, outputsHash].map(encodeBase64url),
  };
}

function whole(payload: PayloadWithOutputs) {
  return {
    ...bare(payload),
    transactions: payload.transactions.map((each, i) => [textOf(each), textOf(payload.outputs[i])]),
    texts: [textOf(payload.minerData), textOf(payload.coinbase)],
  };
}

describe('payloads', () => {
  it('come alone, with outputs, and in batches', async () => {
    const { ask, tip, grow } = await startMock({ chains: 10 });
    grow(1);
    const { header } = tip(3);
    const hash = encodeBase64url(header.payloadHash);
    const one = await ask(`/chain/3/payload/${hash}?height=${header.height}`);
    expect(() => provePayload(payloadFromJson(one.json), header.payloadHash)).not.toThrow();
    const outputs = await ask(`/chain/3/payload/${hash}/outputs`);
    expect(() => provenReward(header, payloadWithOutputsFromJson(outputs.json))).not.toThrow();
    expect((await ask(`/chain/4/payload/${hash}`)).plain).toEqual({ reason: 'key not found', key: hash });

    const batch = (body: unknown, path = 'payload/batch') => ask(`/chain/3/${path}`, { method: 'POST', body });
    const nobody = 'A'.repeat(43);
    const both = await batch({ hashes: [nobody, hash, hash], heights: [1, 2, 3] });
    expect((both.json as readonly ExactJson[]).map((it) => at(it, 'payloadHash'))).toEqual([hash, hash]);
    // Hashes and heights are paired, so the shorter list decides the number.
    expect((await batch({ hashes: [nobody, hash], heights: [1] })).plain).toEqual([]);
    expect((await batch([hash])).plain).toHaveLength(1);
    expect((await batch([hash], 'payload/outputs/batch')).plain).toMatchObject([{ coinbase: expect.any(String) }]);
    expect((await batch([...Array(1000).fill(nobody), hash])).plain).toEqual([]);
    for (const wrong of [
      { hash },
      { hashes: [hash] },
      { hashes: ['x'], heights: [1] },
      { hashes: [hash], heights: [-1] },
    ]) {
      expect((await batch(wrong)).status).toBe(400);
    }
    expect((await ask(`/chain/3/payload/${hash}?height=x`)).status).toBe(400);
    expect((await ask('/chain/3/payload/x')).status).toBe(400);
  });

  it('come in a binary form, too', async () => {
    const { node, run, ask, tip } = await startBank();
    await run(0, commandOf(0, toBob('1.5')));
    const { header, payload } = tip(0);
    expect(node.ledger.chains.tip(0).payload.transactions).toHaveLength(1);
    const hash = encodeBase64url(header.payloadHash);
    const accept = 'application/octet-stream';
    const { bytes, headers } = await ask(`/chain/0/payload/${hash}`, { accept });
    expect(headers['content-type']).toBe(accept);
    expect(readPayload(new Reader(bytes), false)).toEqual(bare(payload));
    const { bytes: withOutputs } = await ask(`/chain/0/payload/${hash}/outputs`, { accept });
    expect(readPayload(new Reader(withOutputs), true)).toEqual(whole(payload));
    for (const [path, outputs, expected] of [
      ['payload/batch', false, bare(payload)],
      ['payload/outputs/batch', true, whole(payload)],
    ] as const) {
      const answer = await ask(`/chain/0/${path}`, { method: 'POST', body: [hash, hash], accept });
      const reader = new Reader(answer.bytes);
      expect(reader.count()).toBe(2);
      expect([readPayload(reader, outputs), readPayload(reader, outputs)]).toEqual([expected, expected]);
      expect(reader.rest).toBe(0);
    }
    expect((await ask(`/chain/0/payload/${hash}`, { accept: 'text/html' })).status).toBe(406);
  });
});
