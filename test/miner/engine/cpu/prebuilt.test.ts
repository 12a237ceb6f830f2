import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('the prebuilt WebAssembly modules were built from the present sources', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-wasm.mjs', '--fresh'], {
    cwd: new URL('../../../../', import.meta.url),
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});
