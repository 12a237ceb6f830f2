import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { VerifyReport, verify } from '#pickaxe/cli/measuring/verify.js';
import { HEADER_OFFSET, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { blockHash, encodeHeader, powHash } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { blockHeaders } from '../../protocol/ledger/arbitraries.ts';
import { headers as ledgerHeaders } from '../../protocol/ledger/vectors.ts';
import { headers, negativeHeaders, workRecords } from '../../vectors.ts';
import { pickaxe, pickaxeIn } from '../in-process.ts';
import { isolated } from '../pickaxe.ts';

describe('pickaxe verify', () => {
  it('says solved for a real header, and exits with 0', async () => {
    const { code, stdout } = await pickaxe('verify', headers[3].headerHex);
    expect(code).toBe(0);
    expect(stdout).toContain(headers[3].powHashHex);
    expect(stdout).toContain(headers[3].targetHex);
    expect(stdout).toMatch(/^block hash +[\w-]{43}$/m);
    expect(stdout).toMatch(/verdict +solved/);
  });

  it('says not solved, and exits with 1', async () => {
    const { code, stdout } = await pickaxe('verify', negativeHeaders.find(({ powOk }) => !powOk)!.headerHex);
    expect(code).toBe(1);
    expect(stdout).toMatch(/verdict +not solved/);
  });

  it('reads base64url as well, also from standard input, as JSON has it', async () => {
    const hex = await pickaxe('verify', headers[3].headerHex, '--json');
    const base64url = encodeBase64url(Buffer.from(headers[3].headerHex, 'hex'));
    expect(await pickaxe('verify', base64url, '--json')).toEqual(hex);
    for (const text of [base64url, `"${base64url}"\n`, `${headers[3].headerHex}\n`]) {
      expect(await pickaxeIn(isolated.cwd, ['verify', '-', '--json'], {}, { stdin: text })).toEqual(hex);
    }
  });

  it('says what is wrong with what is neither', () => {
    expect(() => verify(`${headers[3].headerHex}0`)).toThrow(
      'A digit is missing, or there is one too many: these are 573',
    );
    expect(() => verify(headers[3].headerHex.slice(2))).toThrow('This has 285 bytes.');
    expect(() => verify('a+b/')).toThrow('This is neither hex nor base64url.');
    expect(() => verify('')).toThrow('This has 0 bytes.');
    const hash = Buffer.alloc(32, 0xfb);
    for (const text of [encodeBase64url(hash), hash.toString('hex')])
      expect(() => verify(text)).toThrow('This has 32 bytes, as many as a hash has: a hash is no header.');
  });

  it('prints the whole judgement of a header, with another block hash, and of a record', async () => {
    const [{ workHex }] = workRecords.artificial;
    const texts = [headers[3].headerHex, `${headers[3].headerHex}${'00'.repeat(32)}`, workHex];
    const printed = await Promise.all(texts.map(async (text) => (await pickaxe('verify', text)).stdout));
    expect(printed.join('\n')).toMatchInlineSnapshot(`
      "PoW hash       eaa090223ced39a4bce467fcc9193249c8866d4113e364659f03000000000000
      block hash     g98o3QW8hl0m3e2H4XK_O3hKm7bsJ8PxM_FLnrCy3xQ
      chain          6, height 1800002
      target         7a3cbca5fc61724d989b6dbb69d82753036f249f67c856203c05000000000000 (header, both little-endian)
      difficulty     13.76 P
      nonce          6040610770429231936
      creation time  1626400834617686 µs (2021-07-16T02:00:34.617Z)
      verdict        solved
      PoW hash       eaa090223ced39a4bce467fcc9193249c8866d4113e364659f03000000000000
      block hash     g98o3QW8hl0m3e2H4XK_O3hKm7bsJ8PxM_FLnrCy3xQ, but another one was given
      chain          6, height 1800002
      target         7a3cbca5fc61724d989b6dbb69d82753036f249f67c856203c05000000000000 (header, both little-endian)
      difficulty     13.76 P
      nonce          6040610770429231936
      creation time  1626400834617686 µs (2021-07-16T02:00:34.617Z)
      verdict        solved
      PoW hash       3cbbe3f3b1907ded77d6731a8b449cf9641ce13dc2f4da0db635f3cbd459b6dd
      block hash     rsXxyjMuFIBPGaKue9rQOoFnLAscIzuG1TdaaHg3Pjg
      chain          7, height 318266
      target         ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00 (work record, both little-endian)
      difficulty     256
      nonce          0
      creation time  1581922293298087 µs (2020-02-17T06:51:33.298Z)
      verdict        not solved: the hash is above the target"
    `);
  });

  it('prints a creation time that no calendar has without a date', async () => {
    const header = Buffer.from(headers[3].headerHex, 'hex');
    for (const [us, date] of [
      [8_640_000_000_000_000_999n, ' (+275760-09-13T00:00:00.000Z)'],
      [8_640_000_000_000_001_000n, ''],
    ] as const) {
      header.writeBigInt64LE(us, HEADER_OFFSET.creationTime);
      const { stdout } = await pickaxe('verify', header.toString('hex'));
      expect(stdout).toContain(`creation time  ${us} µs${date}\n`);
    }
  });

  it('says in full what it wants', () => {
    expect(() => verify('00')).toThrow(
      new UsageError(
        'Give a header of 286 bytes (572 hex digits), of as many as its network has, or of 32 more with its block ' +
          'hash; or a work record of 322 bytes (644 hex digits). This has 1 byte.',
      ),
    );
  });

  it('judges a record by its own target', async () => {
    const { workHex, smallestNonceFromZero } = workRecords.artificial[0];
    const record = Buffer.from(workHex, 'hex');
    record.writeBigUInt64LE(BigInt(smallestNonceFromZero), 4 + 32 + 278);
    expect((await pickaxe('verify', record.toString('hex'))).code).toBe(0);
    expect((await pickaxe('verify', record.subarray(36).toString('hex'))).code).toBe(1);
    expect((await pickaxe('verify', workHex)).code).toBe(1);
  });
});

/**
 * A header with four adjacents is as long as a record. It has their number where a record has part of its creation
 * time.
 */
test('a record is one at every creation time', () => {
  const record = Buffer.from(workRecords.artificial[0].workHex, 'hex');
  record.writeUInt16LE(4, 36 + 8 + 4);
  expect(verify(record.toString('hex'))).toMatchObject({
    targetFrom: 'work-record',
    target: record.toString('hex', 4, 36),
  });
});

describe('the hashes of real headers', () => {
  test.each(ledgerHeaders.map((vector) => [vector.network, vector.chain, vector.height, vector] as const))(
    '%s, chain %i, height %i',
    (_network, chain, height, { binary, hash, powHash, powOk, versionCode }) => {
      const bytes = decodeBase64url(binary);
      const expected = {
        powHash,
        blockHash: hash,
        solved: powOk,
        chain,
        height: `${height}`,
        networkNumber: versionCode,
      };
      expect(verify(toHex(bytes))).toMatchObject({ ...expected, blockHashMatches: true });
      expect(verify(toHex(bytes.subarray(0, -32)))).toMatchObject({ ...expected, blockHashMatches: null });
    },
  );
});

test('headers may have any number of adjacents', () => {
  fc.assert(
    fc.property(blockHeaders, (header) => {
      const bytes = encodeHeader(header);
      // A header with four adjacents, in which the three of a shorter one seem to be counted, is taken for a record.
      fc.pre(header.adjacents.length !== 4 || bytes[36 + 48] !== 3 || bytes[36 + 49] !== 0);
      const [bare, whole] = [bytes, Uint8Array.of(...bytes, ...blockHash(header))].map((each) => verify(toHex(each)));
      expect(whole).toEqual({ ...bare, blockHashMatches: true });
      expect(bare).toMatchObject({
        powHash: toHex(powHash(header)),
        blockHash: encodeBase64url(blockHash(header)),
        target: toHex(header.target),
        targetFrom: 'header',
      });
    }),
    { numRuns: 50 },
  );
});

test('bytes that are neither a header nor a work record are refused', () => {
  for (const hex of ['', 'abc', 'ab'.repeat(177), headers[0].headerHex.slice(2), `${headers[0].headerHex}00`]) {
    expect(() => verify(hex)).toThrow(UsageError);
  }
});

test('pickaxe verify --json prints the report, and exits with 1 for the block hash of another header', async () => {
  const bytes = decodeBase64url(ledgerHeaders[0].binary);
  const right = await pickaxe('verify', '--json', toHex(bytes));
  expect(right.code).toBe(0);
  expect(VerifyReport.parse(JSON.parse(right.stdout))).toEqual(verify(toHex(bytes)));
  bytes[bytes.length - 1] ^= 1;
  const wrong = await pickaxe('verify', toHex(bytes));
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('but another one was given')]);
});
