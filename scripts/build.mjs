// `npm run build`: compiles TypeScript to dist/, copies the web page's files, and builds the native kernels if there is
// a C compiler.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUILT, fingerprint } from './stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(script, ...args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

process.chdir(root);
// The fingerprint is taken before the build, so that a file that changes meanwhile is built the next time.
const now = fingerprint(BUILT.from);
// The stamp goes first, and is back only when everything is built.
for (const built of ['dist', 'native/build/generator']) rmSync(root + built, { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.json');
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.web.json');
// The generator imports what the first step has compiled.
run('node_modules/typescript/bin/tsc', '-p', 'native/generator');
for (const name of readdirSync(`${root}src/web`)) {
  if (/\.(html|css|svg)$/.test(name)) copyFileSync(`${root}src/web/${name}`, `${root}dist/web/${name}`);
}
chmodSync(`${root}dist/cli/main.js`, 0o755);
run('scripts/build-native.mjs');
writeFileSync(BUILT.stamp, now);
