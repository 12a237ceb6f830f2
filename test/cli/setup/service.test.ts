/** `pickaxe service`: the units that it writes and removes. */

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fillUnit, isAsWritten } from '#pickaxe/cli/setup/service.js';
import { Folder } from '../../app/config/folder.ts';
import { pretendPlatform } from '../../platform.ts';
import { pickaxeIn } from '../in-process.ts';
import { MAIN } from '../pickaxe.ts';

const TEMPLATE = fileURLToPath(new URL('../../../packaging/systemd/user/pickaxe.service', import.meta.url));

/** A user's folder, in which `service` runs `pickaxe service` on a pretended Linux. */
function user() {
  pretendPlatform('linux');
  const folder = new Folder();
  onTestFinished(() => folder.remove());
  const unit = join(folder.path, 'systemd/user/pickaxe.service');
  const service = (...args: string[]) => pickaxeIn(folder.path, ['service', ...args], { XDG_CONFIG_HOME: folder.path });
  return { folder, unit, link: join(dirname(unit), 'default.target.wants/pickaxe.service'), service };
}

/** A word of ExecStart=: systemd divides it at blanks that are not quoted. */
const quoted = (word: string) => (word.includes(' ') ? `"${word}"` : word);

/** The user has this id until the test ends. */
function asUser(id: number): void {
  const getuid = vi.spyOn(process, 'getuid').mockReturnValue(id);
  onTestFinished(() => getuid.mockRestore());
}

const isUnix = process.platform !== 'win32';

describe.runIf(isUnix)('pickaxe service install', () => {
  it('writes the unit that print prints, with the paths of this machine, and says what to do next', async () => {
    const { folder, unit, service } = user();
    const config = join(folder.path, 'pickaxe/config.toml');
    const { code, stdout, stderr } = await service('install', '--user');
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n').filter((line) => line !== 'systemd is not running on this machine.');
    expect(lines).toEqual([
      `Written: ${unit}`,
      `Not there yet: ${config}, the service's configuration. pickaxe config example prints one.`,
      'To start it, now and at every boot:  systemctl --user daemon-reload && systemctl --user enable --now pickaxe',
      'To watch it:  systemctl --user status pickaxe;  journalctl --user --unit pickaxe --follow',
    ]);
    expect(stdout.includes('systemd is not running')).toBe(!existsSync('/run/systemd/system'));
    const text = readFileSync(unit, 'utf8');
    expect(text).toContain(
      `\nExecStart=${[process.execPath, MAIN, 'mine', '--config', config].map(quoted).join(' ')}\n`,
    );
    expect(text).toContain('WantedBy=default.target');
    expect(isAsWritten(text)).toBe(true);
    expect((await service('print', '--user')).stdout).toBe(text.replace(/\n$/, ''));
    expect(statSync(dirname(unit)).mode & 0o777).toBe(0o755 & ~process.umask());
  });

  it('leaves a unit that is there already, and writes its own again for another configuration', async () => {
    const { folder, unit, service } = user();
    await service('install', '--user');
    chmodSync(unit, 0o666);
    const again = await service('install', '--user');
    expect(again.stdout).toContain(`${unit} is already there.`);
    expect(again.stdout).not.toContain('Written');
    expect(statSync(unit).mode & 0o777).toBe(0o644);
    folder.write('another one.toml', '');
    const { code, stdout } = await service('install', '--user', '--config', 'another one.toml');
    expect(code).toBe(0);
    expect(stdout).toContain(`Written: ${unit}`);
    expect(stdout).not.toContain('Not there yet');
    expect(readFileSync(unit, 'utf8')).toContain(`--config "${join(folder.path, 'another one.toml')}"\n`);
  });

  it.each(['install', 'uninstall'])(
    'leaves a unit that somebody has changed as it is, and so does %s',
    async (action) => {
      const { unit, service } = user();
      await service('install', '--user');
      const changed = `${readFileSync(unit, 'utf8')}# and a line\n`;
      writeFileSync(unit, changed);
      const why = `${unit} was changed, or was not written by pickaxe, so it stays as it is.`;
      expect(await service(action, '--user')).toEqual({
        code: 2,
        stdout: '',
        stderr: `error: ${why} --force ${action === 'install' ? 'overwrites' : 'removes'} it.\n`,
      });
      expect(readFileSync(unit, 'utf8')).toBe(changed);
      expect((await service(action, '--user', '--force')).code).toBe(0);
      if (action === 'install') expect(readFileSync(unit, 'utf8')).not.toContain('# and a line');
      else expect(existsSync(unit)).toBe(false);
    },
  );

  it('says where it cannot read or write', async () => {
    const { folder, unit, service } = user();
    folder.write('systemd/user/pickaxe.service/inside', '');
    expect(await service('install', '--user')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`error: ${unit} cannot be read: EISDIR`),
    });
    const other = user();
    mkdirSync(dirname(other.unit), { recursive: true });
    symlinkSync(join(other.folder.path, 'no/such/file'), other.unit);
    expect(await other.service('install', '--user')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`error: ${other.unit} cannot be written: ENOENT`),
    });
  });

  it('refuses a path with a line break', async () => {
    const { service } = user();
    expect(await service('print', '--user', '--config', 'a\nb.toml')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: A systemd unit cannot contain ".*a\\nb\.toml": choose another path\.\n$/),
    });
  });
});

describe.runIf(isUnix)('pickaxe service uninstall', () => {
  it('removes the unit, and says so also when there is none', async () => {
    const { unit, service } = user();
    await service('install', '--user');
    expect(await service('uninstall', '--user')).toEqual({
      code: 0,
      stderr: '',
      stdout: `Removed: ${unit}\nIf the service is still running, stop it:  systemctl --user stop pickaxe;  systemctl --user daemon-reload`,
    });
    expect(existsSync(unit)).toBe(false);
    expect(await service('uninstall', '--user')).toEqual({ code: 0, stderr: '', stdout: `There is no ${unit}.` });
  });

  it('removes the link that systemctl enable has made, and no file in its place', async () => {
    const { unit, link, service } = user();
    await service('install', '--user');
    mkdirSync(dirname(link));
    symlinkSync(unit, link);
    expect((await service('uninstall', '--user')).stdout).toContain(`Removed: ${unit}\nRemoved: ${link}\n`);
    expect(lstatSync(link, { throwIfNoEntry: false })).toBe(undefined);
    await service('install', '--user');
    writeFileSync(link, '');
    expect((await service('uninstall', '--user')).stdout).not.toContain(link);
    expect(existsSync(link)).toBe(true);
  });
});

describe.runIf(isUnix)('the unit of pickaxe service', () => {
  it('is for this user, except for root, or for whom the options say', async () => {
    const { folder, service } = user();
    const config = ['--config', '/etc/pickaxe/other.toml'];
    asUser(1000);
    expect((await service('print')).stdout).toContain(`--config ${folder.path}/pickaxe/config.toml\n`);
    asUser(0);
    const ofRoot = await service('print', '--user', ...config);
    expect(ofRoot.stdout).toContain('WantedBy=default.target');
    // The programs of some machines are where a service of the system cannot see them.
    const hidden = /^error: A service of the system cannot see .*: install Node\.js and pickaxe for the whole machine/;
    for (const [id, ...args] of [[0], [0, '--system'], [1000, '--system']] as const) {
      asUser(id);
      const { code, stdout, stderr } = await service('print', ...args, ...config);
      if (code === 0) expect(stdout).toContain('WantedBy=multi-user.target');
      else expect(stderr).toMatch(hidden);
    }
    const usual = await service('print', '--system');
    if (usual.code === 0) expect(usual.stdout).toContain('--config /etc/pickaxe/pickaxe.toml\n');
    else expect(usual.stderr).toMatch(hidden);
    for (const path of ['/home/me/a.toml', '/root/a.toml', '/run/user/1/a.toml', '/tmp/a.toml', '/var/tmp/a.toml']) {
      expect((await service('print', '--system', '--config', path)).stderr).toMatch(hidden);
    }
    expect((await service('print', '--system', '--user')).stderr).toBe(
      'error: Give only one of --user and --system.\n',
    );
  });

  it('has the words of its command line as systemd reads them', () => {
    const words = ['/usr/bin/node', 'a b', 'c"d\\e', '100%', '$HOME', 'x&y'];
    const unit = fillUnit('[Service]\nExecStart=old\nExecStart=kept\n', words);
    const line = String.raw`ExecStart=/usr/bin/node "a b" "c\"d\\e" 100%% "$$HOME" "x&y"`;
    expect(unit.split('\n').slice(1)).toEqual(['[Service]', line, 'ExecStart=kept', '']);
    expect(isAsWritten(unit)).toBe(true);
    expect(isAsWritten(unit.replace('kept', 'changed'))).toBe(false);
    expect(isAsWritten(`\n${unit}`)).toBe(false);
    expect(isAsWritten(readFileSync(TEMPLATE, 'utf8'))).toBe(false);
    for (const character of ['\0', '\x1f', '\x7f']) {
      expect(() => fillUnit('ExecStart=\n', [`a${character}`])).toThrow(RangeError);
    }
  });
});
