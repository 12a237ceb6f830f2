import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { checkAdjacents } from '#pickaxe/protocol/ledger/graphs.js';
import {
  type BlockHeader,
  blockHash,
  checkWork,
  encodeHeader,
  headerBytes,
  headerFromJson,
  headerToJson,
  parseHeader,
  powHash,
} from '#pickaxe/protocol/ledger/header.js';
import {
  decodeBase64url,
  encodeBase64url,
  LedgerFormatError,
  parseExactJson,
  stringifyExactJson,
} from '#pickaxe/protocol/ledger/json.js';
import { almost, blockHeaders } from './arbitraries.ts';
import { damaged, damagedText, refusalOf } from './damage.ts';
import { headers } from './vectors.ts';

describe.each(headers.map((vector) => [vector.network, vector.chain, vector.height, vector] as const))(
  'the real header on %s, chain %i, height %i',
  (_network, _chain, _height, vector) => {
    const bytes = decodeBase64url(vector.binary);
    const header = parseHeader(bytes);

    it('is read and written in binary, with and without its block hash', () => {
      expect(header).toMatchObject({
        chain: vector.chain,
        height: BigInt(vector.height),
        version: vector.versionCode,
        featureFlags: BigInt(vector.featureFlags),
      });
      expect(encodeHeader(header)).toEqual(bytes.subarray(0, -32));
      expect(parseHeader(bytes.subarray(0, -32))).toEqual(header);
    });

    it('has its two hashes', () => {
      expect(encodeBase64url(blockHash(header))).toBe(vector.hash);
      expect(toHex(powHash(header))).toBe(vector.powHash);
    });

    it('has work unless it is the first block of a chain, and adjacents on the neighbours of its chain', () => {
      if (vector.powOk) expect(() => checkWork(header)).not.toThrow();
      else expect(() => checkWork(header)).toThrow(/^The proof-of-work hash [\da-f]{64} is above the target/);
      expect(() => checkAdjacents(header)).not.toThrow();
    });

    it('is read and written as JSON', () => {
      expect(headerFromJson(parseExactJson(vector.json))).toEqual(header);
      expect(stringifyExactJson(headerToJson(header, 'chainweb'))).toBe(vector.json);
      const words = vector.json.replace('chainwebVersion', 'ledgerVersion');
      expect(headerFromJson(parseExactJson(words))).toEqual(header);
      expect(stringifyExactJson(headerToJson(header, 'document'))).toBe(words);
    });
  },
);

/** One header of each network, and one with high feature flags. */
const samples = [5, 7, 2147483662].map((code) => headers.find(({ versionCode }) => versionCode === code)!);
samples.push(headers.find(({ featureFlags }) => BigInt(featureFlags) > 2n ** 53n)!);

describe('a damaged header', () => {
  it.each(samples)('of $network at height $height is noticed, whichever byte is changed', ({ binary }) => {
    for (const bytes of damaged(decodeBase64url(binary))) {
      expect(() => checkAdjacents(parseHeader(bytes))).toThrow(
        /^(The block hash is said to be|The adjacents |A header with \d+ adjacents is)/,
      );
    }
  });

  it.each(samples)('of $network at height $height is noticed in JSON, whichever character is changed', ({ json }) => {
    for (const text of damagedText(json)) {
      expect(() => checkAdjacents(headerFromJson(parseExactJson(text)))).toThrow(LedgerFormatError);
    }
  });

  it('is called by the field that is wrong', () => {
    const [{ json }] = samples;
    const faults: [string, string][] = [
      [json.replace('"parent":"H', '"parent":"HH'), 'header.parent: '],
      [json.replace('"parent"', '"father"'), 'header.parent: '],
      [json.replace('"chainId":0', '"chainId":4294967296'), 'header.chainId: must be from 0 to 4294967295'],
      [json.replace('"height":1000000', '"height":-1'), 'header.height: must be from 0'],
      [json.replace('"height":1000000', '"height":1e6'), 'header.height: "1e6" is not an integer in digits'],
      [json.replace('"nonce":"', '"nonce":"0'), 'header.nonce: "013095611958898437" is not a whole number'],
      [json.replace('"10":', '"010":'), 'header.adjacents.010: '],
      [json.replace('mainnet01', 'testnet06'), 'header: the number of the network "testnet06" is not known'],
      [
        json.replace('mainnet01', 'testnet04'),
        'The block hash is said to be k0an0qEORusqQg9ZjKrxa-0Bo0-hQVYLXqWi5LHxg3k',
      ],
      [json.replace('{', '{"ledgerVersion":"mainnet01",'), 'header: must have either ledgerVersion or chainwebVersion'],
    ];
    for (const [text, message] of faults) expect(() => headerFromJson(parseExactJson(text))).toThrow(message);
  });

  it('was not read with JSON.parse', () => {
    expect(() => headerFromJson(JSON.parse(samples[0].json))).toThrow('must be read with its exact text');
  });
});

describe('a header of a network whose number is not known', () => {
  const [{ json }] = samples;

  it('is read with the number of other headers', () => {
    const unknown = json.replace('mainnet01', 'another-network');
    expect(headerFromJson(parseExactJson(unknown), 5).version).toBe(5);
    expect(() => headerFromJson(parseExactJson(unknown), 6)).toThrow('The block hash is said to be');
  });

  it('is written with the name that its node tells', () => {
    const header = headerFromJson(parseExactJson(json));
    expect(headerToJson({ ...header, version: 11 }, 'document').ledgerVersion).toBe('code 11');
    expect(headerToJson({ ...header, version: 11 }, 'document', 'testnet06').ledgerVersion).toBe('testnet06');
  });
});

describe('any header', () => {
  it('is 178 bytes and 36 for each adjacent, and comes back from binary and from JSON', () => {
    fc.assert(
      fc.property(blockHeaders, (header) => {
        const bytes = encodeHeader(header);
        expect(bytes.length).toBe(178 + 36 * header.adjacents.length);
        expect(parseHeader(bytes)).toEqual(header);
        expect(parseHeader(Buffer.concat([bytes, blockHash(header)]))).toEqual(header);
        const text = stringifyExactJson(headerToJson(header, 'document'));
        expect(headerFromJson(parseExactJson(text))).toEqual(header);
      }),
    );
  });

  it('has the block hash of a tree that is built from below', () => {
    fc.assert(
      fc.property(blockHeaders, (header) => {
        expect(blockHash(header)).toEqual(blockHashFromBelow(header));
      }),
    );
  });

  it('is 178 bytes on a network of one chain, and 250 on one of three', () => {
    expect([0, 2, 3].map(headerBytes)).toEqual([178, 250, 286]);
  });

  it('keeps no reference to the bytes that it was read from', () => {
    const bytes = Buffer.from(samples[0].binary, 'base64url');
    const header = parseHeader(bytes);
    bytes.fill(0);
    expect(encodeBase64url(blockHash(header))).toBe(samples[0].hash);
  });

  it('is refused when its adjacents do not ascend, also in binary without a block hash', () => {
    const header = parseHeader(decodeBase64url(samples[0].binary));
    const [first, second, third] = header.adjacents;
    for (const adjacents of [
      [second, first, third],
      [first, first, third],
    ]) {
      expect(() => parseHeader(encodeHeader({ ...header, adjacents }))).toThrow(
        `The adjacents are not in ascending order: ${adjacents.map(({ chain }) => chain).join(', ')}`,
      );
    }
  });

  it('comes from JSON with its adjacents in ascending order, however the JSON has them', () => {
    const [{ json }] = samples;
    const [five] = /"5":"[^"]+",/.exec(json)!;
    const last = json.replace(five, '').replace(/("15":"[^"]+")/, `$1,${five.slice(0, -1)}`);
    expect(last).not.toBe(json);
    expect(headerFromJson(parseExactJson(last))).toEqual(headerFromJson(parseExactJson(json)));
  });

  it('is refused when a field does not fit', () => {
    const header = parseHeader(decodeBase64url(samples[0].binary));
    const wrong: Partial<BlockHeader>[] = [
      { featureFlags: 2n ** 64n },
      { height: -1n },
      { nonce: 2n ** 64n },
      { creationTimeUs: 2n ** 63n },
      { creationTimeUs: -(2n ** 63n) - 1n },
      { epochStartUs: 2n ** 63n },
      { chain: 2 ** 32 },
      { version: 2 ** 32 },
      { version: -1 },
      { weight: 2n ** 256n },
      { parent: new Uint8Array(31) },
      { target: new Uint8Array(33) },
    ];
    for (const fields of wrong) expect(() => encodeHeader({ ...header, ...fields })).toThrow(RangeError);
  });

  it('may have the greatest and the least value of each field', () => {
    const header = parseHeader(decodeBase64url(samples[0].binary));
    const u64 = 2n ** 64n - 1n;
    const all = { featureFlags: u64, height: u64, nonce: u64, chain: 2 ** 32 - 1, version: 2 ** 32 - 1 };
    const greatest = { ...all, creationTimeUs: 2n ** 63n - 1n, epochStartUs: 2n ** 63n - 1n, weight: 2n ** 256n - 1n };
    const none = { featureFlags: 0n, height: 0n, nonce: 0n, chain: 0, version: 0, weight: 0n };
    const least = { ...none, creationTimeUs: -(2n ** 63n), epochStartUs: -(2n ** 63n) };
    for (const fields of [greatest, least]) {
      expect(parseHeader(encodeHeader({ ...header, ...fields }))).toEqual({ ...header, ...fields });
    }
  });
});

describe('junk', () => {
  it('in binary has no answer but a LedgerFormatError', () => {
    const lengths = fc.oneof(fc.integer({ min: 0, max: 400 }), fc.constantFrom(178, 210, 250, 282, 286, 318));
    const junk = lengths.chain((length) => fc.uint8Array({ minLength: length, maxLength: length }));
    fc.assert(
      fc.property(junk, fc.nat(4), (bytes, adjacents) => {
        if (bytes.length > 50) bytes.set([adjacents, 0], 48);
        if (refusalOf(() => parseHeader(bytes))) return;
        expect(encodeHeader(parseHeader(bytes))).toEqual(Uint8Array.from(bytes));
      }),
    );
  });

  it('in JSON has no answer but a LedgerFormatError', () => {
    fc.assert(
      fc.property(almost(JSON.parse(samples[0].json)), (text) => {
        if (refusalOf(() => headerFromJson(parseExactJson(text)))) return;
        expect(JSON.parse(text)).toEqual(JSON.parse(samples[0].json));
      }),
    );
  });

  it.each([0, 50, 177, 179, 210])('of %i zeros is no header', (length) => {
    expect(() => parseHeader(new Uint8Array(length))).toThrow(LedgerFormatError);
  });
});

/** As specified: the leaves in order, with neighbours joined level by level. */
function blockHashFromBelow(header: BlockHeader): Uint8Array {
  const sha = (...parts: Uint8Array[]) =>
    Uint8Array.from(createHash('sha512-256').update(Buffer.concat(parts)).digest());
  const integer = (value: bigint, bytes: number) =>
    Buffer.from(value.toString(16).padStart(2 * bytes, '0'), 'hex').reverse();
  const leaf = (tag: number, bytes: Uint8Array) => sha(Uint8Array.of(0, 0, tag), bytes);
  let level = [
    leaf(0x06, integer(header.featureFlags, 8)),
    leaf(0x07, integer(header.creationTimeUs, 8)),
    header.parent,
    leaf(0x11, header.target),
    header.payloadHash,
    leaf(0x02, integer(BigInt(header.chain), 4)),
    leaf(0x04, integer(header.weight, 32)),
    leaf(0x03, integer(header.height, 8)),
    leaf(0x08, integer(BigInt(header.version), 4)),
    leaf(0x19, integer(header.epochStartUs, 8)),
    leaf(0x20, integer(header.nonce, 8)),
    ...header.adjacents.map((adjacent) => adjacent.hash),
  ];
  while (level.length > 1) {
    const pairs = Array.from({ length: Math.ceil(level.length / 2) }, (_, i) => level.slice(2 * i, 2 * i + 2));
    level = pairs.map(([left, right]) => (right ? sha(Uint8Array.of(1), left, right) : left));
  }
  return level[0];
}
