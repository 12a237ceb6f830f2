import { beforeEach, describe, expect, it } from 'vitest';
import { RequestBounds } from '#pickaxe/miner/source/node/request-bounds.js';

let bounds: RequestBounds;
let ms: number;

beforeEach(() => {
  ms = 1e9;
  bounds = new RequestBounds(ms);
});

/** @returns how many are allowed in a time, if one is asked for each millisecond, and `before` is called before each */
function allowedIn(seconds: number, ask: (nowMs: number) => boolean, before = () => {}): number {
  let allowed = 0;
  for (let i = 0; i < 1_000 * seconds; i++) {
    before();
    if (ask(ms)) allowed++;
    ms += 1;
  }
  return allowed;
}
const mayFetch = (nowMs: number) => bounds.mayFetch(nowMs);
const mayOpenStream = (nowMs: number) => bounds.mayOpenStream(nowMs);
const take = (count: number, ask: (nowMs: number) => boolean) =>
  Array.from({ length: count }, () => ask(ms)).filter(Boolean).length;

describe('fetches', () => {
  it('are 250 at once, and then 25 a second', () => {
    expect(take(1_000, mayFetch)).toBe(250);
    ms += 1_000;
    expect(take(1_000, mayFetch)).toBe(25);
    const allowed = allowedIn(60, mayFetch);
    expect(allowed).toBeGreaterThan(60 * 25 - 2);
    expect(allowed).toBeLessThan(60 * 25 + 2);
  });

  it('that accepted solutions pay for are not among these, and are 250 a second', () => {
    take(1_000, mayFetch);
    const allowed = allowedIn(60, mayFetch, () => bounds.accepted());
    expect(allowed).toBeGreaterThan(60 * 250 - 2);
    expect(allowed).toBeLessThan(60 * 250 + 2);
  });
});

it('accepted solutions are not saved up without end', () => {
  take(1_000, mayFetch);
  for (let i = 0; i < 1_000; i++) bounds.accepted();
  ms += 1_000;
  expect(take(1_000, mayFetch)).toBe(25 + 16);
});

describe('streams', () => {
  it('are 60 at once, and then 5 a second', () => {
    expect(take(1_000, mayOpenStream)).toBe(60);
    ms += 1_000;
    expect(take(1_000, mayOpenStream)).toBe(5);
    const allowed = allowedIn(60, mayOpenStream);
    expect(allowed).toBeGreaterThan(60 * 5 - 2);
    expect(allowed).toBeLessThan(60 * 5 + 2);
  });
});
