import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { watchTerminals } from '#pickaxe/rig/pauses/terminals.js';

const dev = mkdtempSync(join(tmpdir(), 'pickaxe-dev-'));
afterAll(() => rmSync(dev, { recursive: true, force: true }));

const NOW = 1_800_000_000_000;

/** Makes a terminal that was last read the given time ago, and written just now. */
function terminal(name: string, secondsAgo: number): void {
  writeFileSync(join(dev, name), '');
  utimesSync(join(dev, name), NOW / 1000 - secondsAgo, NOW / 1000);
}

test('terminals are idle since a key was last pressed in any of them', async () => {
  mkdirSync(join(dev, 'pts'));
  const watch = (await watchTerminals(dev))!;
  expect(await watch.idleMs(NOW)).toBe(Number.POSITIVE_INFINITY);
  terminal('tty1', 5_000);
  terminal('pts/0', 300);
  terminal('pts/17', 70);
  expect(await watch.idleMs(NOW)).toBe(70_000);
  terminal('tty1', 20);
  expect(await watch.idleMs(NOW)).toBe(20_000);
  terminal('pts/18', -3); // times are exact to 8 s
  expect(await watch.idleMs(NOW)).toBe(0);
  terminal('pts/18', -8);
  expect(await watch.idleMs(NOW)).toBe(0);
  terminal('pts/18', -8.001);
  expect(await watch.idleMs(NOW)).toBe(20_000);
  terminal('pts/18', -7_200); // the clock was set back: nothing is known of this one
  expect(await watch.idleMs(NOW)).toBe(20_000);
});

test('serial lines and the multiplexer do not count as terminals', async () => {
  rmSync(join(dev, 'pts'), { recursive: true });
  mkdirSync(join(dev, 'pts'));
  rmSync(join(dev, 'tty1'));
  for (const name of ['ttyS0', 'ttyUSB0', 'tty', 'console', 'pts/ptmx']) terminal(name, 1);
  const watch = (await watchTerminals(dev))!;
  expect(await watch.idleMs(NOW)).toBe(Number.POSITIVE_INFINITY);
});

test('without the folder there is no watch', async () => {
  expect(await watchTerminals(join(dev, 'nowhere'))).toBeUndefined();
});
