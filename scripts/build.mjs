// `npm run build`: TypeScript to dist/, then the native kernels where a C compiler is at hand.

import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(script, ...args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

rmSync(`${root}dist`, { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
chmodSync(`${root}dist/cli/main.js`, 0o755);
run('scripts/build-native.mjs');
