import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startServer } from '#pickaxe/fleet/nats/server-program.js';

it('a server that cannot be started is named with the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const program = join(folder, 'nothing');
  await expect(startServer({ program, config: '', folder })).rejects.toThrow(
    `nats-server has ended at once:\nspawn ${program} ENOENT`,
  );
});
