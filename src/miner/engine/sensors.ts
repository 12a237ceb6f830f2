/** The interface of sensors, and what the sensors of CPUs and GPUs share. */

import { open, readdir } from 'node:fs/promises';
import { pause } from '../../base/system/abort.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { Telemetry, TelemetryField } from './device.ts';

export interface Sensors {
  /** Where the readings come from, or why there are none: one line for people. */
  readonly what: string;
  /** Never rejects. Wait for one reading before you start the next: a driver that hangs answers late or never. */
  read(): Promise<Telemetry>;
}

/** Time limit for finding the sensors. When a driver hangs, the device mines without them. */
const OPEN_MS = 5_000;

/** Never rejects. When there are no sensors, `what` says why, and every reading is empty. */
export async function openOrNone<S extends Sensors>(open: () => Promise<S>): Promise<S | Sensors> {
  const patience = new AbortController();
  try {
    const sensors = await Promise.race([open(), pause(OPEN_MS, patience.signal)]);
    if (!sensors) return none(`the driver did not answer within ${OPEN_MS / 1000} s`);
    return { ...sensors, read: () => sensors.read().catch(() => ({})) };
  } catch (error) {
    return none((error as Error).message);
  } finally {
    patience.abort();
  }
}

function none(why: string): Sensors {
  return { what: `no readings: ${why}`, read: async () => ({}) };
}

/* Files of sysfs, each with one short line, which the driver generates when the file is read */

/** Maximum number of bytes to read: more than any number or label has. */
const MAX_BYTES = 64;

/**
 * Reads the beginning of a file. A test replaces it, because root may read files whatever their modes.
 * @throws Error of the system, whose `code` says why the file cannot be read
 */
export type ReadSysfs = (path: string) => Promise<string>;

export const readSysfs: ReadSysfs = async (path) => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await file.close();
  }
};

/** @returns the line without surrounding white space; undefined when the file cannot be read */
export async function readLine(path: string, read = readSysfs): Promise<string | undefined> {
  try {
    return (await read(path)).trim();
  } catch {
    return undefined; // The driver was unloaded, or the device sleeps and the driver answers EPERM, EBUSY, ENODATA …
  }
}

/** @returns an integer of at most 20 digits, enough for 64 bits; undefined for other content */
export async function readInteger(path: string, read = readSysfs): Promise<number | undefined> {
  const line = await readLine(path, read);
  return line !== undefined && /^-?\d{1,20}$/.test(line) ? Number(line) : undefined;
}

/** @returns whether the file exists and this process may not read it */
export async function isRefused(path: string, read = readSysfs): Promise<boolean> {
  try {
    await read(path);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/* Files of sensors below hwmon (hwmon/sysfs-interface.rst in the kernel's documentation) */

/** @returns names; none when the folder cannot be listed */
export const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** @returns the channels with an input, in order: `temp1`, `temp2` … */
export function channels(files: readonly string[], kind: string): string[] {
  const numbers = files.map((file) => new RegExp(`^${kind}(\\d{1,3})_input$`).exec(file)?.[1]);
  return numbers
    .filter((number) => number !== undefined)
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => kind + number);
}

/* Plausible readings */

export type Readings = { [Field in TelemetryField]?: number | undefined };

/**
 * The smallest and the largest plausible reading: ranges far wider than what chips and cards reach. Drivers report 0 °C
 * and 0 W for sensors that a device does not have, and numbers with all bits set for sensors that they could not read.
 */
const PLAUSIBLE: Readonly<Record<TelemetryField, readonly [least: number, most: number]>> = {
  temperatureCelsius: [1, 150],
  hotspotCelsius: [1, 150],
  memoryCelsius: [1, 150],
  powerWatts: [0.1, 5_000],
  powerLimitWatts: [0.1, 5_000],
  fanRatio: [0, 2],
  fanRpm: [0, 50_000],
  coreHertz: [0, 10e9],
  memoryHertz: [0, 50e9],
};

export function plausible(readings: Readings): Telemetry {
  const kept = Object.entries(readings).filter(([field, value]) => {
    const [least, most] = PLAUSIBLE[field as TelemetryField];
    return value !== undefined && value >= least && value <= most;
  });
  return Object.fromEntries(kept);
}

/* Power from an energy counter, for chips and cards that report no power */

/** Minimum time between readings of the counter: drivers update the counter every few milliseconds. */
const MIN_MS = 100;

/**
 * Maximum time between readings of the counter. A mean over a longer time shows little about the present, and a counter
 * may wrap around twice in it: at 500 W, a counter of 65 kJ wraps around every two minutes.
 */
const MAX_MS = 30_000;

/**
 * If the wall clock and the monotonic clock have advanced by times that differ by more than this, the machine was
 * asleep.
 */
const ASLEEP_MS = 1_000;

interface EnergyMeterOptions {
  /**
   * Value in µJ at which the counter begins again at 0. Without this option, a counter that has become smaller counts
   * as reset.
   */
  readonly rangeMicrojoules?: number | undefined;
  readonly read?: ReadSysfs | undefined;
}

interface Reading {
  readonly microjoules: number;
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export class EnergyMeter {
  readonly #file: string;
  readonly #clock: Clock;
  readonly #options: EnergyMeterOptions;
  #last: Reading | undefined;

  /** @param file counts microjoules */
  constructor(file: string, clock: Clock, options: EnergyMeterOptions = {}) {
    this.#file = file;
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * @returns mean W since the last reading; undefined for the first reading, less than MIN_MS or more than MAX_MS after
   *   the last one, after a reset or a sleep, and while the count cannot be read or does not change
   */
  async readW(): Promise<number | undefined> {
    const microjoules = await readInteger(this.#file, this.#options.read);
    const monotonicMs = this.#clock.monotonicMs();
    const last = this.#last;
    if (last && monotonicMs - last.monotonicMs < MIN_MS) return undefined;
    const now = { microjoules, monotonicMs, wallMs: wallMs(this.#clock) };
    this.#last = isCounted(now) ? now : undefined;
    return last && isCounted(now) ? this.#power(last, now) : undefined;
  }

  #power(last: Reading, now: Reading): number | undefined {
    const ms = now.monotonicMs - last.monotonicMs;
    // A chip may reset its counter while it sleeps, which looks like a wraparound.
    const wasAsleep = Math.abs(now.wallMs - last.wallMs - ms) > ASLEEP_MS;
    if (ms > MAX_MS || wasAsleep) return undefined;
    const { rangeMicrojoules = 0 } = this.#options;
    const risen = now.microjoules - last.microjoules;
    const used = risen < 0 ? rangeMicrojoules + risen : risen;
    // A count that does not change shows that the counter does not work: a chip that runs this code uses energy.
    return used > 0 ? used / ms / 1000 : undefined;
  }
}

function isCounted(reading: Omit<Reading, 'microjoules'> & { microjoules: number | undefined }): reading is Reading {
  return reading.microjoules !== undefined;
}

/* Periodic readings */

/** Time between readings: temperatures change over seconds. */
export const READ_MS = 2_000;

/**
 * Reads at once, then every two seconds. Only one reading runs at a time, so that readings do not pile up behind a
 * driver that hangs.
 * @param notify called with each reading that is not empty
 * @returns a function that ends the readings: afterwards `notify` is not called any more
 */
export function watchSensors(sensors: Sensors, notify: (telemetry: Telemetry) => void): () => void {
  let isReading = false;
  let isOver = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    const telemetry = await sensors.read();
    isReading = false;
    if (!isOver && Object.keys(telemetry).length > 0) notify(telemetry);
  };
  const timer = setInterval(read, READ_MS);
  void read();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}
