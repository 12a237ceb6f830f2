import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareNode } from '../../scripts/node-sums.mjs';
import { howToPublish, releaseFaults } from '../../scripts/release-checks.mjs';
import { sign, signersIn, verify } from '../../scripts/release-signing.mjs';
import { Folder } from '../app/config/folder.ts';

const good = {
  version: '1.2.3',
  locked: '1.2.3',
  changelog: '# Changelog\n\nNewest first.\n\n## 1.2.3 (2026-02-28)\n\n- All.\n\n## 1.2.2 (2026-01-01)\n',
  tags: ['v1.2.2', ''],
  status: '',
  signers: [] as string[],
  signs: false,
};

describe('before a release', () => {
  test('everything agrees', () => {
    expect(releaseFaults(good)).toEqual([]);
  });

  test.each([
    [
      'something is not committed',
      { status: ' M src/index.ts\n?? notes\n' },
      /not clean:\n M src\/index\.ts\n\?\? notes$/,
    ],
    [
      'the version is none',
      { version: '1.2', locked: '1.2', changelog: '## 1.2 (2026-02-28)\n' },
      /1\.2 is not a version/,
    ],
    [
      'the lock file has another version',
      { locked: '1.2.2' },
      /package-lock\.json says 1\.2\.2, package\.json 1\.2\.3/,
    ],
    ['the changelog has another version', { changelog: '## 1.2.2 (2026-02-28)\n' }, /begins with "## 1\.2\.2/],
    ['the changelog has none', { changelog: '# Changelog\n' }, /begins with "## nothing"/],
    ['the changelog has no day', { changelog: '## 1.2.3\n' }, /needs the day/],
    ['the day has not come', { changelog: '## 1.2.3 (unreleased)\n' }, /needs the day/],
    ['the day is none', { changelog: '## 1.2.3 (2026-02-31)\n' }, /needs the day/],
    ['a key is named and none is given', { signers: ['pickaxe …'] }, /releases are signed: give it with --sign KEY/],
    ['a key is given and none is named', { signs: true }, /SECURITY\.md names no key: add the line pickaxe names/],
    ['the tag is there', { tags: ['v1.2.3'] }, /tag v1\.2\.3 already/],
  ])('it is said when %s', (_, changed, message) => {
    const faults = releaseFaults({ ...good, ...changed });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(message);
  });
});

test('what is said about publishing is true of the machine', () => {
  const here = howToPublish({ version: '1.2.3', signed: false, environment: {} }).join('\n');
  expect(here).toMatch(/^npm publish release\/pickaxe-1\.2\.3\.tgz$/m);
  expect(here).toContain('not signed');
  const environment = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://ci.example' };
  const inCi = howToPublish({ version: '1.2.3', signed: true, environment }).join('\n');
  expect(inCi).toMatch(/^npm publish --provenance release\/pickaxe-1\.2\.3\.tgz$/m);
  expect(inCi).toContain('release/pickaxe-1.2.3.sha256.sig');
  expect(inCi).not.toContain('not signed');
});

test('the release script knows its own flags only', () => {
  for (const args of [['--publish'], ['--make', '--publish'], ['--make', '--dry-run'], ['--sign']]) {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], { encoding: 'utf8' });
    expect(stderr).toContain('--dry-run | --make');
    expect(status).toBe(2);
  }
});

const folder = new Folder();
afterAll(() => folder.remove());

const noKeys = spawnSync('ssh-keygen', ['-?']).error !== undefined;
if (noKeys && process.env.CI) throw new Error('CI must sign: there is no ssh-keygen (on Debian: openssh-client)');

describe.skipIf(noKeys)(`a signature${noKeys ? ' (skipped: there is no ssh-keygen)' : ''}`, () => {
  let ours: { readonly path: string; readonly line: string };
  let other: typeof ours;
  let signers: readonly string[];
  let list: string;

  beforeAll(() => {
    const key = (name: string) => {
      const path = join(folder.path, name);
      spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', path]);
      const [type, publicKey] = readFileSync(`${path}.pub`, 'utf8').split(' ');
      return { path, line: `pickaxe namespaces="pickaxe-release" ${type} ${publicKey.trim()}` };
    };
    [ours, other] = [key('ours'), key('other')];
    signers = signersIn(`# Signed releases\n\n\`\`\`\n${ours.line}\n\`\`\`\n`);
    list = folder.write('pickaxe-1.2.3.sha256', 'aa  pickaxe-1.2.3.tgz\n');
  });

  test('of the key that SECURITY.md names counts, for these bytes only', () => {
    expect(signers).toEqual([ours.line]);
    const signature = sign(list, ours.path, signers);
    expect(signature).toBe(`${list}.sig`);
    expect(() => verify(list, signature, signers)).not.toThrow();
    const changed = folder.write('changed.sha256', 'bb  pickaxe-1.2.3.tgz\n');
    expect(() => verify(changed, signature, signers)).toThrow('is no signature of a key in SECURITY.md');
    expect(() => verify(list, signature, [other.line])).toThrow('is no signature of a key in SECURITY.md');
    expect(() => verify(list, signature, [])).toThrow('is no signature of a key in SECURITY.md');
  });

  test('is checked by the command in docs/platforms.md', () => {
    const page = readFileSync(new URL('../../docs/platforms.md', import.meta.url), 'utf8');
    const [line] = /^ssh-keygen -Y verify .*$/m.exec(page)!;
    const [command, input] = line.replaceAll('0.2.0', '1.2.3').split(' < ');
    sign(list, ours.path, signers);
    folder.write('pickaxe-signers', `${ours.line}\n`);
    const [program, ...args] = command.split(' ');
    const run = spawnSync(program, args, { cwd: folder.path, input: readFileSync(join(folder.path, input)) });
    expect(`${run.stdout}`).toContain('Good "pickaxe-release" signature for pickaxe');
    expect(run.status).toBe(0);
  });

  test('for something else does not count, and one of another key is not kept', () => {
    rmSync(`${list}.sig`, { force: true });
    spawnSync('ssh-keygen', ['-Y', 'sign', '-f', ours.path, '-n', 'file', list]);
    expect(() => verify(list, `${list}.sig`, signers)).toThrow('is no signature of a key in SECURITY.md');
    expect(() => sign(list, other.path, signers)).toThrow('is no signature of a key in SECURITY.md');
    expect(existsSync(`${list}.sig`)).toBe(false);
    expect(() => sign(list, join(folder.path, 'gone'), signers)).toThrow('cannot be signed: ');
  });
});

test('SECURITY.md names keys only as they can be used', () => {
  const page = readFileSync(new URL('../../SECURITY.md', import.meta.url), 'utf8');
  const [, keys] = /^# Signed releases[\s\S]*?^```\n([\s\S]*?)^```$/m.exec(page)!;
  expect(signersIn(page)).toEqual(keys.split('\n').filter((line) => line !== ''));
});

describe('Node.js is compared with what its makers publish', () => {
  const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
  const dist = join(folder.path, 'dist');
  const name = 'node-v1.2.3-linux-x64';
  folder.write(`dist/${name}/bin/node`, 'the program');
  spawnSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: dist });
  const sums = (tarball = sha256(readFileSync(join(dist, `${name}.tar.gz`)))) =>
    folder.write('dist/SHASUMS256.txt', `${tarball}  ${name}.tar.gz\n${sha256('windows')}  win-x64/node.exe\n`);
  const compare =
    (platform: string, program: string, version = '1.2.3') =>
    () =>
      compareNode({ folder: dist, version, platform, program: folder.write('program', program) });

  test('and is theirs', () => {
    sums();
    expect(compare('linux-x64', 'the program')).not.toThrow();
    expect(compare('win32-x64', 'windows')).not.toThrow();
  });

  test('or is not used', () => {
    sums();
    const found = sha256('another program');
    const message = (platform: string) => `${platform} has the SHA-256 ${found}, and its makers publish `;
    expect(compare('linux-x64', 'another program')).toThrow(message('linux-x64'));
    expect(compare('win32-x64', 'another program')).toThrow(message('win32-x64'));
  });

  test('by the list, which a tarball must fit, too', () => {
    sums(sha256('another tarball'));
    expect(compare('linux-x64', 'the program')).toThrow('not that of SHASUMS256.txt');
    sums();
    expect(compare('linux-x64', 'the program', '1.2.4')).toThrow('node-v1.2.4-linux-x64.tar.gz is missing');
    folder.write('dist/SHASUMS256.txt', '');
    expect(compare('win32-x64', 'windows')).toThrow('SHASUMS256.txt has no win-x64/node.exe: it is of another version');
  });
});
