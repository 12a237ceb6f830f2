/** The exact limits of accepted submissions: creation times, targets and the age of work. */

import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { firstPayload } from '#pickaxe/mock-node/ledger/payloads.js';
import { Referee } from '#pickaxe/mock-node/ledger/referee.js';
import { HEADER_BYTES, HEADER_OFFSET, TARGET_BYTES, WORK_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { integerToTarget, targetToInteger } from '#pickaxe/protocol/chain/target.js';
import { withCreationTime, withNonce } from '#pickaxe/protocol/chain/work.js';

const PARENT_US = 1_700_000_000_000_000n;
const NOW_US = PARENT_US + 30_000_000n;
const LIFETIME_MS = 300_000;
const ISSUED_MS = 5_000;
/** Facts about the work that its record lacks. */
const FACTS = { chain: 0, parentTimeUs: PARENT_US, payload: firstPayload(new ChainState()) };
const EVERYTHING = new Uint8Array(32).fill(0xff);

const someHeader = withCreationTime(
  Uint8Array.from({ length: HEADER_BYTES }, (_, i) => (i * 37 + 11) & 0xff),
  NOW_US - 1_000_000n,
);

/** A referee that has issued one work. */
function referee(target: Uint8Array = EVERYTHING): Referee {
  const record = new Uint8Array(WORK_BYTES);
  record.set(target, WORK_OFFSET.target);
  record.set(someHeader, WORK_OFFSET.header);
  const made = new Referee(LIFETIME_MS);
  made.issue(record, FACTS, ISSUED_MS);
  return made;
}

const judge = (header: Uint8Array, { by = referee(), nowUs = NOW_US, nowMs = ISSUED_MS } = {}) =>
  by.judge(header, nowUs, nowMs);

const accepted = expect.objectContaining({ outcome: 'accepted' });
const wrongTime = expect.objectContaining({
  outcome: 'rejected',
  reason: 'Invalid solved work: Invalid creation time',
  timeViolation: true,
});
const forgotten = { outcome: 'stale', reason: 'No associated Payload' };

it.each([
  ['the parent’s', PARENT_US, wrongTime],
  ['a microsecond after the parent’s', PARENT_US + 1n, accepted],
  ['the node’s clock', NOW_US, accepted],
  ['a microsecond ahead of the node’s clock', NOW_US + 1n, wrongTime],
  ['before 1970', -1n, wrongTime],
])('a creation time of %s', (_, timeUs, verdict) => {
  expect(judge(withCreationTime(someHeader, timeUs))).toEqual(verdict);
});

it('a hash equal to the target solves, and one above it does not', () => {
  const hash = createHash('blake2s256').update(someHeader).digest();
  const below = integerToTarget(targetToInteger(hash) - 1n);
  expect(judge(someHeader, { by: referee(hash) })).toEqual(accepted);
  expect(judge(someHeader, { by: referee(below) })).toMatchObject({
    outcome: 'rejected',
    reason: 'Invalid solved work: Invalid POW hash',
  });
});

it('work is forgotten at a certain age, which begins again when the work is given out again', () => {
  const at = (nowMs: number) => judge(someHeader, { nowMs });
  expect(at(ISSUED_MS + LIFETIME_MS - 1)).toEqual(accepted);
  expect(at(ISSUED_MS + LIFETIME_MS)).toEqual(forgotten);
  const again = referee();
  const record = new Uint8Array(WORK_BYTES).fill(0xff, 0, WORK_OFFSET.header);
  record.set(someHeader, WORK_OFFSET.header);
  again.issue(record, FACTS, ISSUED_MS + LIFETIME_MS - 1);
  expect(judge(someHeader, { by: again, nowMs: ISSUED_MS + LIFETIME_MS + 1 })).toEqual(accepted);
});

it('a solution is judged by the target for which it was mined, after another one was set for the same payload', () => {
  const by = referee();
  const later = new Uint8Array(WORK_BYTES); // No nonce solves this target.
  later.set(someHeader, WORK_OFFSET.header);
  later.fill(0, WORK_OFFSET.header + HEADER_OFFSET.target, WORK_OFFSET.header + HEADER_OFFSET.target + TARGET_BYTES);
  by.issue(later, FACTS, ISSUED_MS + 1);
  const atOnce = { by, nowMs: ISSUED_MS + 1 };
  const judgedLater = later.slice(WORK_OFFSET.header);
  expect(by.remembered(ISSUED_MS + 1)).toBe(2);
  expect(judge(someHeader, atOnce)).toEqual(accepted);
  // A solution ends all work for its payload.
  expect(judge(judgedLater, atOnce)).toEqual(forgotten);
  by.issue(later, FACTS, ISSUED_MS + 1);
  expect(judge(judgedLater, atOnce)).toMatchObject({ reason: 'Invalid solved work: Invalid POW hash' });
});

it('work that is given out again counts once, however often', () => {
  const all = referee();
  for (const [i, nowMs] of [0, 100, 200].entries()) {
    const other = someHeader.slice();
    other[190] = i; // This byte belongs to the payload hash.
    const record = new Uint8Array(WORK_BYTES);
    record.set(other, WORK_OFFSET.header);
    all.issue(record, FACTS, ISSUED_MS + nowMs);
    all.issue(record, FACTS, ISSUED_MS + nowMs);
  }
  expect(all.remembered(ISSUED_MS + 200)).toBe(4);
  expect(all.remembered(ISSUED_MS + LIFETIME_MS)).toBe(2);
  expect(all.remembered(ISSUED_MS + LIFETIME_MS + 200)).toBe(0);
});

it('work that is given out again does not keep younger work from being forgotten', () => {
  const by = referee();
  const other = someHeader.slice();
  other[190] ^= 1; // This byte belongs to the payload hash.
  const issue = (header: Uint8Array, nowMs: number) => {
    const record = new Uint8Array(WORK_BYTES);
    record.set(header, WORK_OFFSET.header);
    by.issue(record, FACTS, nowMs);
  };
  issue(other, ISSUED_MS + 100);
  issue(someHeader, ISSUED_MS + 200);
  expect(by.remembered(ISSUED_MS + 200)).toBe(2);
  expect(by.remembered(ISSUED_MS + LIFETIME_MS + 100)).toBe(1);
});

it.each([0, 4, 285, 287, 322])('%i bytes are not a header, and drop no work', (length) => {
  const by = referee();
  expect(judge(new Uint8Array(length), { by })).toMatchObject({
    outcome: 'rejected',
    reason: expect.stringMatching(/^Decoding error: /),
  });
  expect(judge(someHeader, { by })).toEqual(accepted);
});

it('changes of any bit but those of the creation time and the nonce are rejected', () => {
  for (let at = 0; at < HEADER_BYTES; at++) {
    const isMiners = (at >= 8 && at < 16) || at >= 278;
    const isPayload = at >= 190 && at < 222;
    const changed = someHeader.slice();
    changed[at] ^= 1;
    const { outcome } = judge(isMiners ? withCreationTime(changed, NOW_US) : changed);
    expect([at, outcome]).toEqual([at, isMiners ? 'accepted' : isPayload ? 'stale' : 'rejected']);
  }
});

it('an unknown payload is stale, and does not affect issued work', () => {
  const by = referee(new Uint8Array(32)); // No nonce solves this target.
  const other = someHeader.slice();
  other[190] ^= 1;
  expect(judge(other, { by })).toEqual(forgotten);
  expect(judge(someHeader, { by })).toMatchObject({ outcome: 'rejected' });
  expect(judge(someHeader, { by })).toEqual(forgotten);
});

it('a header that was changed and has a wrong hash is rejected because of the hash', () => {
  const changed = withNonce(someHeader, 1n);
  changed[60] ^= 1;
  expect(judge(changed, { by: referee(new Uint8Array(32)) })).toMatchObject({
    reason: 'Invalid solved work: Invalid POW hash',
  });
});

it('without a check of the proof of work, any nonce solves, and all else is judged', () => {
  const by = new Referee(LIFETIME_MS, false);
  const record = new Uint8Array(WORK_BYTES); // No nonce solves this target.
  record.set(someHeader, WORK_OFFSET.header);
  const issue = () => by.issue(record, FACTS, ISSUED_MS);
  issue();
  expect(judge(withNonce(someHeader, 7n), { by })).toEqual(accepted);
  issue();
  expect(judge(withCreationTime(someHeader, PARENT_US), { by })).toEqual(wrongTime);
});

it('a solution is accepted once', () => {
  const by = referee();
  expect(judge(someHeader, { by })).toEqual(accepted);
  expect(judge(someHeader, { by })).toEqual(forgotten);
});
