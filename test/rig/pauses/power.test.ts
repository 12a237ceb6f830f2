import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { linuxPower, macPower, powerReader } from '#pickaxe/rig/pauses/power.js';

const made: string[] = [];
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

type Supplies = Record<string, Record<string, string>>;

/** Makes a folder like Linux's. */
function sysfs(supplies: Supplies): string {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-power-'));
  made.push(folder);
  for (const [name, files] of Object.entries(supplies)) {
    mkdirSync(join(folder, name));
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, name, file), `${text}\n`);
  }
  return folder;
}

/** The relevant files of a ThinkPad T480 with two batteries. */
const thinkpad = (online: string, internal: string, removable: string): Supplies => ({
  AC: { type: 'Mains', online },
  BAT0: { type: 'Battery', present: '1', status: internal, scope: 'System' },
  BAT1: { type: 'Battery', present: '1', status: removable },
  'ucsi-source-psy-USBC000:001': { type: 'USB', online: '0', usb_type: '[C] PD PD_PPS', scope: 'System' },
});
const mouse = { type: 'Battery', scope: 'Device', present: '1', online: '1', status: 'Discharging' };

describe('Linux', () => {
  it.each<[string, 'mains' | 'battery' | 'no battery', Supplies]>([
    ['a laptop that is plugged in', 'mains', thinkpad('1', 'Charging', 'Not charging')],
    ['both batteries full', 'mains', thinkpad('1', 'Full', 'Full')],
    ['a laptop that is not', 'battery', thinkpad('0', 'Not charging', 'Discharging')],
    ['a charger too weak for the load', 'mains', thinkpad('1', 'Discharging', 'Not charging')],
    ['a laptop that cannot say', 'mains', thinkpad('0', 'Unknown', 'Unknown')],
    [
      'charged over USB-C alone',
      'mains',
      {
        CROS_USBPD_CHARGER0: { type: 'USB', online: '1' },
        CROS_USBPD_CHARGER1: { type: 'USB', online: '0' },
        BAT0: { type: 'Battery', present: '1', status: 'Charging' },
      },
    ],
    [
      'a programmable USB-C charger',
      'mains',
      { usb: { type: 'USB', online: '2' }, BAT0: { type: 'Battery', status: 'Discharging' } },
    ],
    [
      'nothing on any USB-C port',
      'battery',
      { usb: { type: 'USB', online: '0' }, BAT0: { type: 'Battery', present: '1', status: 'Discharging' } },
    ],
    ['a desktop', 'no battery', {}],
    ['a desktop with a wireless mouse', 'no battery', { hidpp_battery_0: mouse }],
    ['a desktop whose mains is listed', 'no battery', { AC: { type: 'Mains', online: '1' } }],
    ['a laptop without its battery', 'no battery', { BAT0: { type: 'Battery', present: '0', status: 'Unknown' } }],
    ['a UPS during an outage', 'battery', { ups: { type: 'UPS', status: 'Discharging' } }],
    ['a battery that tells nothing but its type', 'mains', { BAT0: { type: 'Battery' } }],
    ['a mouse does not keep a laptop from resting', 'battery', { ...thinkpad('0', 'Discharging', 'Full'), mouse }],
  ])('%s: %s', (_, power, supplies) => {
    expect(linuxPower(sysfs(supplies))).toBe(power);
  });

  it('a machine without the folder has no battery', () => {
    expect(linuxPower('/nonexistent/power_supply')).toBe('no battery');
  });

  it('power supplies that cannot be read are an error', () => {
    expect(() => linuxPower(sysfs({ BAT0: { status: 'Discharging' } }))).toThrow('can be read');
    const folder = sysfs({});
    const file = join(folder, 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o600);
    expect(() => linuxPower(file)).toThrow('ENOTDIR');
  });

  it('one supply that cannot be read does not hide the others', () => {
    expect(linuxPower(sysfs({ broken: {}, BAT0: { type: 'Battery', status: 'Discharging' } }))).toBe('battery');
  });

  it('is read on known systems only', async () => {
    expect(['mains', 'battery', 'no battery']).toContain(await powerReader('linux')!());
    expect(powerReader('win32')).toBeUndefined();
  });
});

describe('macOS, from the output of pmset', () => {
  const battery = ' -InternalBattery-0 (id=4653155)\t95%; discharging; 4:41 remaining present: true';
  it.each([
    [`Now drawing from 'Battery Power'\n${battery}\n`, 'battery'],
    [`Now drawing from 'AC Power'\n${battery.replace('discharging', 'charging')}\n`, 'mains'],
    ["Now drawing from 'AC Power'\n", 'no battery'],
    [`Now drawing from 'UPS Power'\n -UPS (id=1)\t80%; discharging present: true\n`, 'battery'],
  ])('%j', (answer, power) => {
    expect(macPower(answer)).toBe(power);
  });
  it('any other output is an error', () => {
    expect(() => macPower('')).toThrow('does not say');
  });
});
