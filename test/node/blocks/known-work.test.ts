import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { KnownWork, minedHeaders } from '#pickaxe/node/blocks/known-work.js';
import { integerToTarget, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { type BlockHeader, encodeHeader, parseHeader, powHash } from '#pickaxe/protocol/ledger/header.js';
import { hasWork, leastWork } from '#pickaxe/protocol/ledger/least-work.js';
import { madeHeader, madeRecord } from './pretend.ts';

/** A header that took about 2^bits hashes. */
function header(bits: bigint): BlockHeader {
  const target = integerToTarget(2n ** (256n - bits) - 1n);
  for (let nonce = 0n; ; nonce++) {
    const tried = parseHeader(madeHeader(0, 5n, nonce, { target }));
    if (targetToInteger(powHash(tried)) <= targetToInteger(target)) return tried;
  }
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-known-work-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

const table = (network: string) => (network === 'mainnet01' ? 2n : undefined);

it('of known networks is in a table; some networks have none, and all others take work', () => {
  expect(['mainnet01', 'testnet04', 'testnet06', 'stoamainnet01'].map(leastWork)).toEqual([
    2n ** 44n,
    2n ** 20n,
    2n ** 20n,
    undefined,
  ]);
  expect(['mainnet01', 'testnet04', 'farm', 'developments'].map(hasWork)).toEqual([true, true, true, true]);
  expect(['development', 'recap-development', 'test-singleton'].map(hasWork)).toEqual([false, false, false]);
});

it('is a sixteenth of the hardest block that was seen, also by later runs, and never less than the table', () => {
  const first = new KnownWork({ folder, table });
  expect(first.leastWork('mainnet01')).toBe(2n);
  first.see('mainnet01', header(9n));
  first.see('mainnet01', header(3n));
  expect(first.leastWork('mainnet01')).toBe(32n);
  const file = join(folder, 'known-work.json');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(new KnownWork({ folder, table }).leastWork('mainnet01')).toBe(32n);
  expect(new KnownWork({ folder, table: () => 100n }).leastWork('mainnet01')).toBe(100n);
});

it('of an unknown network is known only once the user has taken a node’s word, who may also lower it', () => {
  const careful = new KnownWork({ folder, table });
  careful.see('farm', header(9n));
  expect(careful.leastWork('farm')).toBeUndefined();
  new KnownWork({ folder, table, trustsNodes: true }).see('farm', header(9n));
  const later = new KnownWork({ folder, table });
  expect(later.leastWork('farm')).toBe(32n);
  later.see('farm', header(5n));
  expect(later.leastWork('farm')).toBe(32n);
  new KnownWork({ folder, table, trustsNodes: true }).see('farm', header(5n));
  expect(new KnownWork({ folder, table }).leastWork('farm')).toBe(2n);
});

it('counts no header in the file whose work was not done, and begins anew where the file is damaged', () => {
  const file = join(folder, 'known-work.json');
  const known = new KnownWork({ folder, table });
  known.see('mainnet01', header(9n));
  const { mainnet01 } = JSON.parse(readFileSync(file, 'utf8'));
  const easy = { ...header(3n), target: header(9n).target };
  const forged = Buffer.from(encodeHeader({ ...easy, nonce: notSolving(easy) })).toString('base64url');
  for (const text of [
    JSON.stringify({ mainnet01: forged }),
    '{',
    '[1]',
    JSON.stringify({ mainnet01: mainnet01.slice(4) }),
  ]) {
    writeFileSync(file, text);
    const warnings: string[] = [];
    expect(new KnownWork({ folder, table, warn: (text) => warnings.push(text) }).leastWork('mainnet01')).toBe(2n);
    expect(warnings).toEqual([expect.stringContaining(`${file} cannot be read, and begins anew: `)]);
  }
});

function notSolving(tried: BlockHeader): bigint {
  for (let nonce = 0n; ; nonce++) {
    if (targetToInteger(powHash({ ...tried, nonce })) > targetToInteger(tried.target)) return nonce;
  }
}

it('is a sixteenth of the newest block that this rig has found', async () => {
  const store = new BlockStore({ folder, warn: () => {} });
  const found = (bits: bigint, foundMs: number, network = 'mainnet01') =>
    store.add({ type: 'found', record: madeRecord(encodeHeader(header(bits)), { foundMs, network }) });
  found(9n, 2_000);
  found(7n, 3_000);
  found(8n, 1_000);
  found(6n, 1_000, 'farm');
  await store.close();
  const mined = await minedHeaders(folder, () => {});
  const known = new KnownWork({ table, mined });
  expect([known.leastWork('mainnet01'), known.leastWork('farm'), known.leastWork('other')]).toEqual([
    8n,
    4n,
    undefined,
  ]);
  expect(await minedHeaders(join(folder, 'none'), () => {})).toEqual(new Map());
});
