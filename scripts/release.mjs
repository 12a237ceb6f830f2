// Makes the npm package and the archives of a release, only from what is committed, and tests them. packaging/README.md
// says more.
//
//   node scripts/release.mjs              a dry run: reports faults, makes all files even so, and deletes them
//   node scripts/release.mjs --make       stops at the first fault; without faults the files are in release/
//     --sign KEY           signs the checksums with a key of OpenSSH that SECURITY.md names
//     --node-dist FOLDER   compares Node.js with what its makers publish of its version
//
// It publishes nothing, but says how to do that.

import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { npmCommand } from './npm.mjs';
import { howToPublish, releaseFaults } from './release-checks.mjs';
import { sign, signersIn } from './release-signing.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** The tests of the prebuilt addons (ARM's on an emulated chip, Windows' under Wine) and of the unpacked package. */
const TESTS = [
  'test/native/addons.long.test.ts',
  'test/native/kernels.long.test.ts',
  'test/native/windows.long.test.ts',
  'test/package.long.test.ts',
  'test/packaging/addons.long.test.ts',
];
const ARCHIVES_TEST = 'test/packaging/archives.long.test.ts';
/** The systems without prebuilt native kernels, and the kernels that mine there instead. */
const NOT_BUILT = [
  'macOS (WebAssembly, or built there with clang)',
  'Windows on ARM (WebAssembly)',
  'Linux with musl, as macOS',
];

const given = options();
const { make } = given;

function options() {
  const flag = { type: 'boolean', default: false };
  const text = { type: 'string' };
  try {
    const { values } = parseArgs({ options: { 'dry-run': flag, make: flag, sign: text, 'node-dist': text } });
    if (!values.make || !values['dry-run']) return values;
  } catch {
    // The usage line below covers this fault, too.
  }
  console.error('Usage: node scripts/release.mjs [--dry-run | --make] [--sign KEY] [--node-dist FOLDER]');
  process.exit(2);
}

const [npm, ...npmFirst] = npmCommand();
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' });
const json = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** Runs a step with its output on the terminal. @throws Error when it fails */
function run(what, command, args, cwd, env = {}) {
  console.error(`--- ${what}`);
  const { status, signal, error } = spawnSync(command, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`${what}: ${error?.message ?? signal ?? `exit code ${status}`}`);
}

/** @returns the folder with the package, the archives and their checksums */
function makeFiles(folder, version) {
  const made = join(folder, 'made');
  const copy = join(folder, 'checkout');
  const node = (what, ...args) => run(what, process.execPath, args, copy, { REQUIRE_NATIVE: '1' });
  run('a copy of what is committed', 'git', ['clone', '--quiet', '--no-local', root, copy], folder);
  run('its dependencies', npm, [...npmFirst, 'ci', '--include=dev', '--ignore-scripts', '--loglevel=error'], copy);
  node('build', 'scripts/build.mjs');
  node('the WebAssembly kernels are what their source makes', 'scripts/build-wasm.mjs', '--check');
  node('the addons that are carried', 'scripts/build-addons.mjs');
  node('Node.js of other systems, for the tests', 'test/foreign/programs.mjs');
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', '--no-file-parallelism'];
  const test = (what, tests, env) => run(what, process.execPath, [...vitest, ...tests], copy, { CI: 'true', ...env });
  test('their tests', TESTS, { ADDONS: 'native/addons' });
  mkdirSync(made);
  // All that the script prepack does and checks has been done here.
  run('pack', npm, [...npmFirst, 'pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', made], copy);
  const tarball = join(made, `pickaxe-${version}.tgz`);
  node('install it without scripts, and mine', 'scripts/check-package.mjs', tarball);
  const dist = given['node-dist'];
  const compared = dist === undefined ? [] : ['--node-dist', resolve(dist)];
  node('the archives', 'scripts/build-archives.mjs', tarball, '--out', made, ...compared);
  test('unpack them, and mine', [ARCHIVES_TEST], { ARCHIVES: made });
  return made;
}

const { version } = json('package.json');
const signers = signersIn(readFileSync(join(root, 'SECURITY.md'), 'utf8'));
const faults = releaseFaults({
  version,
  locked: json('package-lock.json').version,
  changelog: readFileSync(join(root, 'CHANGELOG.md'), 'utf8'),
  tags: git('tag', '--list').split('\n'),
  status: git('status', '--porcelain'),
  signers,
  signs: given.sign !== undefined,
});
for (const fault of faults) console.error(`Fault: ${fault}`);
if (make && faults.length > 0) process.exit(1);

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-release-'));
try {
  const made = makeFiles(folder, version);
  // A dry run does not ask for a passphrase.
  if (make && given.sign !== undefined) sign(join(made, `pickaxe-${version}.sha256`), given.sign, signers);
  if (make) cpSync(made, join(root, 'release'), { recursive: true });
  console.log(`pickaxe ${version}, commit ${git('rev-parse', 'HEAD').trim()}`);
  for (const name of readdirSync(made)) console.log(`${statSync(join(made, name)).size} bytes  ${name}`);
  console.log(readFileSync(join(made, `pickaxe-${version}.sha256`), 'utf8').trimEnd());
  console.log('Native kernels: Linux x64 and arm64, glibc; Windows x64. Not built yet:');
  for (const each of NOT_BUILT) console.log(`  ${each}`);
  const signed = given.sign !== undefined;
  if (make) console.log(`Publish it:\n  ${howToPublish({ version, signed, environment: process.env }).join('\n  ')}`);
  else console.log(`A dry run${faults.length > 0 ? `; ${faults.length} faults, see above` : ''}. To keep it: --make`);
  process.exitCode = faults.length > 0 ? 1 : 0;
} catch (error) {
  console.error(`Error: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
