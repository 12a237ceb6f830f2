/** Tests the sensors of AMD and Intel with copies of such cards' files in /sys. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { openSensors } from '#pickaxe/miner/engine/gpu/gpu-sensors.js';
import type { Card } from '#pickaxe/miner/engine/gpu/pci.js';

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-hwmon-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

type Files = Readonly<Record<string, string | number>>;

let machines = 0;

/** A simulated machine whose PCI devices have these files, by address. By default a device is a display controller. */
class Machine {
  readonly sysfs = join(temporary, `machine-${++machines}`);
  readonly clock = { ...systemClock, nowUs: () => BigInt(1000 * this.ms), monotonicMs: () => this.ms };
  ms = 5_000;

  constructor(devices: Readonly<Record<string, Files>>) {
    mkdirSync(join(this.sysfs, 'bus/pci/devices'), { recursive: true });
    for (const [address, files] of Object.entries(devices)) this.write(address, { class: '0x030000', ...files });
  }

  #path(address: string, file: string): string {
    return join(this.sysfs, 'bus/pci/devices', address, file);
  }

  write(address: string, files: Files): void {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(this.#path(address, file)), { recursive: true });
      writeFileSync(this.#path(address, file), `${text}\n`);
    }
  }

  remove(address: string, file: string): void {
    rmSync(this.#path(address, file), { recursive: true });
  }

  open(card: Card) {
    return openSensors(card, { sysfs: this.sysfs, clock: this.clock });
  }
}

/** The files of a folder, by their paths from the folder above. */
const within = (folder: string, files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]));

const BUS = '0000:03:00.0';

/** A Radeon RX 7900 XTX. */
const RADEON = {
  vendor: '0x1002',
  ...within('hwmon/hwmon4', {
    name: 'amdgpu',
    fan1_input: 1453,
    fan1_max: 3200,
    freq1_input: 2526_000_000,
    freq1_label: 'sclk',
    freq2_input: 1249_000_000,
    freq2_label: 'mclk',
    in0_input: 906,
    in0_label: 'vddgfx',
    power1_average: 287_000_000,
    power1_cap: 339_000_000,
    power1_label: 'PPT',
    pwm1: 102,
    pwm1_max: 255,
    temp1_input: 56_000,
    temp1_label: 'edge',
    temp2_input: 71_000,
    temp2_label: 'junction',
    temp3_input: 82_000,
    temp3_label: 'mem',
  }),
};
const RADEON_TELLS = {
  temperatureCelsius: 56,
  hotspotCelsius: 71,
  memoryCelsius: 82,
  powerWatts: 287,
  powerLimitWatts: 339,
  fanRatio: 0.4,
  fanRpm: 1453,
  coreHertz: 2526e6,
  memoryHertz: 1249e6,
};

/** The graphics of a Ryzen 7840U, which have neither a fan nor a memory of their own. */
const APU = {
  vendor: '0x1002',
  ...within('hwmon/hwmon7', {
    name: 'amdgpu',
    freq1_input: 800_000_000,
    freq1_label: 'sclk',
    power1_input: 9_128_000,
    power1_label: 'PPT',
    temp1_input: 41_000,
    temp1_label: 'edge',
  }),
};

/** An Arc A770 under i915, with sensors of the card and sensors of its graphics alone. */
const ARC = {
  vendor: '0x8086',
  'drm/card1/gt/gt0/rps_act_freq_mhz': 2400,
  'drm/card1/gt_act_freq_mhz': 2350,
  'drm/renderD128/dev': '226:128',
  ...within('hwmon/hwmon2', { name: 'i915_gt0', energy1_input: 1 }),
  ...within('hwmon/hwmon3', {
    name: 'i915',
    energy1_input: 9_000_000_000,
    fan1_input: 1820,
    in0_input: 1025,
    power1_max: 190_000_000,
    temp1_input: 61_000,
  }),
};

/** An Arc B580 under xe. */
const BATTLEMAGE: Files = {
  vendor: '0x8086',
  'drm/card0/dev': '226:0',
  'tile0/gt0/freq0/act_freq': 2850,
  'tile0/gt1/freq0/act_freq': 1500,
  ...within('hwmon/hwmon5', {
    name: 'xe',
    energy1_input: 5_000_000,
    energy1_label: 'card',
    energy2_input: 3_000_000,
    energy2_label: 'pkg',
    fan1_input: 0,
    fan2_input: 900,
    power1_label: 'card',
    power1_max: 190_000_000,
    temp2_input: 55_000,
    temp2_label: 'pkg',
    temp3_input: 64_000,
    temp3_label: 'vram',
    temp6_input: 45_000,
    temp6_label: 'mctrl',
  }),
};

describe('AMD', () => {
  test('a discrete card reports everything', async () => {
    const machine = new Machine({ [BUS]: RADEON });
    const sensors = await machine.open({ vendor: 'amd', bus: BUS });
    expect(sensors.what).toBe(`Linux’s sensors of the card at ${BUS} (amdgpu)`);
    expect(await sensors.read()).toEqual(RADEON_TELLS);

    machine.write(BUS, { 'hwmon/hwmon4/temp2_input': 104_500, 'hwmon/hwmon4/pwm1': 255 });
    expect(await sensors.read()).toEqual({ ...RADEON_TELLS, hotspotCelsius: 104.5, fanRatio: 1 });
  });

  test('an APU has no fan, and reports its power under another name', async () => {
    const sensors = await new Machine({ [BUS]: APU }).open({ vendor: 'amd', bus: BUS });
    expect(await sensors.read()).toEqual({ temperatureCelsius: 41, powerWatts: 9.128, coreHertz: 800e6 });
  });

  test('a fan that stands still is not missing', async () => {
    const files = { ...RADEON, 'hwmon/hwmon4/fan1_input': 0, 'hwmon/hwmon4/pwm1': 0 };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    expect(await sensors.read()).toEqual({ ...RADEON_TELLS, fanRpm: 0, fanRatio: 0 });
  });

  test('the present power is used when the average cannot be read', async () => {
    const files = { ...RADEON, 'hwmon/hwmon4/power1_average': '', 'hwmon/hwmon4/power1_input': 280_000_000 };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    expect(await sensors.read()).toEqual({ ...RADEON_TELLS, powerWatts: 280 });
  });

  test('a power limit of 0 means that there is none', async () => {
    const files = { ...RADEON, 'hwmon/hwmon4/power1_cap': 0 };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    const { powerLimitWatts: _, ...others } = RADEON_TELLS;
    expect(await sensors.read()).toEqual(others);
  });

  test('files may vanish and come back', async () => {
    const machine = new Machine({ [BUS]: RADEON });
    const sensors = await machine.open({ vendor: 'amd', bus: BUS });
    machine.remove(BUS, 'hwmon/hwmon4/temp1_input');
    machine.remove(BUS, 'hwmon/hwmon4/power1_average');
    const { temperatureCelsius: _, powerWatts: __, ...others } = RADEON_TELLS;
    expect(await sensors.read()).toEqual(others);
    machine.remove(BUS, 'hwmon');
    expect(await sensors.read()).toEqual({});
    machine.write(BUS, RADEON);
    expect(await sensors.read()).toEqual(RADEON_TELLS);
  });

  test.each([
    'garbage',
    '',
    '12 34',
    '0x40',
    '1e3',
    '4.5',
    'NaN',
    '-3000',
    '999999999999999999999999',
    '99999999999999999999',
    '\0\0\0\0',
    `${'9'.repeat(100_000)}`,
  ])('%.30j in every file is not a reading', async (text) => {
    const numbers = Object.keys(RADEON).filter((file) => /_input$|_average$|_cap$|pwm1$/.test(file));
    const files = { ...RADEON, ...Object.fromEntries(numbers.map((file) => [file, text])) };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    expect(await sensors.read()).toEqual({});
  });

  test.each(['0', '-255', 'none'])('a full speed of %s gives no wrong fan speed', async (text) => {
    const files = { ...RADEON, 'hwmon/hwmon4/pwm1_max': text };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    const { fanRatio } = await sensors.read();
    expect(fanRatio).toBe(text === 'none' ? 0.4 : undefined); // if it cannot be read, it is 255 as everywhere
  });
});

describe('Intel', () => {
  const ARC_TELLS = { temperatureCelsius: 61, powerLimitWatts: 190, fanRpm: 1820, coreHertz: 2400e6 };
  const ENERGY = 'hwmon/hwmon3/energy1_input';

  test('a card under i915: the power is computed from the energy counter', async () => {
    const machine = new Machine({ [BUS]: ARC });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    expect(sensors.what).toBe(`Linux’s sensors of the card at ${BUS} (i915)`);
    expect(await sensors.read()).toEqual(ARC_TELLS);

    machine.ms += 2_000;
    machine.write(BUS, { [ENERGY]: 9_000_000_000 + 360_000_000 });
    expect(await sensors.read()).toEqual({ ...ARC_TELLS, powerWatts: 180 });

    machine.ms += 500;
    machine.write(BUS, { [ENERGY]: 9_360_000_000 + 100_000_000 });
    expect(await sensors.read()).toEqual({ ...ARC_TELLS, powerWatts: 200 });
  });

  test('a counter that is reset loses one reading of the power', async () => {
    const machine = new Machine({ [BUS]: ARC });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    await sensors.read();
    machine.ms += 2_000;
    machine.write(BUS, { [ENERGY]: 1_000_000 });
    expect(await sensors.read()).toEqual(ARC_TELLS);
    machine.ms += 2_000;
    machine.write(BUS, { [ENERGY]: 301_000_000 });
    expect(await sensors.read()).toEqual({ ...ARC_TELLS, powerWatts: 150 });
  });

  test('a counter that cannot be read loses one reading of the power', async () => {
    const machine = new Machine({ [BUS]: ARC });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    for (const [energy, powerWatts] of [
      [9_000_000_000, undefined],
      ['gone', undefined],
      [9_700_000_000, undefined],
      [10_100_000_000, 200],
    ] as const) {
      machine.write(BUS, { [ENERGY]: energy });
      expect((await sensors.read()).powerWatts).toBe(powerWatts);
      machine.ms += 2_000;
    }
  });

  test('readings too close together give no power, and do not affect the next one', async () => {
    const machine = new Machine({ [BUS]: ARC });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    await sensors.read();
    expect(await sensors.read()).toEqual(ARC_TELLS); // at the same moment
    machine.ms += 10;
    machine.write(BUS, { [ENERGY]: 9_090_000_000 });
    expect(await sensors.read()).toEqual(ARC_TELLS);
    machine.ms += 990;
    machine.write(BUS, { [ENERGY]: 9_150_000_000 });
    expect(await sensors.read()).toEqual({ ...ARC_TELLS, powerWatts: 150 });
  });

  test('a card that reports only its energy has its power', async () => {
    const machine = new Machine({
      [BUS]: { vendor: '0x8086', ...within('hwmon/hwmon0', { name: 'xe', energy1_input: 1_000_000 }) },
    });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    expect(sensors.what).toBe(`Linux’s sensors of the card at ${BUS} (xe)`);
    expect(await sensors.read()).toEqual({});
    machine.ms += 2_000;
    machine.write(BUS, { 'hwmon/hwmon0/energy1_input': 201_000_000 });
    expect(await sensors.read()).toEqual({ powerWatts: 100 });
  });

  test('a card whose driver shows nothing has no readings, and the reason', async () => {
    const machine = new Machine({
      [BUS]: { vendor: '0x1002', ...within('hwmon/hwmon0', { name: 'amdgpu', pwm1_max: 255 }) },
    });
    const sensors = await machine.open({ vendor: 'amd', bus: BUS });
    expect(sensors.what).toBe(`no readings: Linux shows no sensors of the card at ${BUS}: its driver must be amdgpu`);
  });

  test('a fan without a full speed of its own has that of most drivers', async () => {
    const machine = new Machine({
      [BUS]: { vendor: '0x1002', ...within('hwmon/hwmon0', { name: 'amdgpu', pwm1: 51 }) },
    });
    expect(await (await machine.open({ vendor: 'amd', bus: BUS })).read()).toEqual({ fanRatio: 0.2 });
  });

  test('an older i915 has its clock in another file', async () => {
    const { 'drm/card1/gt/gt0/rps_act_freq_mhz': _, ...files } = ARC;
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'intel', bus: BUS });
    expect(await sensors.read()).toEqual({ ...ARC_TELLS, coreHertz: 2350e6 });
  });

  test('a card under xe: its sensors have labels', async () => {
    const machine = new Machine({ [BUS]: BATTLEMAGE });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    const readings = { temperatureCelsius: 55, memoryCelsius: 64, powerLimitWatts: 190, fanRpm: 0, coreHertz: 2850e6 };
    expect(await sensors.read()).toEqual(readings);
    machine.ms += 1_000;
    const energies = { energy1_input: 5_000_000 + 95_000_000, energy2_input: 3_000_000 + 70_000_000 };
    machine.write(BUS, within('hwmon/hwmon5', energies));
    expect(await sensors.read()).toEqual({ ...readings, powerWatts: 95 }); // the card's, not the chip's
  });

  test('xe without an energy counter of the card: that of the chip is used', async () => {
    const { 'hwmon/hwmon5/energy1_input': _, 'hwmon/hwmon5/energy1_label': __, ...files } = BATTLEMAGE;
    const machine = new Machine({ [BUS]: files });
    const sensors = await machine.open({ vendor: 'intel', bus: BUS });
    await sensors.read();
    machine.ms += 1_000;
    machine.write(BUS, { 'hwmon/hwmon5/energy2_input': 73_000_000 });
    expect((await sensors.read()).powerWatts).toBe(70);
  });

  test('integrated graphics report only their clock', async () => {
    const files = { vendor: '0x8086', 'drm/card0/gt_act_freq_mhz': 1150 };
    const sensors = await new Machine({ '0000:00:02.0': files }).open({ vendor: 'intel', bus: '0000:00:02.0' });
    expect(sensors.what).toBe('Linux’s sensors of the card at 0000:00:02.0');
    expect(await sensors.read()).toEqual({ coreHertz: 1150e6 });
  });
});

describe('which card', () => {
  const two = { [BUS]: RADEON, '0000:0c:00.0': APU, '0000:00:02.0': ARC };

  test('without an address, the vendor’s only card is used', async () => {
    const audio = { vendor: '0x1002', class: '0x040300' };
    const bridge = { vendor: '0x1002', class: '0x060000' };
    const machine = new Machine({ [BUS]: RADEON, '0000:03:00.1': audio, '0000:00:02.0': ARC, '0000:00:00.0': bridge });
    expect(await (await machine.open({ vendor: 'amd' })).read()).toEqual(RADEON_TELLS);
    expect((await machine.open({ vendor: 'intel' })).what).toContain('0000:00:02.0 (i915)');
  });

  test('each card is found by its address, however it is written', async () => {
    const machine = new Machine(two);
    expect(await (await machine.open({ vendor: 'amd', bus: '00000000:0C:00.0' })).read()).toHaveProperty(
      'coreHertz',
      800e6,
    );
    expect(await (await machine.open({ vendor: 'amd', bus: BUS })).read()).toEqual(RADEON_TELLS);
  });

  test.each([
    [{ vendor: 'amd' }, 'there are 2 cards of AMD, and no PCI address says which of them this is'],
    [
      { vendor: 'amd', bus: '0000:07:00.0' },
      'Linux shows no sensors of the card at 0000:07:00.0: its driver must be amdgpu',
    ],
    [{ vendor: 'amd', bus: '../../../..' }, "'../../../..' is not a PCI address such as 0000:65:00.0"],
    [{ vendor: undefined }, 'pickaxe can read the sensors of NVIDIA, AMD and Intel only'],
    [{ vendor: undefined, bus: BUS }, 'pickaxe can read the sensors of NVIDIA, AMD and Intel only'],
  ] as const)('%j: no readings, and why', async (card, why) => {
    const sensors = await new Machine(two).open(card);
    expect(sensors.what).toContain(`no readings: ${why}`);
    expect(await sensors.read()).toEqual({});
  });

  test('a system without a card of this vendor', async () => {
    const sensors = await new Machine({ [BUS]: ARC }).open({ vendor: 'amd' });
    expect(sensors.what).toBe('no readings: the system lists no card of AMD');
  });

  test('a card that another driver uses', async () => {
    const files = { vendor: '0x1002', 'hwmon/hwmon0/name': 'radeon', 'hwmon/hwmon0/temp1_input': 50_000 };
    const sensors = await new Machine({ [BUS]: files }).open({ vendor: 'amd', bus: BUS });
    expect(sensors.what).toContain('its driver must be amdgpu');
  });

  test('a system without /sys', async () => {
    const sensors = await openSensors({ vendor: 'amd', bus: BUS }, { sysfs: join(temporary, 'nowhere') });
    expect(sensors.what).toContain('no readings: sensors of AMD can be read on Linux only, in ');
    expect(await sensors.read()).toEqual({});
  });
});

test.each<[string, Files, object]>([
  ['the only temperature without a label is that of the chip', { temp1_input: 50_000 }, { temperatureCelsius: 50 }],
  ['a second one without a label is of something unknown', { temp2_input: 50_000, fan1_input: 900 }, { fanRpm: 900 }],
  ['the first one with a label is what that says', { temp1_input: 80_000, temp1_label: 'mem' }, { memoryCelsius: 80 }],
  [
    'one with an unknown label is of something unknown',
    { temp1_input: 80_000, temp1_label: 'x', fan1_input: 900 },
    { fanRpm: 900 },
  ],
])('of a card, %s', async (_, files, readings) => {
  const machine = new Machine({ [BUS]: { vendor: '0x1002', ...within('hwmon/hwmon1', { name: 'amdgpu', ...files }) } });
  expect(await (await machine.open({ vendor: 'amd', bus: BUS })).read()).toEqual(readings);
});
