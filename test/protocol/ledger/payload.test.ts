import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import { decodeBase64url, encodeBase64url, parseExactJson, stringifyExactJson } from '#pickaxe/protocol/ledger/json.js';
import {
  type PayloadWithOutputs,
  parseCoinbase,
  parseMiner,
  payloadFromJson,
  payloadToJson,
  payloadWithOutputsFromJson,
  payloadWithOutputsToJson,
  provePayload,
} from '#pickaxe/protocol/ledger/payload.js';
import { almost, contents } from './arbitraries.ts';
import { damaged, refusalOf } from './damage.ts';
import { header, payloads } from './vectors.ts';

const read = (vector: (typeof payloads)[number]) =>
  payloadWithOutputsFromJson(parseExactJson(JSON.stringify(vector.payloadWithOutputs)));

describe.each(payloads.map((vector, i) => [i, vector] as const))('the real payload %i', (_, vector) => {
  const payload = read(vector);
  const payloadHash = vector.header ? header(vector.header).payloadHash : payload.payloadHash;

  it('hashes to its roots, and to its header’s payload hash', () => {
    expect(() => provePayload(payload, payloadHash)).not.toThrow();
    expect(rootsOf(payload)).toEqual({
      transactionsHash: payload.transactionsHash,
      outputsHash: payload.outputsHash,
      payloadHash,
    });
  });

  it('hashes to two of them without its outputs', () => {
    const json = payloadToJson(payload);
    expect(Object.keys(json)).not.toContain('coinbase');
    expect(() => provePayload(payloadFromJson(json), payloadHash)).not.toThrow();
  });

  it('comes back from JSON', () => {
    expect(payloadWithOutputsToJson(payload)).toEqual(vector.payloadWithOutputs);
  });

  it('names its miner, and in the coinbase the block’s parent', () => {
    const { account, predicate, 'public-keys': publicKeys } = vector.expect.miner;
    expect(parseMiner(payload.minerData)).toEqual({ account, predicate, publicKeys });
    const parent = encodeBase64url(parseCoinbase(payload.coinbase).parent);
    expect(parent).toBe(vector.expect.coinbaseReqKeyDecodes.replaceAll('"', ''));
    if (vector.header) expect(parent).toBe(encodeBase64url(header(vector.header).parent));
  });

  it('is refused when a byte of it is changed, by the root that it is under', () => {
    const at = (parts: readonly Uint8Array[], i: number, part: Uint8Array) =>
      parts.map((it, j) => (i === j ? part : it));
    const refusals = (name: string, variants: Iterable<PayloadWithOutputs>) => {
      for (const variant of variants) expect(() => provePayload(variant, payloadHash)).toThrow(`payload: ${name} is `);
    };
    const each = (bytes: Uint8Array, put: (part: Uint8Array) => Partial<PayloadWithOutputs>, stride = 97) =>
      [...damaged(bytes, stride)].map((part) => ({ ...payload, ...put(part) }));
    refusals(
      'transactionsHash',
      each(payload.minerData, (minerData) => ({ minerData })),
    );
    refusals(
      'outputsHash',
      each(payload.coinbase, (coinbase) => ({ coinbase })),
    );
    refusals(
      'transactionsHash',
      each(payload.transactionsHash, (transactionsHash) => ({ transactionsHash }), 1),
    );
    refusals(
      'outputsHash',
      each(payload.outputsHash, (outputsHash) => ({ outputsHash }), 1),
    );
    refusals(
      'payloadHash',
      each(payload.payloadHash, (it) => ({ payloadHash: it }), 1),
    );
    payload.transactions.forEach((bytes, i) => {
      refusals(
        'transactionsHash',
        each(bytes, (it) => ({ transactions: at(payload.transactions, i, it) }), 401),
      );
    });
    payload.outputs.forEach((bytes, i) => {
      refusals(
        'outputsHash',
        each(bytes, (it) => ({ outputs: at(payload.outputs, i, it) }), 401),
      );
    });
  });
});

describe('a payload', () => {
  const payload = read(payloads.find((vector) => vector.payloadWithOutputs.transactions.length > 0)!);

  it('is refused when it is another block’s', () => {
    expect(() => provePayload(payload, new Uint8Array(32))).toThrow(
      `payload: payloadHash is ${encodeBase64url(payload.payloadHash)}, but the block's header has AAAAAAA`,
    );
  });

  it('is refused when a transaction is missing, is there twice, or has no output', () => {
    const { transactions, outputs } = payload;
    const lacking = { ...payload, transactions: transactions.slice(1), outputs: outputs.slice(1) };
    const doubled = { ...payload, transactions: [...transactions, transactions[0]], outputs: [...outputs, outputs[0]] };
    expect(() => provePayload(lacking, payload.payloadHash)).toThrow('payload: transactionsHash is ');
    expect(() => provePayload(doubled, payload.payloadHash)).toThrow('payload: transactionsHash is ');
    expect(() => provePayload({ ...payload, outputs: [] }, payload.payloadHash)).toThrow(
      '1 transactions have 0 outputs',
    );
  });

  it('names the field that is wrong in JSON', () => {
    const json = payloads[0].payloadWithOutputs;
    const faults: [object, string][] = [
      [{ minerData: `${json.minerData}=` }, 'payload.minerData: '],
      [{ outputsHash: 'AAAA' }, 'payload.outputsHash: "AAAA" stands for 3 bytes, but must stand for 32'],
      [{ transactions: [['AA', 'A!']] }, 'payload.transactions.0.1: "A!" is not base64url without padding'],
      [{ transactions: [['AA']] }, 'payload.transactions.0'],
      [{ coinbase: undefined }, 'payload.coinbase: '],
    ];
    for (const [fields, message] of faults) {
      const text = JSON.stringify({ ...json, ...fields });
      expect(() => payloadWithOutputsFromJson(parseExactJson(text))).toThrow(message);
    }
  });

  it('of any content hashes to its own roots, and comes back from JSON', () => {
    const pairs = fc.array(fc.tuple(contents, contents), { maxLength: 9 });
    fc.assert(
      fc.property(pairs, contents, contents, (both, minerData, coinbase) => {
        const content = {
          transactions: both.map(([it]) => it),
          outputs: both.map(([, it]) => it),
          minerData,
          coinbase,
        };
        const made = { ...content, ...rootsOf(content) };
        provePayload(made, made.payloadHash);
        const text = stringifyExactJson(payloadWithOutputsToJson(made));
        expect(payloadWithOutputsFromJson(parseExactJson(text))).toEqual(made);
      }),
    );
  });

  it('that is junk has no answer but a LedgerFormatError', () => {
    fc.assert(
      fc.property(almost(payloads[0].payloadWithOutputs), (text) => {
        refusalOf(() => payloadWithOutputsFromJson(parseExactJson(text)));
        refusalOf(() => payloadFromJson(parseExactJson(text)));
      }),
    );
  });
});

describe('the miner’s data and the coinbase', () => {
  const coinbase = JSON.parse(Buffer.from(read(payloads[0]).coinbase).toString());
  const PARENT = 'f-O_4Rv1BPiSnE_dycMpPzT7o9TJAF19dALXml7nwv8';
  const bytesOf = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));

  it.each([
    ['as a JSON string', Buffer.from(`"${PARENT}"`)],
    ['as text', Buffer.from(PARENT)],
    ['as it is', Buffer.from(PARENT, 'base64url')],
  ])('hold the parent %s', (_, key) => {
    const { parent } = parseCoinbase(bytesOf({ ...coinbase, reqKey: key.toString('base64url') }));
    expect(parent).toEqual(decodeBase64url(PARENT));
  });

  it.each(['', '"', `'${PARENT}'`, `"${PARENT}`, `${PARENT}A`])('hold no parent in %j', (key) => {
    const reqKey = Buffer.from(key).toString('base64url');
    expect(() => parseCoinbase(bytesOf({ ...coinbase, reqKey }))).toThrow('is not the hash of a block');
  });

  it('say whether the miner was paid', () => {
    const failed = { ...coinbase, result: { status: 'failure', error: { message: 'account guards do not match' } } };
    const first = { ...coinbase, result: { status: 'success', data: 'NO_COINBASE' } };
    expect([coinbase, failed, first].map((it) => parseCoinbase(bytesOf(it)).outcome)).toEqual([
      'paid',
      'failed',
      'none',
    ]);
  });

  it('that are junk have no answer but a LedgerFormatError', () => {
    const miner = JSON.parse(Buffer.from(read(payloads[0]).minerData).toString());
    fc.assert(fc.property(almost(coinbase), (text) => void refusalOf(() => parseCoinbase(Buffer.from(text)))));
    fc.assert(fc.property(almost(miner), (text) => void refusalOf(() => parseMiner(Buffer.from(text)))));
    fc.assert(fc.property(contents, (bytes) => void refusalOf(() => parseMiner(bytes))));
  });
});
