import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isolated, start } from '../pickaxe.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

let home: string;
let unit: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-service-'));
  unit = join(home, 'systemd/user/pickaxe.service');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function service(...args: string[]) {
  const run = start(['service', ...args], { XDG_CONFIG_HOME: home });
  const code = await run.code;
  return { code, stdout: run.lines.join('\n'), stderr: run.stderr };
}

const skipped = process.platform !== 'linux';
const why = skipped ? ' (skipped: systemd is Linux’s)' : '';

describe.skipIf(skipped)(`pickaxe service, for a user${why}`, () => {
  test('installs a unit with the paths of this machine, and says what to do next', async () => {
    const { code, stdout } = await service('install', '--user');
    expect(code).toBe(0);
    expect(stdout).toContain(`Written: ${unit}`);
    expect(stdout).toContain(`Not there yet: ${home}/pickaxe/config.toml`);
    expect(stdout).toContain('systemctl --user daemon-reload && systemctl --user enable --now pickaxe');
    const text = readFileSync(unit, 'utf8');
    expect(text).toContain(`\nExecStart=${process.execPath} ${main} mine --config ${home}/pickaxe/config.toml\n`);
    expect(text).toContain('\nType=notify\n');
    expect(`${(await service('print', '--user')).stdout}\n`).toBe(text);
  });

  test('leaves a unit that is there already, replaces its own unit for another configuration, and removes it', async () => {
    await service('install', '--user');
    expect((await service('install', '--user')).stdout).toContain('is already there');
    const config = join(home, 'another one.toml');
    writeFileSync(config, '');
    const { code, stdout } = await service('install', '--user', '--config', config);
    expect(code).toBe(0);
    expect(stdout).not.toContain('Not there yet');
    expect(readFileSync(unit, 'utf8')).toContain(`--config "${config}"\n`);
    const { stdout: removed } = await service('uninstall', '--user');
    expect(removed).toContain(`Removed: ${unit}`);
    expect(removed).toContain('systemctl --user stop pickaxe;  systemctl --user daemon-reload');
    expect(() => readFileSync(unit)).toThrow('ENOENT');
    const again = await service('uninstall', '--user');
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('There is no') });
  });

  test('removes the link that systemctl enable made, which systemctl disable refuses to do once the unit is gone', async () => {
    await service('install', '--user');
    const wanted = join(home, 'systemd/user/default.target.wants');
    const link = join(wanted, 'pickaxe.service');
    mkdirSync(wanted);
    symlinkSync(unit, link);
    expect(readFileSync(unit, 'utf8')).toContain('WantedBy=default.target');
    const { code, stdout } = await service('uninstall', '--user');
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Removed: ${link}`)]);
    expect(stdout).not.toContain('disable');
    expect(readdirSync(wanted)).toEqual([]);
  });

  test('neither overwrites nor removes a unit that somebody has changed, unless it is told to', async () => {
    await service('install', '--user');
    const changed = `${readFileSync(unit, 'utf8')}# and a line\n`;
    writeFileSync(unit, changed);
    for (const action of ['install', 'uninstall']) {
      const { code, stderr } = await service(action, '--user');
      expect(code).toBe(2);
      expect(stderr).toContain('--force');
      expect(readFileSync(unit, 'utf8')).toBe(changed);
    }
    expect((await service('install', '--user', '--force')).code).toBe(0);
    expect(readFileSync(unit, 'utf8')).not.toContain('# and a line');
    writeFileSync(unit, changed);
    expect((await service('uninstall', '--user', '--force')).code).toBe(0);
    expect(() => readFileSync(unit)).toThrow('ENOENT');
  });

  test('writes a unit that nobody else can write, whatever the umask is and whatever file was there', async () => {
    const shell = 'umask 000; exec "$0" "$@"';
    const args = [process.execPath, main, 'service', 'install', '--user'];
    const install = () =>
      execFileSync('sh', ['-c', shell, ...args], { ...isolated, env: { ...isolated.env, XDG_CONFIG_HOME: home } });
    install();
    expect(statSync(unit).mode & 0o777).toBe(0o644);
    expect(statSync(dirname(unit)).mode & 0o777).toBe(0o755);
    chmodSync(unit, 0o666);
    install();
    expect(statSync(unit).mode & 0o777).toBe(0o644);
  });

  test('says where it cannot write', async () => {
    writeFileSync(join(home, 'systemd'), 'a file');
    const { code, stderr } = await service('install', '--user');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*pickaxe\.service cannot be (read|written): ENOTDIR/);
  });
});

describe.skipIf(skipped)(`pickaxe service, for the machine${why}`, () => {
  test('refuses paths that such a service could not see', async () => {
    const { code, stderr } = await service('print', '--system', '--config', '/home/me/pickaxe.toml');
    expect(code).toBe(2);
    expect(stderr).toMatch(/cannot see .*--user/);
  });

  test('refuses --user and --system together', async () => {
    const { code, stderr } = await service('print', '--system', '--user');
    expect(code).toBe(2);
    expect(stderr).toContain('one of --user and --system');
  });
});

test('pickaxe service without an action says which actions there are', async () => {
  const { code, stderr } = await service();
  expect(code).toBe(2);
  expect(stderr).toContain('uninstall');
});

test('a path with a line break is refused for a unit', async () => {
  const { code, stderr } = await service('print', '--user', '--config', join(home, 'a\nb.toml'));
  expect(code).toBe(2);
  expect(stderr).toContain('choose another path');
});
