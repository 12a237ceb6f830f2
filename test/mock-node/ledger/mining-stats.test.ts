/** The counters of the mock ledger, and how many submissions it remembers. */

import { expect, it } from 'vitest';
import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { LedgerStats, recordOf, type SubmissionRecord } from '#pickaxe/mock-node/ledger/mining-stats.js';
import { firstPayload } from '#pickaxe/mock-node/ledger/payloads.js';
import { HEADER_BYTES, HEADER_OFFSET, viewOf } from '#pickaxe/protocol/chain/bytes.js';
import { withCreationTime, withNonce } from '#pickaxe/protocol/chain/work.js';

const header = withNonce(withCreationTime(new Uint8Array(HEADER_BYTES), 7n), 9n);
viewOf(header).setUint32(HEADER_OFFSET.chain, 4, true);
viewOf(header).setBigUint64(HEADER_OFFSET.height, 12n, true);

const workOf = (late: boolean) => ({
  chain: 4,
  parentTimeUs: 1n,
  payload: firstPayload(new ChainState()),
  header: withCreationTime(header, 5n),
  target: new Uint8Array(32),
  issuedAtMs: 0,
  late,
});
const FACTS = { chain: 4, height: 12n, nonce: 9n, creationTimeUs: 7n, header };

it.each([
  ['accepted', { outcome: 'accepted', work: workOf(false) }, { reason: '', orphaned: false, workTimeUs: 5n }],
  ['accepted too late', { outcome: 'accepted', work: workOf(true) }, { reason: '', orphaned: true, workTimeUs: 5n }],
  [
    'rejected',
    { outcome: 'rejected', reason: 'wrong', work: workOf(true) },
    { reason: 'wrong', orphaned: false, workTimeUs: 5n },
  ],
  ['stale', { outcome: 'stale', reason: 'unknown' }, { reason: 'unknown', orphaned: false, workTimeUs: undefined }],
] as const)('a submission that was %s is recorded whole', (_, judgement, more) => {
  for (const duplicate of [false, true]) {
    expect(recordOf(header, judgement, duplicate)).toEqual({
      ...FACTS,
      ...more,
      outcome: judgement.outcome,
      duplicate,
    });
  }
});

it('each submission counts once for what it is', () => {
  const stats = new LedgerStats();
  const record = (more: Partial<SubmissionRecord>) => {
    stats.record({ ...recordOf(header, { outcome: 'stale', reason: '' }, false), ...more });
  };
  record({ outcome: 'accepted' });
  record({ outcome: 'accepted', orphaned: true });
  for (let i = 0; i < 3; i++) record({ outcome: 'rejected' });
  for (let i = 0; i < 4; i++) record({ duplicate: true });
  expect(stats).toMatchObject({
    workIssued: 0,
    submissions: 9,
    accepted: 2,
    rejected: 3,
    stale: 4,
    duplicates: 4,
    timeViolations: 0,
    orphaned: 1,
    rivalBlocks: 0,
  });
});

it('the newest thousand submissions are kept', () => {
  const stats = new LedgerStats();
  for (let nonce = 0n; nonce < 1_001n; nonce++) {
    stats.record({ ...recordOf(header, { outcome: 'stale', reason: '' }, false), nonce });
    if (nonce === 999n) expect(stats.records[0].nonce).toBe(0n);
  }
  expect([stats.records.length, stats.records[0].nonce, stats.records.at(-1)!.nonce]).toEqual([1_000, 1n, 1_000n]);
  expect(stats.submissions).toBe(1_001);
});

it('a submission is a duplicate if one of its two texts came before, among the last ten thousand', () => {
  const stats = new LedgerStats();
  expect(stats.isDuplicate('header', 'nonce')).toBe(false);
  expect([stats.isDuplicate('other', 'nonce'), stats.isDuplicate('header', 'else')]).toEqual([true, true]);
  expect(stats.isDuplicate('a', 'b')).toBe(false);
  const first = new LedgerStats();
  first.isDuplicate('oldest', 'second');
  for (let i = 0; i < 4_999; i++) first.isDuplicate(`header ${i}`, `nonce ${i}`);
  expect(first.isDuplicate('oldest')).toBe(true);
});
