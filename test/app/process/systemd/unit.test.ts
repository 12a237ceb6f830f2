/** The units of packaging/systemd/, as systemd itself reads them. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fillUnit, isAsWritten } from '#pickaxe/cli/setup/service.js';

const units = new URL('../../../../packaging/systemd/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, units), 'utf8');
const system = read('pickaxe.service');
const user = read('user/pickaxe.service');

const folder = mkdtempSync(join(tmpdir(), 'pickaxe-unit-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * The most that `systemd-analyze security` may rate it, where 0 is the most secure and 10 the least. The unit says why
 * it is not less.
 */
const MAX_EXPOSURE = 1.8;

const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', ['--no-pager', ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, XDG_RUNTIME_DIR: folder },
  });

/** Paths that are awkward in a unit. */
const command = [
  process.execPath,
  '/opt/100 % of "it"/it\'s $HOME\\n',
  'mine',
  '--config',
  '/etc/pickaxe/pickaxe.toml',
];

const has = analyze('--version').status === 0;
const skipped = !has && !process.env.CI;

describe.skipIf(skipped)(skipped ? 'systemd-analyze is not tried: it is not installed' : 'systemd', () => {
  test.each([
    ['system', system],
    ['user', user],
  ])('finds nothing wrong with the unit of the %s', (manager, unit) => {
    const file = join(folder, `pickaxe-${manager}.service`);
    writeFileSync(file, fillUnit(unit, command));
    const { status, stdout, stderr } = analyze(`--${manager}`, 'verify', file);
    const ours = `${stdout}${stderr}`.split('\n').filter((line) => line.includes('pickaxe'));
    expect(ours).toEqual([]);
    expect(status).toBe(0);
  });

  test('finds a fault in a broken unit', () => {
    const file = join(folder, 'pickaxe-wrong.service');
    writeFileSync(file, fillUnit(system, ['/nowhere/node', 'mine']).replace('WatchdogSec=', 'WatchDog='));
    const { status, stderr } = analyze('--system', 'verify', file);
    expect(stderr).toContain('/nowhere/node');
    expect(stderr).toContain('WatchDog');
    expect(status).not.toBe(0);
  });

  test(`gives the system's unit an exposure of ${MAX_EXPOSURE} at most`, () => {
    const file = join(folder, 'pickaxe-secure.service');
    writeFileSync(file, fillUnit(system, command));
    const { status, stdout } = analyze('security', '--offline=true', `--threshold=${MAX_EXPOSURE * 10}`, file);
    const exposure = Number(/exposure level for pickaxe-secure\.service: ([\d.]+)/.exec(stdout)?.[1]);
    expect(exposure).toBeGreaterThan(0);
    expect(exposure).toBeLessThanOrEqual(MAX_EXPOSURE);
    expect(status).toBe(0);
  });
});

describe('a unit', () => {
  test('names the command as systemd unquotes it', () => {
    const line = fillUnit(system, command).match(/^ExecStart=.*$/gm);
    expect(line).toEqual([
      `ExecStart=${process.execPath} "/opt/100 %% of \\"it\\"/it's $$HOME\\\\n" mine --config /etc/pickaxe/pickaxe.toml`,
    ]);
  });

  test('is recognized as unchanged until somebody changes it', () => {
    const unit = fillUnit(user, command);
    expect(isAsWritten(unit)).toBe(true);
    expect(isAsWritten(unit.replace('WatchdogSec=120', 'WatchdogSec=60'))).toBe(false);
    expect(isAsWritten(unit.slice(unit.indexOf('\n') + 1))).toBe(false);
    expect(isAsWritten('')).toBe(false);
  });

  test.each([
    ['system', system],
    ['user', user],
  ])('of the %s matches the messages that pickaxe sends', (_, unit) => {
    expect(unit).toMatch(/^Type=notify$/m);
    expect(unit).toMatch(/^NotifyAccess=main$/m);
    expect(unit).toMatch(/^RestartPreventExitStatus=2$/m); // EXIT.usage
    // Without a terminal, SIGHUP reads the configuration again.
    expect(unit).toMatch(/^ExecReload=\/bin\/sh -c 'kill -HUP \$\$MAINPID'$/m);
    // The watchdog's time must be far longer than the 10 s between messages.
    expect(Number(/^WatchdogSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThanOrEqual(60);
  });

  test('of the system keeps measurements in the directory that pickaxe uses', () => {
    expect(system).toMatch(/^CacheDirectory=pickaxe$/m);
    expect(system).toMatch(/^Environment=XDG_CACHE_HOME=%C/m);
  });
});
