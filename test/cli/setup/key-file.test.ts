import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { UsageError } from '#pickaxe/app/process/exit.js';
import { makeKeyFile } from '#pickaxe/cli/setup/keygen.js';

it('a key file in a folder that does not exist is refused in words', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(() => makeKeyFile(join(folder, 'no', 'key.json'))).toThrow(
    new UsageError(`There is no folder ${join(folder, 'no')}: make it first.`),
  );
});
