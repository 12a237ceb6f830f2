// `npm run build`: compiles TypeScript to dist/, copies the files of the web page and the mock node's contracts, and
// builds the native kernels if there is a C compiler.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BUILT, fingerprint } from './stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

function run(script, ...args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function copyFiles(folder, names) {
  mkdirSync(`${root}dist/${folder}`, { recursive: true });
  for (const name of readdirSync(`${root}src/${folder}`)) {
    if (names.test(name)) copyFileSync(`${root}src/${folder}/${name}`, `${root}dist/${folder}/${name}`);
  }
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
copyFiles('web', /\.(html|css|svg)$/);
copyFiles('mock-node/contracts', /\.pact$/);
chmodSync(`${root}dist/cli/main.js`, 0o755);
run('scripts/build-native.mjs');
writeFileSync(BUILT.stamp, now);
