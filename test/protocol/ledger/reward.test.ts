import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import { formatDecimal, ONE, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { chainsAt } from '#pickaxe/protocol/ledger/graphs.js';
import type { BlockHeader } from '#pickaxe/protocol/ledger/header.js';
import { encodeBase64url, parseExactJson, parseExactJsonBytes } from '#pickaxe/protocol/ledger/json.js';
import {
  type PayloadWithOutputs,
  payloadWithOutputsFromJson,
  provePayload,
  transfersOf,
} from '#pickaxe/protocol/ledger/payload.js';
import { feesOf, rewardOf, tableReward } from '#pickaxe/protocol/ledger/reward.js';
import { provenReward } from './proven-reward.ts';
import { header, headers, payloads } from './vectors.ts';

const read = (vector: (typeof payloads)[number]) =>
  payloadWithOutputsFromJson(parseExactJson(JSON.stringify(vector.payloadWithOutputs)));

const withHeader = payloads.filter((vector) => vector.header);
/** Block 1,000,000 of chain 0, whose outputs have no events. */
const old = headers.find(({ height }) => height === 1_000_000)!;
const oldPayload = payloads
  .map(read)
  .find(({ payloadHash }) => encodeBase64url(payloadHash) === encodeBase64url(header(old.binary).payloadHash))!;

/** Replaces parts of a payload, and makes a block with it. */
function remade(block: BlockHeader, payload: PayloadWithOutputs, parts: Partial<PayloadWithOutputs>) {
  const made = { ...payload, ...parts };
  const content = { ...made, ...rootsOf(made) };
  return [{ ...block, payloadHash: content.payloadHash }, content] as const;
}

/** Replaces text in bytes. */
const edited = (bytes: Uint8Array, from: string, to: string) => {
  const text = Buffer.from(bytes).toString();
  expect(text).toContain(from);
  return Uint8Array.from(Buffer.from(text.replace(from, to)));
};

describe('the reward of a block', () => {
  it.each(withHeader)('$height is what its coinbase says, and what the table says', (vector) => {
    const block = header(vector.header!);
    const { account, reward } = provenReward(block, read(vector));
    expect(account).toBe(vector.expect.rewardTo);
    expect(Number(formatDecimal(reward!))).toBe(vector.expect.reward);
    expect(reward).toBe(tableReward(block.height, 20));
  });

  it.each(withHeader)('$height has the fees that its transactions’ first events say', (vector) => {
    const payload = read(vector);
    const paid = payload.outputs.map(
      (output) => /"params":\["[^"]+","[^"]+",([^\]]+)\]/.exec(Buffer.from(output).toString())!,
    );
    const sum = paid.reduce((total, [, amount]) => total + parseDecimal(amount), 0n);
    expect(provenReward(header(vector.header!), payload).fees).toBe(sum);
  });

  it('of an old block, whose outputs have no events, is that of the table', () => {
    expect(provenReward(header(old.binary), oldPayload)).toMatchObject({
      account: 'a1b3140cb7cc895c0e091702ed05579fbe05c6e6745f82ce603746b400c81548',
      reward: tableReward(1_000_000n, 20),
      fees: 0n,
    });
    expect(formatDecimal(tableReward(1_000_000n, 20))).toBe('1.116231');
    const elsewhere = { ...header(old.binary), version: 11 };
    expect(provenReward(elsewhere, oldPayload).reward).toBeUndefined();
  });

  it('has the fees of old transactions by their gas and gas price', () => {
    const eventless = payloads
      .map(read)
      .filter((it) => it.outputs.length > 0 && !('events' in (parseExactJsonBytes(it.coinbase) as object)));
    expect(eventless.map((payload) => formatDecimal(feesOf(payload, 'any')))).toEqual(['0.00572', '0.00572']);
  });

  it('has the fees of transactions whose gas price is a text, as some wallets write it', () => {
    const [vector] = withHeader;
    const payload = read(vector);
    const [transaction] = payload.transactions;
    const [, price] = /gasPrice\\":([^,}]+)/.exec(Buffer.from(transaction).toString())!;
    const plain = formatDecimal(parseDecimal(price));
    const written = edited(transaction, `gasPrice\\":${price}`, `gasPrice\\":\\"${plain}\\"`);
    const parts = remade(header(vector.header!), payload, { transactions: [written] });
    expect(provenReward(...parts)).toEqual(provenReward(header(vector.header!), payload));
  });

  describe('is refused', () => {
    const [vector] = withHeader;
    const [block, payload] = [header(vector.header!), read(vector)];
    const account = vector.expect.miner.account;

    it('when the payload is another block’s', () => {
      expect(() => provenReward({ ...block, payloadHash: new Uint8Array(32) }, payload)).toThrow(
        'payload: payloadHash is ',
      );
    });

    it('when the payload was not proven, such as a changed copy of a proven one', () => {
      const proven = provePayload(payload, block.payloadHash);
      expect(() => rewardOf(block, { ...proven, coinbase: new Uint8Array(1) })).toThrow('was not proven');
    });

    it('when the coinbase is another block’s', () => {
      expect(() => provenReward({ ...block, parent: new Uint8Array(32) }, payload)).toThrow(
        /^coinbase\.reqKey holds .{43}, but the block's parent is A{43}$/,
      );
    });

    it('when it went to another account', () => {
      const coinbase = edited(payload.coinbase, account, 'another');
      expect(() => provenReward(...remade(block, payload, { coinbase }))).toThrow(
        `coinbase: the reward went to another, but the miner is ${account}`,
      );
    });

    it('when no event says it', () => {
      const coinbase = edited(payload.coinbase, '"name":"TRANSFER"', '"name":"OTHER"');
      expect(() => provenReward(...remade(block, payload, { coinbase }))).toThrow(
        'no event says what the miner was paid',
      );
    });

    it('when a fee is not what gas and gas price make, or went elsewhere', () => {
      const [output] = payload.outputs;
      for (const wrong of [edited(output, '3.12734e-7', '3.12735e-7'), edited(output, account, 'another')]) {
        const parts = remade(block, payload, { outputs: [wrong] });
        expect(() => provenReward(...parts)).toThrow(`outputs.0 does not pay the fee of 0.000000312734 to ${account}`);
      }
    });
  });

  it('is nothing when the coinbase failed, and on the first block of a chain', () => {
    const [vector] = withHeader;
    const [block, payload] = [header(vector.header!), read(vector)];
    const failed = edited(payload.coinbase, '"status":"success"', '"status":"failure"');
    expect(provenReward(...remade(block, payload, { coinbase: failed })).reward).toBe(0n);
    const first = edited(payload.coinbase, 'Write succeeded', 'NO_COINBASE');
    const genesis = { ...block, parent: new Uint8Array(32) };
    expect(provenReward(...remade(genesis, payload, { coinbase: first })).reward).toBe(0n);
  });

  it('is read from the events of another module when that keeps the coins', () => {
    const [vector] = withHeader;
    const [block, payload] = [header(vector.header!), read(vector)];
    const fork = (bytes: Uint8Array) =>
      Buffer.from(
        Buffer.from(bytes).toString().replaceAll('"namespace":null,"name":"coin"', '"namespace":"n","name":"gold"'),
      );
    const parts = remade(block, payload, { coinbase: fork(payload.coinbase), outputs: payload.outputs.map(fork) });
    expect(provenReward(...parts, 'n.gold')).toEqual(provenReward(block, payload));
    expect(() => provenReward(...parts)).toThrow('no event says what the miner was paid');
  });
});

describe('transfers', () => {
  it('are read with a module that is written as one text', () => {
    const json = '{"events":[{"name":"TRANSFER","module":"coin","moduleHash":"","params":["a","b",{"decimal":"10"}]}]}';
    expect(transfersOf(parseExactJson(json))).toEqual([{ sender: 'a', receiver: 'b', amount: 10n * ONE }]);
  });

  it('are not known without events', () => {
    expect(transfersOf(parseExactJson('{"events":null}'))).toBeUndefined();
    expect(transfersOf(parseExactJson('{}'))).toBeUndefined();
    expect(transfersOf(parseExactJson('{"events":[]}'))).toEqual([]);
  });

  it.each(['["a","b"]', '["a","b","1"]', '[1,"b",1]', '["a","b",1e-13]'])(
    'are refused with the parameters %s',
    (params) => {
      const json = `{"events":[{"name":"TRANSFER","module":"coin","params":${params}}]}`;
      expect(() => transfersOf(parseExactJson(json))).toThrow(/^TRANSFER/);
    },
  );
});

describe('the table of rewards', () => {
  /** SHA-256 of the published table, as one line `last height,reward` for each row. */
  const PUBLISHED = 'fb7699fc457e7477c48e5c519706bb0800c2810a88ecd29e8518d26571be48d5';

  it('is the published one', () => {
    const heights = [
      ...Array.from({ length: 1433 }, (_, i) => 87_600n * BigInt(i + 1)),
      125_538_055n,
      125_538_056n,
      125_538_057n,
    ];
    const lines = heights.map((height) => `${height},${formatDecimal(tableReward(height, 1)).replace(/\.0$/, '')}\n`);
    expect(createHash('sha256').update(lines.join('')).digest('hex')).toBe(PUBLISHED);
  });

  it('holds up to and including the height of its row', () => {
    expect([0n, 1n, 87_600n, 87_601n].map((height) => formatDecimal(tableReward(height, 10)))).toEqual([
      '2.304523',
      '2.304523',
      '2.304523',
      '2.297878',
    ]);
    expect(tableReward(10n ** 18n, 20)).toBe(0n);
  });

  it('is divided by the chains of mainnet01 and testnet04 at that height', () => {
    expect([852_053n, 852_054n].map((height) => chainsAt('mainnet01', height))).toEqual([10, 20]);
    expect([332_603n, 332_604n].map((height) => chainsAt('testnet04', height))).toEqual([10, 20]);
    expect(chainsAt('development', 1n)).toBeUndefined();
  });
});
