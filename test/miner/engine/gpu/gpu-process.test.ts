import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { GpuProcess } from '#pickaxe/miner/engine/gpu/gpu-process.js';

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-gpu-process-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** The child starts a process that has its stderr, as some drivers do, and ends without an answer. */
const CHILD = `
  import { spawn } from 'node:child_process';
  const stays = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 1e6)'], { detached: true, stdio: ['ignore', 'ignore', 'inherit'] });
  process.stderr.write(String(stays.pid), () => process.exit(7));
`;

test('the end of a process is noticed although one that its driver has started holds its output', async () => {
  const path = join(folder, 'child.mjs');
  writeFileSync(path, CHILD);
  const gpu = new GpuProcess({}, { child: { path } });
  onTestFinished(() => {
    // Without a number this would end the test's process and all others of its group.
    if (/^\d+$/.test(gpu.lastWords)) process.kill(Number(gpu.lastWords), 'SIGKILL');
  });
  await expect(gpu.list()).rejects.toThrow('the GPU was lost: its process ended with exit code 7');
  expect(gpu.lastWords).toMatch(/^\d+$/);
  await gpu.close();
});
