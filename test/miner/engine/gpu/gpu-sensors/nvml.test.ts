/** Tests NVIDIA's sensors with a stand-in for its management library. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import koffi from 'koffi';
import { afterAll, describe, expect, test } from 'vitest';
import { openSensors } from '#pickaxe/miner/engine/gpu/gpu-sensors.js';

const BUS = '0000:65:00.0';
const stub = fileURLToPath(new URL('./nvml-stub.c', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-nvml-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

const compiler = ['cc', 'gcc', 'clang'].find((command) => spawnSync(command, ['--version']).status === 0);
// Without a compiler there is no stand-in: on a developer's machine these tests are skipped, and in CI they fail.
if (!compiler && process.env.CI) throw new Error('CI must try NVIDIA’s sensors: install a C compiler');

let builds = 0;

/** @returns the path of a new stand-in, so that tests do not affect one another */
function build(...macros: string[]): string {
  const library = join(temporary, `nvml-${++builds}.so`);
  const flags = ['-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', ...macros.map((macro) => `-D${macro}`)];
  const { status, stderr } = spawnSync(compiler!, [...flags, '-o', library, stub], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return library;
}

/** Calls a function of the stand-in that reports how it was used. */
const ask = (library: string, name: string): number => koffi.load(library).func(name, 'int', [])();

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(1);
}

describe.skipIf(!compiler)(`NVIDIA’s sensors${compiler ? '' : ', not tried: there is no C compiler'}`, () => {
  const all = {
    temperatureCelsius: 61,
    memoryCelsius: 72,
    powerWatts: 287.654,
    powerLimitWatts: 350,
    fanRatio: 0.43,
    coreHertz: 1980e6,
    memoryHertz: 3201e6,
  };

  test('are those of the card at an address', async () => {
    const library = build('CARDS=2');
    const sensors = await openSensors({ vendor: 'nvidia', bus: BUS }, { nvml: library });
    expect(sensors.what).toBe(`NVIDIA’s management library (NVML), ${BUS}`);
    expect(await sensors.read()).toEqual(all);
    expect(await sensors.read()).toEqual(all);
    expect(ask(library, 'stub_running')).toBe(1);
    expect(ask(library, 'stub_power_calls')).toBe(2);
  });

  test('are found with a long domain in the address, as NVIDIA writes it', async () => {
    const sensors = await openSensors({ vendor: 'nvidia', bus: '00000000:65:00.0' }, { nvml: build() });
    expect(await sensors.read()).toEqual(all);
  });

  test('are those of the only card without an address', async () => {
    const sensors = await openSensors({ vendor: 'nvidia' }, { nvml: build() });
    expect(sensors.what).toBe('NVIDIA’s management library (NVML), the only card');
    expect(await sensors.read()).toEqual(all);
  });

  test('lack what the card does not support', async () => {
    const sensors = await openSensors({ vendor: 'nvidia', bus: BUS }, { nvml: build('MODEST') });
    expect(await sensors.read()).toEqual({
      temperatureCelsius: 61,
      powerWatts: 287.654,
      coreHertz: 1980e6,
      memoryHertz: 3201e6,
    });
  });

  test('lack what an old library has no function for', async () => {
    const sensors = await openSensors({ vendor: 'nvidia', bus: BUS }, { nvml: build('OLD') });
    expect(await sensors.read()).toEqual({
      temperatureCelsius: 61,
      powerWatts: 287.654,
      coreHertz: 1980e6,
      memoryHertz: 3201e6,
    });
  });

  test('lack readings that are not plausible', async () => {
    const sensors = await openSensors({ vendor: 'nvidia', bus: BUS }, { nvml: build('ABSURD') });
    expect(await sensors.read()).toEqual({});
  });

  test.each([
    ['two cards and no address', ['CARDS=2'], undefined, 'there are 2 cards of NVIDIA, and no PCI address says'],
    ['no card', ['CARDS=0'], undefined, 'the system lists no card of NVIDIA'],
    ['another address', [], '0000:66:00.0', 'gives no access to the card at 0000:66:00.0: Not Found'],
    ['no driver', ['INIT=9'], BUS, 'does not start: Driver Not Loaded'],
    ['a library without the functions that it takes', ['ANCIENT'], BUS, 'has no nvmlInit_v2: update NVIDIA’s driver'],
    ['a text that is not an address', [], '65:00', "'65:00' is not a PCI address such as 0000:65:00.0"],
  ])('%s: no readings, and why', async (_name, macros, bus, why) => {
    const library = build(...macros);
    const sensors = await openSensors({ vendor: 'nvidia', ...(bus && { bus }) }, { nvml: library });
    expect(sensors.what).toMatch(/^no readings: /);
    expect(sensors.what).toContain(why);
    expect(await sensors.read()).toEqual({});
    await until(() => ask(library, 'stub_running') <= 0); // all calls that were started have ended
    expect(ask(library, 'stub_running')).toBe(0);
  });

  test('do not block JavaScript when the driver is slow', async () => {
    const library = build('GATE');
    const sensors = await openSensors({ vendor: 'nvidia', bus: BUS }, { nvml: library });
    const reading = sensors.read();
    await until(() => ask(library, 'stub_waiting') === 1); // the timers of `until` run meanwhile
    koffi.load(library).func('stub_open_gate', 'void', [])();
    expect(await reading).toEqual(all);
  });
});

test('without the library there are no readings, and a text says what to do', async () => {
  const sensors = await openSensors({ vendor: 'nvidia' }, { nvml: join(temporary, 'libnone.so.1') });
  expect(sensors.what).toMatch(
    /^no readings: NVIDIA’s management library does not load \(.*\): it comes with NVIDIA’s/,
  );
  expect(await sensors.read()).toEqual({});
});

test('a file that is not a library counts as missing', async () => {
  const file = join(temporary, 'text.so.1');
  writeFileSync(file, 'no library\n');
  const sensors = await openSensors({ vendor: 'nvidia' }, { nvml: file });
  expect(sensors.what).toMatch(/^no readings: NVIDIA’s management library does not load \(/);
});

test('without koffi, only NVIDIA’s sensors cannot be read', () => {
  // The built sensors in a folder from which no node_modules can be found.
  const copy = join(temporary, 'no-koffi');
  const dist = fileURLToPath(new URL('../../../../../dist', import.meta.url));
  mkdirSync(join(copy, 'miner/engine/gpu'), { recursive: true });
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }\n');
  // Modules with faults (scripts/mutations.mjs) import a switch that lies beside the folders.
  const switches = readdirSync(dist).filter((name) => name === 'fault-switch.js');
  for (const path of ['protocol/chain', 'base', 'miner/engine', ...switches]) {
    cpSync(join(dist, path), join(copy, path), { recursive: true });
  }
  const device = join(copy, 'sys/bus/pci/devices/0000:03:00.0');
  mkdirSync(join(device, 'hwmon/hwmon0'), { recursive: true });
  writeFileSync(join(device, 'hwmon/hwmon0/name'), 'amdgpu\n');
  writeFileSync(join(device, 'hwmon/hwmon0/temp1_input'), '45000\n');
  writeFileSync(
    join(copy, 'main.js'),
    `import { openSensors } from './miner/engine/gpu/gpu-sensors.js';
    const nvidia = await openSensors({ vendor: 'nvidia' });
    const amd = await openSensors({ vendor: 'amd', bus: '0000:03:00.0' }, { sysfs: 'sys' });
    console.log(JSON.stringify([nvidia.what, await nvidia.read(), await amd.read()]));`,
  );
  const { stdout, stderr } = spawnSync(process.execPath, ['main.js'], { cwd: copy, encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([
    expect.stringMatching(
      /^no readings: koffi, the package that calls NVIDIA’s management library, does not load \(.+\): install pickaxe with /,
    ),
    {},
    { temperatureCelsius: 45 },
  ]);
});
