/** Compares the time limits with the requirements of the documents and the protocol. */

import { expect, it } from 'vitest';
import { apiLimits, nodeLimits } from '#pickaxe/node/http/request-limits.js';

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

it('no request waits for longer than seconds to find out that nobody answers', () => {
  expect(nodeLimits.connectTimeoutMs).toBeLessThanOrEqual(5_000);
  expect(nodeLimits.configTimeoutMs).toBeLessThanOrEqual(5_000);
  expect(nodeLimits.workTimeoutMs).toBeLessThanOrEqual(10_000);
  expect(nodeLimits.solvedTimeoutMs).toBeLessThanOrEqual(10_000);
  expect(nodeLimits.streamAnswerMs).toBeLessThanOrEqual(10_000);
  expect(nodeLimits.bodyTimeoutMs).toBeLessThanOrEqual(1_000);
});

it('a node that refuses everything is tried again after five minutes, and at least once an hour', () => {
  expect(nodeLimits.unhealthyPauses).toEqual({ firstMs: 300_000, mostMs: 3_600_000 });
});

it('the API is asked three times within seconds, as by the reference client, and for half a minute each time', () => {
  expect(apiLimits.attempts).toBe(3);
  expect(apiLimits.pauses.firstMs).toBeLessThanOrEqual(500);
  expect(apiLimits.pauses.mostMs).toBeLessThanOrEqual(5_000);
  expect(apiLimits.answerTimeoutMs).toBeLessThanOrEqual(30_000);
});

it('a result is waited for until real nodes give up, which is after 180 s, and not much longer', () => {
  expect(apiLimits.listenTimeoutMs).toBeGreaterThan(180_000);
  expect(apiLimits.listenTimeoutMs).toBeLessThanOrEqual(200_000);
});

it('a payload whose header has just appeared is asked for three times more, half a second apart', () => {
  expect(apiLimits.freshPayloadAttempts).toBe(1 + 3);
  expect(apiLimits.freshPayloadPauseMs).toBe(500);
});

it('answers are as long as documents say: 1 MiB, and with blocks as many characters as JSON may have', () => {
  expect(apiLimits.mostShortAnswerBytes).toBe(2 ** 20);
  expect(apiLimits.mostAnswerBytes).toBe(2 ** 25);
});
