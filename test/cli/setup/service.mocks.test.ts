/** `pickaxe service` for the whole machine, whose files in /etc are in memory. */

import { describe, expect, it, vi } from 'vitest';
import { pretendPlatform } from '../../platform.ts';
import { pickaxe } from '../in-process.ts';

const etc = vi.hoisted(() => ({
  files: new Map<string, string>(),
  has: (path: unknown): path is string => typeof path === 'string' && path.startsWith('/etc/'),
}));

vi.mock('node:fs', async (load) => {
  const real = await load<typeof import('node:fs')>();
  const missing = (path: string) => Object.assign(new Error(`there is no ${path}`), { code: 'ENOENT' });
  return {
    ...real,
    readFileSync: (path: string, ...more: never[]) => {
      if (!etc.has(path)) return real.readFileSync(path, ...more);
      const text = etc.files.get(path);
      if (text === undefined) throw missing(path);
      return text;
    },
    existsSync: (path: string) => (etc.has(path) ? etc.files.has(path) : real.existsSync(path)),
    lstatSync: (path: string, ...more: never[]) => (etc.has(path) ? undefined : real.lstatSync(path, ...more)),
    mkdirSync: (path: string, ...more: never[]) => (etc.has(path) ? undefined : real.mkdirSync(path, ...more)),
    chmodSync: (path: string, mode: number) => void (etc.has(path) || real.chmodSync(path, mode)),
    writeFileSync: (path: string, text: string, ...more: never[]) =>
      void (etc.has(path) ? etc.files.set(path, text) : real.writeFileSync(path, text, ...more)),
    rmSync: (path: string, ...more: never[]) =>
      void (etc.has(path) ? etc.files.delete(path) : real.rmSync(path, ...more)),
  };
});

const UNIT = '/etc/systemd/system/pickaxe.service';
const service = (action: string) => pickaxe('service', action, '--system');

describe.skipIf(process.platform === 'win32')('a service of the whole machine', () => {
  it('says which groups are missing, and is removed again', async () => {
    pretendPlatform('linux');
    etc.files.clear();
    etc.files.set('/etc/group', 'root:x:0:\nxrender:x:9:\nvideo:x:44:\n');
    const installed = await service('install');
    // The programs of some machines are where a service of the system cannot see them.
    if (installed.code !== 0) {
      expect(installed.stderr).toMatch(/^error: A service of the system cannot see /);
      return;
    }
    expect(installed.stdout.split('\n').filter((line) => line !== 'systemd is not running on this machine.')).toEqual([
      `Written: ${UNIT}`,
      "Not there yet: /etc/pickaxe/pickaxe.toml, the service's configuration. pickaxe config example prints one.",
      'The group render is missing. Make it with: groupadd --system render',
      'To start it, now and at every boot:  systemctl daemon-reload && systemctl enable --now pickaxe',
      'To watch it:  systemctl status pickaxe;  journalctl --unit pickaxe --follow',
    ]);
    expect(etc.files.get(UNIT)).toContain('WantedBy=multi-user.target');
    etc.files.delete('/etc/group');
    etc.files.set('/etc/pickaxe/pickaxe.toml', '');
    const { stdout } = await service('install');
    expect(stdout).toContain(`${UNIT} is already there.`);
    expect(stdout).not.toContain('Not there yet');
    for (const group of ['render', 'video']) expect(stdout).toContain(`The group ${group} is missing.`);
    expect((await service('uninstall')).stdout).toBe(
      `Removed: ${UNIT}\nIf the service is still running, stop it:  systemctl stop pickaxe;  systemctl daemon-reload`,
    );
    expect([...etc.files.keys()]).toEqual(['/etc/pickaxe/pickaxe.toml']);
  });
});
