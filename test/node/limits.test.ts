/** What the documents and the protocol say of time. */

import { expect, it } from 'vitest';
import { nodeLimits } from '#pickaxe/node/limits.js';

it('a node that is back is asked within a second', () => {
  expect(nodeLimits.fetchPauses.mostMs).toBeLessThan(1_000);
  expect(nodeLimits.submitPauses.mostMs).toBeLessThan(1_000);
  expect(nodeLimits.streamPauses.mostMs).toBeLessThanOrEqual(2_000);
});

it('a silent stream costs seconds', () => {
  expect(nodeLimits.refreshMs).toBeGreaterThanOrEqual(20_000);
  expect(nodeLimits.refreshMs).toBeLessThanOrEqual(30_000);
  expect(nodeLimits.pollMs).toBe(2_000);
  expect(nodeLimits.newCutGraceMs).toBeLessThanOrEqual(2_000);
});

it('a New Cut waits for nothing that takes a second', () => {
  expect(nodeLimits.burstMs).toBeLessThanOrEqual(100);
  expect(nodeLimits.hurryMs).toBeLessThan(1_000);
});

it('a rig has other work a second after it has sent a solution, whatever becomes of that', () => {
  expect(nodeLimits.solvedAfterMs).toBeLessThanOrEqual(1_000);
});

it('while nothing is mined, a node is asked every few seconds', () => {
  expect(nodeLimits.idlePatienceMs).toBeLessThanOrEqual(5_000);
  expect(nodeLimits.refusedPauses.mostMs).toBeLessThanOrEqual(10_000);
});

it('a node that is frozen is found within two seconds', () => {
  expect(nodeLimits.probeTimeoutMs).toBeLessThanOrEqual(2_000);
});

it('a node that gives no more streams is left in peace for half a minute', () => {
  expect(nodeLimits.noStreamsPauseMs).toBeGreaterThanOrEqual(30_000);
});

it('a stream that a node ends in the normal way is opened again at once', () => {
  expect(nodeLimits.steadyStreamMs).toBeLessThan(216_000);
});

it('a solution is tried again for as long as nodes remember work, and for five seconds after stop', () => {
  expect(nodeLimits.expiryMs).toBe(300_000);
  expect(nodeLimits.submitAfterStopMs).toBe(5_000);
});

it('a stream may be as old as nodes let one get: 240 s and a tenth', () => {
  expect(nodeLimits.maxStreamMs).toBeGreaterThan(264_000);
  expect(nodeLimits.maxStreamMs).toBeLessThanOrEqual(300_000);
});
