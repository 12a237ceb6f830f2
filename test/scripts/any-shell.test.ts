/** No step of `npm start`, `npm test` and the build needs a POSIX shell or its programs: they run on Windows, too. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { npmCommand, runNpm } from '../../scripts/npm.mjs';
import { ROOT } from './run.ts';

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

test.each(Object.entries(scripts))('the script %s is a command for any shell', (_, script) => {
  for (const command of script.split(' && ')) {
    // cmd.exe has no single quotes, no variables with $, no * in names, and no assignments before a command.
    expect(command).toMatch(/^(node|vitest|biome|tsc)( [\w./:-]+)*$/);
  }
});

/** Programs that these scripts start, and that are not part of what users and testers run. */
const OTHER_PROGRAMS: Record<string, readonly string[]> = {
  // Releases are made on Linux.
  'scripts/build-archives.mjs': ['tar', 'zip'],
  'scripts/node-sums.mjs': ['tar'],
  'scripts/release-signing.mjs': ['ssh-keygen'],
  // Only releases and tests of other systems unpack packages.
  'scripts/npm.mjs': ['tar'],
  'scripts/release.mjs': ['git'],
};

const SCRIPTS = readdirSync(join(ROOT, 'scripts'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.\w+$/.test(name))
  .map((name) => join('scripts', name));

describe.each(SCRIPTS)('%s', (file) => {
  const code = readFileSync(join(ROOT, file), 'utf8');

  it('starts no program that needs a shell', () => {
    expect(code).not.toMatch(/\bshell\s*[:,}]|(?<![.\w])exec(Sync)?\(/);
    const started = [...code.matchAll(/\b(?:spawn|execFile|execute|run)(?:Sync)?\((?:'[^']*', )?'(\w+)', \[/g)];
    const allowed = OTHER_PROGRAMS[file] ?? [];
    expect(started.map(([, program]) => program).filter((program) => !allowed.includes(program))).toEqual([]);
  });
});

const SOURCES = ['src', 'scripts', 'bench', 'test'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|cjs)$/.test(name))
    .map((name) => join(folder, name)),
);

test('file URLs become paths by fileURLToPath, and paths are not imported', () => {
  // On Windows the path of a file URL is /C:/…, with %20 for blanks; and import() takes the C of a path for a protocol.
  const wrong = [/import\.meta\.url\)\.pathname/, /\bimport\((join|resolve|fileURLToPath)\(/];
  const found = SOURCES.filter((file) => wrong.some((each) => each.test(readFileSync(join(ROOT, file), 'utf8'))));
  expect(found).toEqual([]);
});

describe('npm', () => {
  it('is run by the program of the npm that runs this script', () => {
    expect(npmCommand({ npm_execpath: '/opt/npm/bin/npm-cli.js' }, '/usr/bin/node')).toEqual([
      '/usr/bin/node',
      '/opt/npm/bin/npm-cli.js',
    ]);
  });

  it('is found beside Node.js, when another package manager runs this script', () => {
    const [command, program] = npmCommand({ npm_execpath: '/opt/pnpm/pnpm.cjs' });
    if (program === undefined) expect(command).toBe('npm');
    else expect([command, program]).toEqual([process.execPath, expect.stringMatching(/npm-cli\.js$/)]);
  });

  it('is a command of the system where nothing else is known', () => {
    expect(npmCommand({}, '/nonexistent/bin/node')).toEqual(['npm']);
  });

  it('runs, and says why it fails', () => {
    expect(runNpm(['--version'])).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(() => runNpm(['no-such-command'])).toThrow(/^npm no-such-command failed: ./);
  });
});
