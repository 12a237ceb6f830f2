import { expect, it } from 'vitest';
import { VirtualTime } from './virtual-time.ts';

function setUp() {
  const time = new VirtualTime();
  const process = time.start('one');
  const seen: string[] = [];
  const see = (what: string) => () => void seen.push(`${time.nowMs}: ${what}`);
  return { time, process, clock: process.clock, seen, see };
}

it('events happen in the order of their times, and equal times in the order in which they were planned', async () => {
  const { time, clock, seen, see } = setUp();
  clock.setTimeout(see('b'), 20);
  clock.setTimeout(see('c'), 20);
  clock.setTimeout(see('a'), 10);
  await time.runUntil(15);
  expect(seen).toEqual(['10: a']);
  await time.runUntil(30);
  expect(seen).toEqual(['10: a', '20: b', '20: c']);
  expect(time.nowMs).toBe(30);
});

it('what an event causes without a timer happens before the next event', async () => {
  const { time, clock, seen, see } = setUp();
  clock.setTimeout(() => void Promise.resolve().then(() => process.nextTick(see('a'))), 10);
  clock.setTimeout(see('b'), 10);
  await time.runUntil(10);
  expect(seen).toEqual(['10: a', '10: b']);
});

it('timers can be cancelled, repeat, and are counted', async () => {
  const { time, process, clock, seen, see } = setUp();
  const repeated = clock.setInterval(see('again'), 10);
  const cancelled = clock.setTimeout(see('never'), 25);
  clock.setTimeout(() => cancelled.cancel(), 20);
  expect(process.timers).toBe(3);
  await time.runUntil(30);
  expect(seen).toEqual(['10: again', '20: again', '30: again']);
  repeated.cancel();
  repeated.cancel();
  expect(process.timers).toBe(0);
  await time.runUntil(100);
  expect(seen).toHaveLength(3);
});

it('no timer fires before a millisecond has passed, but an immediate does', async () => {
  const { time, clock, seen, see } = setUp();
  clock.setTimeout(see('timer'), 0);
  clock.setImmediate(see('immediate'));
  await time.runUntil(5);
  expect(seen).toEqual(['0: immediate', '1: timer']);
});

it('nothing happens in a killed process any more', async () => {
  const { time, process, clock, seen, see } = setUp();
  let kills = 0;
  process.onKill(() => kills++);
  clock.setTimeout(see('never'), 10);
  process.kill();
  process.kill();
  await time.runUntil(20);
  expect(seen).toEqual([]);
  expect(kills).toBe(1);
});

it('what is due in a frozen process happens when it is thawed, unless it is cancelled then', async () => {
  const { time, process, clock, seen, see } = setUp();
  const late = clock.setTimeout(see('never'), 10);
  clock.setTimeout(() => {
    seen.push(`${time.nowMs}: cancels`);
    late.cancel();
  }, 5);
  clock.setTimeout(see('held'), 12);
  process.freeze();
  await time.runUntil(100);
  expect(seen).toEqual([]);
  process.thaw();
  await time.runUntil(100);
  expect(seen).toEqual(['100: cancels', '100: held']);
});

it('each process has a clock of its own, on which no time comes twice', async () => {
  const time = new VirtualTime();
  const [one, ahead] = [time.start('one'), time.start('two', 2_000)];
  await time.runUntil(10);
  const [a, b] = [one.clock.nowUs(), one.clock.nowUs()];
  expect(b).toBe(a + 1n);
  expect(ahead.clock.nowUs() - a).toBe(2_000_000n);
  expect(one.clock.monotonicMs()).toBe(10);
});

it('the timers and the monotonic clock of a machine that sleeps stand still, and its wall clock goes on', async () => {
  const { time, process, clock, seen, see } = setUp();
  clock.setTimeout(see('planned before'), 100);
  clock.setTimeout(see('due at once'), 40);
  await time.runUntil(40);
  const [beforeMs, beforeUs] = [clock.monotonicMs(), clock.nowUs()];
  process.suspend();
  await time.runUntil(1_000);
  clock.setTimeout(see('planned in its sleep'), 10);
  await time.runUntil(1_040);
  expect([clock.monotonicMs(), clock.nowUs() - beforeUs]).toEqual([beforeMs, 1_000_000n]);
  process.thaw();
  await time.runUntil(2_000);
  expect(seen).toEqual(['40: due at once', '1050: planned in its sleep', '1100: planned before']);
  expect(clock.monotonicMs()).toBe(1_000);
});
