/** Tests the first step of `npm start` and `npm test`, and so `npm run build`, in an unbuilt copy of the checkout. */

import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { version } from '#pickaxe/system/version.js';
import { ROOT, runScript, scratch } from './run.ts';

const copy = join(scratch, 'checkout');
const lockFile = join(copy, 'package-lock.json');

/** A stand-in for npm that records how it was called. */
const npm = join(copy, 'npm-cli.js');
const asked = () => readFileSync(join(copy, 'asked'), 'utf8').trimEnd().split('\n');

/** Another test builds the native kernels; here no compiler is found. */
const env = { npm_execpath: npm, CC: 'no-such-compiler', REQUIRE_NATIVE: '' };
const ready = () => runScript('scripts/ready.mjs', [], { root: copy, env });

beforeAll(() => {
  const files = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.web.json', 'src', 'scripts', 'native'];
  const isBuilt = (path: string) => path.includes('native/build');
  for (const file of files)
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
  expect(asked()).toEqual(['ci --include=dev --ignore-scripts --loglevel=error']);
  for (const file of ['cli/main.js', 'web/index.html', 'web/main.js', 'index.d.ts']) {
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
