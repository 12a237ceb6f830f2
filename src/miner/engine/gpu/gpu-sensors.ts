/** The sensors of GPUs. Reading them requires no special rights. */

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../../base/system/clock.ts';
import type { TelemetryField } from '../device.ts';
import {
  channels,
  EnergyMeter,
  list,
  openOrNone,
  plausible,
  type Readings,
  readInteger,
  readLine,
  type Sensors,
} from '../sensors.ts';
import { NVML_LIBRARY, openNvml } from './nvml.ts';
import { type Card, displayDevices, NAMES, parseBus, whichCard } from './pci.ts';

/** Options that only tests set. */
interface SensorOptions {
  readonly clock?: Clock;
  /** Path at which sysfs is mounted. The default is `/sys`. */
  readonly sysfs?: string;
  /** Name or path of NVIDIA's library NVML, for the system's loader. */
  readonly nvml?: string;
}

/**
 * Opens the sensors of a card. Never rejects: when there are no sensors, `what` has the reason, and every reading is
 * empty.
 */
export function openSensors(card: Card, options: SensorOptions = {}): Promise<Sensors> {
  return openOrNone(() => open(card, options));
}

async function open(
  card: Card,
  { clock = systemClock, sysfs = '/sys', nvml = NVML_LIBRARY }: SensorOptions,
): Promise<Sensors> {
  const bus = card.bus === undefined ? undefined : parseBus(card.bus);
  switch (card.vendor) {
    case 'nvidia':
      return openNvml(bus, nvml);
    case 'amd':
    case 'intel':
      return openHwmon(card.vendor, bus, sysfs, clock);
    case undefined:
      throw new Error('pickaxe can read the sensors of NVIDIA, AMD and Intel only');
  }
}

/*
 * Cards of AMD and Intel under Linux. Sources, in the kernel's Documentation folder: for files and units
 * hwmon/sysfs-interface.rst; for the drivers gpu/amdgpu/thermal.rst, ABI/testing/sysfs-driver-intel-i915-hwmon and
 * ABI/testing/sysfs-driver-intel-xe-hwmon.
 */

/**
 * Names of the drivers, by vendor. In the hwmon folder of a whole card, the file `name` has one of these names. Other
 * names, such as `i915_gt0`, stand for parts of a card.
 */
const DRIVERS = { amd: ['amdgpu'], intel: ['i915', 'xe'] };

/**
 * Fields by the labels of temperature sensors. The driver amdgpu uses edge, junction and mem, and xe uses pkg and vram.
 */
const TEMPERATURES = new Map<string, TelemetryField>([
  ['edge', 'temperatureCelsius'],
  ['pkg', 'temperatureCelsius'],
  ['junction', 'hotspotCelsius'],
  ['mem', 'memoryCelsius'],
  ['vram', 'memoryCelsius'],
]);
/** Fields by the labels of amdgpu's clocks. */
const CLOCKS = new Map<string, TelemetryField>([
  ['sclk', 'coreHertz'],
  ['mclk', 'memoryHertz'],
]);

/** Files with i915's clock in MHz, below a folder such as `drm/card0`: in current and in older versions of Linux. */
const I915_CLOCKS = ['gt/gt0/rps_act_freq_mhz', 'gt_act_freq_mhz'];
/** File with xe's clock in MHz, below the folder of the PCI device. */
const XE_CLOCK = 'tile0/gt0/freq0/act_freq';

/** Value of a fan's pulse width modulation at full speed, if the driver does not report it. */
const PWM_MAX = 255;

/** A sysfs file with a value of a field. If a field has several files, the first readable file is used. */
interface Gauge {
  readonly field: TelemetryField;
  readonly file: string;
  /** Converts the number in the file to the unit of the field. */
  readonly convert: Conversion;
}

type Conversion = (value: number) => number;

const asItIs: Conversion = (value) => value;
const fromThousandths: Conversion = (value) => value / 1e3;
const fromMillionths: Conversion = (value) => value / 1e6;
const fromMillions: Conversion = (value) => value * 1e6;

/**
 * @param bus PCI address; undefined for the vendor's only card
 * @throws Error when there are no sensors. The message has the reason
 */
async function openHwmon(
  vendor: keyof typeof DRIVERS,
  bus: string | undefined,
  sysfs: string,
  clock: Clock,
): Promise<Sensors> {
  const devices = join(sysfs, 'bus/pci/devices');
  if (!(await exists(devices))) throw new Error(`sensors of ${NAMES[vendor]} can be read on Linux only, in ${sysfs}`);
  const address = bus ?? onlyCard(devices, vendor);
  const device = join(devices, address);
  const hwmon = await findHwmon(device, DRIVERS[vendor]);
  const gauges = [...(hwmon ? await gaugesOf(hwmon.folder) : []), ...(await clocksOf(device))];
  const energy = hwmon && (await energyOf(hwmon.folder, clock));
  if (gauges.length === 0 && !energy) {
    const drivers = DRIVERS[vendor].join(' or ');
    throw new Error(`Linux shows no sensors of the card at ${address}: its driver must be ${drivers}`);
  }
  return {
    what: `Linux’s sensors of the card at ${address}${hwmon ? ` (${hwmon.driver})` : ''}`,
    async read() {
      const readings: Readings = {};
      for (const { field, file, convert } of gauges) {
        if (readings[field] !== undefined) continue;
        const value = await readInteger(file);
        readings[field] = value === undefined ? undefined : convert(value);
      }
      readings.powerWatts ??= await energy?.readW();
      return plausible(readings);
    },
  };
}

/** @returns the PCI address of the vendor's card @throws Error unless there is exactly one */
function onlyCard(devices: string, vendor: keyof typeof DRIVERS): string {
  const cards = displayDevices(devices).filter((each) => each.vendor === vendor);
  if (cards.length !== 1) throw new Error(whichCard(cards.length, NAMES[vendor]));
  return cards[0].bus;
}

async function findHwmon(device: string, drivers: readonly string[]) {
  for (const name of await list(join(device, 'hwmon'))) {
    const folder = join(device, 'hwmon', name);
    const driver = await readLine(join(folder, 'name'));
    if (driver !== undefined && drivers.includes(driver)) return { folder, driver };
  }
  return undefined;
}

async function gaugesOf(folder: string): Promise<Gauge[]> {
  const gauges: Gauge[] = [];
  const files = await list(folder);
  const add = (field: TelemetryField | undefined, file: string, convert: Conversion) => {
    if (field && files.includes(file)) gauges.push({ field, file: join(folder, file), convert });
  };
  const labelOf = (channel: string) => readLine(join(folder, `${channel}_label`));

  for (const channel of channels(files, 'temp')) {
    const label = await labelOf(channel);
    // i915 and, in older versions of Linux, amdgpu have a single temperature without a label: that of the chip.
    const field = label === undefined && channel === 'temp1' ? 'temperatureCelsius' : TEMPERATURES.get(label ?? '');
    add(field, `${channel}_input`, fromThousandths);
  }
  for (const channel of channels(files, 'freq')) {
    add(CLOCKS.get((await labelOf(channel)) ?? ''), `${channel}_input`, asItIs);
  }
  // For an APU, this is the power of the whole chip, including the CPU.
  add('powerWatts', 'power1_average', fromMillionths);
  add('powerWatts', 'power1_input', fromMillionths);
  // amdgpu has the file `power1_cap`, i915 and xe have `power1_max`.
  add('powerLimitWatts', 'power1_cap', fromMillionths);
  add('powerLimitWatts', 'power1_max', fromMillionths);
  for (const channel of channels(files, 'fan')) add('fanRpm', `${channel}_input`, asItIs);
  const pwmMax = (await readInteger(join(folder, 'pwm1_max'))) ?? PWM_MAX;
  add('fanRatio', 'pwm1', (value) => value / pwmMax);
  return gauges;
}

/**
 * @returns a meter for the energy counter of the whole card or, without such a counter, for that of the chip; undefined
 *   if there is no counter
 */
async function energyOf(folder: string, clock: Clock): Promise<EnergyMeter | undefined> {
  const found = channels(await list(folder), 'energy');
  const labels = await Promise.all(found.map((channel) => readLine(join(folder, `${channel}_label`))));
  // i915 has a single counter, for the whole card. This counter has no label.
  const channel = ['card', undefined, 'pkg'].map((label) => found[labels.indexOf(label)]).find(Boolean);
  // Drivers extend the chip's counters from 32 to 64 bits. So a count that has decreased means a reset, not a
  // wraparound.
  return channel === undefined ? undefined : new EnergyMeter(join(folder, `${channel}_input`), clock);
}

async function clocksOf(device: string): Promise<Gauge[]> {
  const cards = (await list(join(device, 'drm'))).filter((name) => /^card\d+$/.test(name));
  const i915 = cards.flatMap((card) => I915_CLOCKS.map((file) => join(device, 'drm', card, file)));
  const gauges: Gauge[] = [];
  for (const file of [...i915, join(device, XE_CLOCK)]) {
    if (await exists(file)) gauges.push({ field: 'coreHertz', file, convert: fromMillions });
  }
  return gauges;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
