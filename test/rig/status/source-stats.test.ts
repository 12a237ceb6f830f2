import { expect, test } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Sources } from '#pickaxe/rig/status/source-stats.js';

type SourceEvent = MinerEvent & { type: 'source' };

/** @returns the status after each of these events, one a second */
function after(...news: [string, SourceEvent['state'], string][]) {
  const sources = new Sources('node');
  for (const [i, [source, state, reason]] of news.entries()) {
    sources.update({ type: 'source', source, kind: 'node', state, reason }, 1_000 * i);
  }
  const nowMs = 1_000 * news.length;
  const now = Object.entries(sources.status(nowMs)).map(([name, { state, reason, ageSeconds, losses, warning }]) => {
    return { name, state, reason, sinceMs: nowMs - 1_000 * ageSeconds, losses, ...(warning !== null && { warning }) };
  });
  return { now, anyConnected: sources.anyConnected };
}

test('an unhealthy source gives work all the same', () => {
  expect(after(['a', 'connected', 'gives work'], ['a', 'unhealthy', 'lags'], ['a', 'warning', 'w'])).toEqual({
    now: [{ name: 'a', state: 'unhealthy', reason: 'lags', sinceMs: 1_000, losses: 0, warning: 'w' }],
    anyConnected: true,
  });
});

test('a source is in its former state once it is healthy again', () => {
  expect(
    after(['a', 'connected', 'gives work'], ['a', 'unhealthy', 'lags'], ['a', 'healthy', 'is healthy']).now,
  ).toEqual([{ name: 'a', state: 'connected', reason: 'gives work', sinceMs: 0, losses: 0 }]);
});

test('an unhealthy source that is lost says that first, and is unhealthy still when it is back', () => {
  const lost = [
    ['a', 'connected', 'gives work'],
    ['a', 'unhealthy', 'lags'],
    ['a', 'lost', 'refused'],
  ] as [string, SourceEvent['state'], string][];
  expect(after(...lost)).toEqual({
    now: [{ name: 'a', state: 'lost', reason: 'refused', sinceMs: 2_000, losses: 1 }],
    anyConnected: false,
  });
  expect(after(...lost, ['a', 'connected', 'gives work']).now).toEqual([
    { name: 'a', state: 'unhealthy', reason: 'lags', sinceMs: 3_000, losses: 1 },
  ]);
});

test('a source that was never needed is unhealthy once it gives work', () => {
  const news = [
    ['a', 'connected', 'gives work'],
    ['b', 'unhealthy', 'lags'],
  ] as [string, SourceEvent['state'], string][];
  expect(after(...news).now.map(({ name }) => name)).toEqual(['a']);
  expect(after(...news, ['b', 'connected', 'gives work']).now[1]).toMatchObject({ state: 'unhealthy', sinceMs: 2_000 });
});
