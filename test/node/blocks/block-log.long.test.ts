import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeLine } from '#pickaxe/node/blocks/block-lines.js';
import { BlockStore } from '#pickaxe/node/blocks/block-log.js';
import { madeHeader, madeRecord } from './pretend.ts';

const found = (height: bigint) => writeLine({ type: 'found', record: madeRecord(madeHeader(3, height)) });

// Windows would write the hole to the disk.
it.skipIf(process.platform === 'win32')('junk of any length is skipped, and not held in memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'blocks.jsonl');
  writeFileSync(path, found(1n));
  truncateSync(path, 600 * 1024 ** 2); // This is more than a text can hold.
  appendFileSync(path, `\n${found(2n)}`);
  const warnings: string[] = [];
  const store = new BlockStore({ folder, warn: (line) => warnings.push(line) });
  await store.refresh();
  expect(warnings).toEqual([expect.stringMatching(/^1 line of /)]);
  expect([...store.blocks]).toMatchObject([{ height: 1n }, { height: 2n }]);
});
