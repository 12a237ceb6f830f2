/** Processes that write to one block log. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { madeHeader } from './pretend.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** @returns the log as this process reads it */
async function read(warn: (line: string) => void): Promise<BlockStore> {
  const store = new BlockStore({ folder, warn });
  onTestFinished(() => store.close());
  await store.refresh();
  return store;
}

const SCRIPT = fileURLToPath(new URL('./write-blocks.mjs', import.meta.url));

function startWriter(chain: number, count: number): ChildProcess {
  const template = Buffer.from(madeHeader(0, 0n)).toString('base64url');
  return spawn(process.execPath, [SCRIPT, folder, `${chain}`, `${count}`, template], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

test('two processes write to one log at once, and lose nothing', async () => {
  const writers = [1, 2].map((chain) => startWriter(chain, 150));
  const ended = await Promise.all(writers.map((writer) => once(writer, 'exit')));
  expect(ended).toEqual([
    [0, null],
    [0, null],
  ]);
  expect((await read((line) => expect.fail(line))).size).toBe(300);
});

test('what a killed process has said to be written is there, and the next process goes on', async () => {
  const said: string[] = [];
  for (const count of [1, 7, 20]) {
    const writer = startWriter(said.length, 1_000_000);
    const lines = createInterface({ input: writer.stdout! });
    const exit = once(writer, 'exit');
    let mine = 0;
    for await (const line of lines) {
      said.push(line);
      if (++mine === count) writer.kill('SIGKILL');
    }
    await exit;
    // The process may have written half a line, of which a reader warns.
    const store = await read(() => {});
    expect(said.filter((hash) => !store.block(hash))).toEqual([]);
  }
});
