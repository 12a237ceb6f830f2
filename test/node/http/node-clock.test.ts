import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NodeClock } from '#pickaxe/node/http/node-clock.js';

/** A node's clock and ours. `wait` lets time pass on both. */
function setUp(nodeAheadMs: number) {
  let ms = 1_000;
  let oursUs = 1_800_000_000_300_000n;
  let nodeUs = oursUs + BigInt(nodeAheadMs) * 1000n;
  const nodeClock = new NodeClock({ ...systemClock, nowUs: () => oursUs, monotonicMs: () => ms });
  const wait = (forMs: number) => {
    ms += forMs;
    oursUs += BigInt(forMs) * 1000n;
    nodeUs += BigInt(forMs) * 1000n;
  };
  return {
    wait,
    latestUs: () => nodeClock.latestTimeUs(),
    untilMs: (timeUs: bigint) => nodeClock.untilMs(timeUs),
    nodeUs: () => nodeUs,
    oursUs: () => oursUs,
    stepNode: (byMs: number) => {
      nodeUs += BigInt(byMs) * 1000n;
    },
    stepOurs: (byMs: number) => {
      oursUs += BigInt(byMs) * 1000n;
    },
    /** A request that takes `outMs` to the node and `backMs` back. */
    ask: (outMs = 0, backMs = 0) => {
      const askedAtMs = ms;
      wait(outMs);
      const timestamp = nodeUs / 1_000_000n;
      wait(backMs);
      nodeClock.observe(timestamp, askedAtMs);
    },
  };
}

describe('NodeClock', () => {
  it('knows nothing before the first answer, so that no time is rolled', () => {
    expect(setUp(0).latestUs()).toBe(0n);
  });

  it('goes on from the second in the answer, and is never ahead of the node', () => {
    const { ask, wait, latestUs, nodeUs } = setUp(-10_000);
    ask(20, 30);
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
    wait(5_000);
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
    expect(latestUs()).toBeGreaterThan(nodeUs() - 1_200_000n);
  });

  it('returns our clock when the node is ahead', () => {
    const { ask, wait, latestUs, oursUs } = setUp(60_000);
    ask();
    wait(3_000);
    expect(latestUs()).toBe(oursUs());
  });

  it('is never moved past the node’s clock by jumps of our own clock', () => {
    const { ask, stepOurs, latestUs, nodeUs, oursUs } = setUp(0);
    ask();
    stepOurs(3_600_000);
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
    stepOurs(-7_200_000);
    expect(latestUs()).toBe(oursUs());
  });

  it('keeps the highest bound: an answer from the beginning of a second is better than a later one from the end', () => {
    const { ask, wait, latestUs, nodeUs } = setUp(-5_000);
    wait(710); // This is 10 ms after the begin of the node's second.
    ask();
    wait(980); // This is 10 ms before its end.
    ask();
    expect(latestUs()).toBeGreaterThan(nodeUs() - 15_000n);
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
  });

  it('forgets a bound that an answer contradicts, because the node’s clock was set back', () => {
    const { ask, wait, stepNode, latestUs, nodeUs } = setUp(-1);
    ask();
    stepNode(-30_000);
    wait(100);
    ask(5, 5);
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
    expect(latestUs()).toBeGreaterThan(nodeUs() - 1_100_000n);
  });

  it('does not confuse a slow answer with a clock that was set back', () => {
    const { ask, wait, latestUs } = setUp(-5_000);
    ask();
    wait(10_000);
    const before = latestUs();
    ask(0, 8_000); // The answer is 8 s old when it arrives.
    expect(latestUs()).toBeGreaterThan(before + 7_900_000n);
  });

  it('stays behind a node whose clock runs slower by 500 ppm', () => {
    const { ask, wait, stepNode, latestUs, nodeUs } = setUp(-2_000);
    ask();
    for (let minute = 0; minute < 60; minute++) {
      wait(60_000);
      stepNode(-30);
    }
    expect(latestUs()).toBeLessThanOrEqual(nodeUs());
  });

  it('tells when a time has surely come at the node, whatever our own clock shows', () => {
    const { ask, wait, stepOurs, untilMs, nodeUs } = setUp(-300);
    expect(untilMs(nodeUs() + 60_000_000n)).toBe(0); // Nothing is known before the first answer.
    ask();
    const timeUs = nodeUs() + 2_000_000n;
    expect(untilMs(timeUs)).toBe(2_000);
    stepOurs(-3_600_000);
    wait(1_500);
    expect(untilMs(timeUs)).toBe(500.75); // The bound grows more slowly than time passes.
    wait(502);
    expect(untilMs(timeUs)).toBe(0);
    expect(untilMs(timeUs - 1_000_000n)).toBe(0);
  });
});
