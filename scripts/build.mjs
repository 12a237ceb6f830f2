// `npm run build`: compiles TypeScript to dist/, copies the files of the web page and the mock node's contracts, and
// builds the native kernels if there is a C compiler. The command may be a link to this folder, and miners may run from
// it. So TypeScript is compiled into folders beside, whose files take the places of the old ones once all are there.

import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { oneAtATime, removeLeft, replaceFiles } from './replace-files.mjs';
import { BUILT, fingerprint } from './stamp.mjs';

/** With slashes on Windows, too, as TypeScript's settings want them. */
const root = fileURLToPath(new URL('..', import.meta.url)).replaceAll('\\', '/');
/** The names of the folders end with the number of this process. The first is beside dist/ because of source maps. */
const [UNFINISHED, UNFINISHED_GENERATOR] = ['dist-unfinished-', 'generator-unfinished-'];
const dist = `${root}${UNFINISHED}${process.pid}`;
const generator = `${root}native/build/${UNFINISHED_GENERATOR}${process.pid}`;
const settings = `${dist}/.settings`;
/** What runs in the browser. */
const PAGES = ['rig/page', 'fleet/page'];
const STYLES = 'rig/page/style';

function run(script, ...args) {
  const { status, error } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Compiles with the settings of a file of the checkout, except for the folders. */
function compile(config, { name, rootDir, outDir, paths, ...files }) {
  const path = `${settings}/${name}`;
  const tsBuildInfoFile = name === 'tsconfig.web.json' ? null : `${path}.tsbuildinfo`;
  const compilerOptions = { rootDir, outDir, tsBuildInfoFile, ...(paths && { paths }) };
  writeFileSync(path, JSON.stringify({ extends: root + config, compilerOptions, ...files }));
  run('node_modules/typescript/bin/tsc', '-p', path);
}

function copyFiles(folder, names) {
  mkdirSync(`${dist}/${folder}`, { recursive: true });
  for (const name of readdirSync(`${root}src/${folder}`)) {
    if (names.test(name)) copyFileSync(`${root}src/${folder}/${name}`, `${dist}/${folder}/${name}`);
  }
}

process.chdir(root);
// The fingerprint is taken before the build, so that a file that changes meanwhile is built the next time.
const now = fingerprint(BUILT.from);
removeLeft(root, UNFINISHED);
removeLeft(`${root}native/build`, UNFINISHED_GENERATOR);
process.on('exit', () => {
  for (const folder of [dist, generator]) rmSync(folder, { recursive: true, force: true });
});
mkdirSync(settings, { recursive: true });
const src = `${root}src`;
compile('tsconfig.json', {
  name: 'tsconfig.json',
  rootDir: src,
  outDir: dist,
  include: [src],
  exclude: PAGES.map((folder) => `${src}/${folder}`),
});
compile('tsconfig.web.json', {
  name: 'tsconfig.web.json',
  rootDir: src,
  outDir: dist,
  include: PAGES.map((folder) => `${src}/${folder}`),
  exclude: [],
  references: [{ path: `${settings}/tsconfig.json` }],
});
// The generator imports what the first step has compiled.
compile('native/generator/tsconfig.json', {
  name: 'tsconfig.generator.json',
  rootDir: `${root}native/generator`,
  outDir: generator,
  paths: { '#pickaxe/*': [`${dist}/*`] },
  include: [`${root}native/generator`],
});
for (const folder of [...PAGES, STYLES]) copyFiles(folder, /\.(html|css|svg)$/);
copyFiles('mock-node/contracts', /\.pact$/);
chmodSync(`${dist}/cli/main.js`, 0o755);
rmSync(settings, { recursive: true });
oneAtATime(`${root}dist-lock`, () => {
  // The stamp goes first, and is back only when everything is built.
  rmSync(BUILT.stamp, { force: true });
  replaceFiles(dist, `${root}dist`);
  replaceFiles(generator, `${root}native/build/generator`);
  run('scripts/build-native.mjs');
  writeFileSync(BUILT.stamp, now);
});
