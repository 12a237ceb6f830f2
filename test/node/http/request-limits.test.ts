/** Compares the time limits with the requirements of the documents and the protocol. */

import { expect, it } from 'vitest';
import { nodeLimits } from '#pickaxe/node/http/request-limits.js';

it('a node that is back is asked for work within a second', () => {
  expect(nodeLimits.fetchPauses.mostMs).toBeLessThan(1_000);
  expect(nodeLimits.submitPauses.mostMs).toBeLessThan(1_000);
  expect(nodeLimits.streamPauses.mostMs).toBeLessThanOrEqual(2_000);
});

it('a silent stream is noticed within seconds', () => {
  expect(nodeLimits.refreshMs).toBeGreaterThanOrEqual(20_000);
  expect(nodeLimits.refreshMs).toBeLessThanOrEqual(30_000);
  expect(nodeLimits.pollMs).toBe(2_000);
  expect(nodeLimits.newCutGraceMs).toBeLessThanOrEqual(2_000);
});

it('after a New Cut no wait is as long as a second', () => {
  expect(nodeLimits.burstMs).toBeLessThanOrEqual(100);
  expect(nodeLimits.hurryMs).toBeLessThan(1_000);
});

it('a rig has other work a second after it has sent a solution, whatever the verdict', () => {
  expect(nodeLimits.solvedAfterMs).toBeLessThanOrEqual(1_000);
});

it('while nothing is mined, a node is asked every few seconds', () => {
  expect(nodeLimits.idlePatienceMs).toBeLessThanOrEqual(5_000);
  expect(nodeLimits.refusedPauses.mostMs).toBeLessThanOrEqual(10_000);
});

it('a frozen node is noticed within two seconds', () => {
  expect(nodeLimits.probeTimeoutMs).toBeLessThanOrEqual(2_000);
});

it('a node without free streams is asked again only after half a minute', () => {
  expect(nodeLimits.noStreamsPauseMs).toBeGreaterThanOrEqual(30_000);
});

it('a stream that a node ends in the normal way is opened again at once', () => {
  expect(nodeLimits.steadyStreamMs).toBeLessThan(216_000);
});

it('a submission is repeated for as long as nodes remember work, and for five seconds after stop', () => {
  expect(nodeLimits.expiryMs).toBe(300_000);
  expect(nodeLimits.submitAfterStopMs).toBe(5_000);
});

it('a stream may be as old as nodes allow: 240 s and 10 %', () => {
  expect(nodeLimits.maxStreamMs).toBeGreaterThan(264_000);
  expect(nodeLimits.maxStreamMs).toBeLessThanOrEqual(300_000);
});
