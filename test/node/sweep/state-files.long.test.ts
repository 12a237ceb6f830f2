/** Processes that want to take one sweep at once. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const TAKER = fileURLToPath(new URL('./take-lock.mjs', import.meta.url));

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-store-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

it('no two processes ever have one sweep, although they all find the lock of one that is gone', async () => {
  const directory = folder();
  const takers = Array.from({ length: 3 }, () => spawn(process.execPath, [TAKER, directory, '300']));
  const ended = await Promise.all(takers.map((taker) => once(taker, 'exit')));
  expect(ended.map(([code]) => code)).toEqual([0, 0, 0]);
});
