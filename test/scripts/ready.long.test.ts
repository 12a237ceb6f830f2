/**
 * Tests the first step of `npm start`, `npm test` and vitest, and so `npm run build`, in an unbuilt copy of the
 * checkout. Each test begins with the files that the test before it has left.
 */

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import { ROOT, runScript, scratch } from './run.ts';

const copy = join(scratch, 'checkout');
const lockFile = join(copy, 'package-lock.json');

/** A stand-in for npm that records its arguments. */
const npm = join(copy, 'npm-cli.js');
const asked = () => readFileSync(join(copy, 'asked'), 'utf8').trimEnd().split('\n');

/** A test that is quick, and the code that it tests. */
const TEST = 'test/base/text/one-line.test.ts';
const CODE = 'src/base/text/plain-text.ts';

/** Another test builds the native kernels. In this one no compiler is found. */
const env = { npm_execpath: npm, CC: 'no-such-compiler', REQUIRE_NATIVE: '' };
const ready = (more: Record<string, string> = {}) =>
  runScript('scripts/ready.mjs', [], { root: copy, env: { ...env, npm_lifecycle_event: 'start', ...more } });

/** A build takes longer than anything else that tests wait for. */
vi.setConfig({ testTimeout: 600_000 });

beforeAll(() => {
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.web.json', 'src', 'scripts', 'native'];
  // Those directly in test/ are what vitest loads before any file of tests.
  const loaded = readdirSync(join(ROOT, 'test')).filter((name) => /^(?!.*\.test\.ts$).*\.(ts|json)$/.test(name));
  const forTests = ['vitest.config.ts', ...loaded.map((name) => `test/${name}`), 'test/cli/remember-speeds.mjs', TEST];
  const isBuilt = (path: string) => path.includes('native/build');
  for (const file of [...files, ...forTests])
    cpSync(join(ROOT, file), join(copy, file), { recursive: true, filter: (from) => !isBuilt(from) });
  mkdirSync(join(copy, 'node_modules'));
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter((each) => !each.startsWith('.'))) {
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name));
  }
  const note = "appendFileSync('asked', process.argv.slice(2).join(' ').concat('\\n'));";
  writeFileSync(npm, `import { appendFileSync } from 'node:fs';\n${note}\n`);
});

test('a fresh checkout is installed and built, and nothing is repeated without need', async () => {
  const first = await ready();
  expect(first.code, first.stderr).toBe(0);
  expect(first.stderr).toMatch(/installing dependencies\npickaxe: building\n.*not built: no C compiler/);
  // npm passes its own options on to scripts. With these two, nothing would be installed here.
  expect(asked()).toEqual(['ci --include=dev --ignore-scripts --global=false --dry-run=false --loglevel=error']);
  for (const file of ['cli/main.js', 'rig/page/index.html', 'rig/page/main.js', 'index.d.ts']) {
    expect(existsSync(join(copy, 'dist', file)), file).toBe(true);
  }
  const ran = await runScript('dist/cli/main.js', ['--version'], { root: copy });
  expect(ran.stdout).toBe(`${version}\n`);

  const second = await ready();
  expect(second.code).toBe(0);
  expect(second.stderr).not.toMatch(/installing|building/);

  writeFileSync(lockFile, `${readFileSync(lockFile, 'utf8')}\n`);
  const changed = await ready();
  expect(changed.stderr).toContain('installing dependencies');
  expect(changed.stderr).not.toContain('building');
  expect(asked()).toHaveLength(2);
});

test('a change is built before the first test runs, and nothing is installed', async () => {
  const code = join(copy, CODE);
  const text = readFileSync(code, 'utf8');
  // Vitest in the copy must not see that it runs within another run.
  const inside = { ...env, TEST_TEMPORARY: undefined, VITEST: undefined, VITEST_POOL_ID: undefined };
  const vitest = () =>
    runScript('node_modules/vitest/vitest.mjs', ['run', '--project', 'shared', TEST], { root: copy, env: inside });
  writeFileSync(code, text.replace(/(export function oneLine\([^{]*\{)/, "$1 return 'BROKEN';"));
  expect(readFileSync(code, 'utf8')).toContain('BROKEN');
  const broken = await vitest();
  expect(broken.stderr).toContain('pickaxe: building');
  expect(broken.stderr).toContain('BROKEN');
  expect(broken.code).toBe(1);
  // The lock file is another one than that of the last install.
  writeFileSync(lockFile, `${readFileSync(lockFile, 'utf8')}\n`);
  writeFileSync(code, text);
  const repaired = await vitest();
  expect(repaired.code, repaired.stdout + repaired.stderr).toBe(0);
  expect(repaired.stderr).toContain('package-lock.json has changed since the last install');
  expect(asked()).toHaveLength(2);
});

test('the command works on while a build runs, and after one that fails, which leaves nothing', async () => {
  const code = join(copy, CODE);
  const text = readFileSync(code, 'utf8');
  const built = join(copy, 'dist', CODE.replace(/^src\/(.*)ts$/, '$1js'));
  const before = readFileSync(built, 'utf8');
  const answers = async () => {
    const { code, stdout, stderr } = await runScript('dist/cli/main.js', ['--version'], { root: copy });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  };
  /** Builds while the command runs again and again. @returns the exit code of the build */
  const build = async () => {
    const building = { hasEnded: false };
    const ran = runScript('scripts/build.mjs', [], { root: copy, env }).finally(() => {
      building.hasEnded = true;
    });
    do await answers();
    while (!building.hasEnded);
    return (await ran).code;
  };
  writeFileSync(code, `${text}\nconst wrong: number = 'text';\n`);
  // Files that a killed build has left.
  const { pid } = spawnSync(process.execPath, ['--version']);
  mkdirSync(join(copy, `dist-unfinished-${pid}`));
  writeFileSync(join(copy, 'dist-lock'), String(pid));
  expect(await build()).not.toBe(0);
  await answers();
  expect(readFileSync(built, 'utf8')).toBe(before);
  expect(readdirSync(copy).filter((name) => name.startsWith('dist-'))).toEqual(['dist-lock']);
  // The sources are those of the last good build again.
  writeFileSync(code, text);
  expect((await ready()).stderr).not.toContain('pickaxe: building');

  writeFileSync(code, `${text}\nexport const added = 'text';\n`);
  expect(await build()).toBe(0);
  expect(readFileSync(built, 'utf8')).toContain('added');
  expect(readdirSync(copy).filter((name) => name.startsWith('dist-'))).toEqual([]);
  // A build by hand counts, too.
  expect((await ready()).stderr).not.toContain('pickaxe: building');
});

test('as the script prepare it builds with what npm has installed, and installs for a link to the folder', async () => {
  const [stamp, built, asks] = ['node_modules/.pickaxe-ready', 'dist', 'asked'].map((path) => join(copy, path));
  const fresh = () => {
    for (const path of [stamp, built, asks]) rmSync(path, { recursive: true, force: true });
  };
  const after = { npm_lifecycle_event: 'prepare' };
  const main = join(copy, 'dist/cli/main.js');

  fresh();
  expect((await ready(after)).stderr).toMatch(/^pickaxe: building\n/);
  expect([existsSync(main), existsSync(asks)]).toEqual([true, false]);

  fresh();
  expect((await ready({ ...after, npm_config_global: 'true' })).stderr).toMatch(
    /installing dependencies\npickaxe: building/,
  );
  expect([existsSync(main), asked().length]).toEqual([true, 1]);

  fresh();
  const typescript = join(copy, 'node_modules/typescript');
  renameSync(typescript, `${typescript}-away`);
  expect(await ready(after)).toMatchObject({ code: 0, stderr: '' });
  expect([existsSync(main), existsSync(asks)]).toEqual([false, false]);
  renameSync(`${typescript}-away`, typescript);
});
