/** The interface of sensors, and the functions that the sensors of CPUs and GPUs share. */

import { open, readdir } from 'node:fs/promises';
import { pause } from '../../base/system/abort.ts';
import { type Clock, systemClock, wallMs } from '../../base/system/clock.ts';
import type { Telemetry, TelemetryField } from './device.ts';

export interface Sensors {
  /** Where the readings come from, or why there are none: one line for people. */
  readonly what: string;
  /**
   * Never rejects. A driver that hangs delays the result, or never gives one. So the next reading must not begin before
   * the previous reading has ended.
   */
  read(): Promise<Telemetry>;
}

/** Time limit for opening the sensors, in ms. If a driver takes longer, the device mines without readings. */
const OPEN_MS = 5_000;

/**
 * Opens sensors. Never rejects: when there are no sensors within OPEN_MS, `what` has the reason, and every reading is
 * empty.
 */
export async function openOrNone<S extends Sensors>(open: () => Promise<S>): Promise<S | Sensors> {
  const patience = new AbortController();
  try {
    const sensors = await Promise.race([open(), pause(systemClock, OPEN_MS, patience.signal)]);
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

/* Files of sysfs. Each has one short line, which the driver generates when the file is read. */

/** Maximum number of bytes that are read from a file: more than any number or label has. */
const MAX_BYTES = 64;

/**
 * Reads the beginning of a file, MAX_BYTES at most, as Latin-1 text. A test replaces this function to simulate
 * unreadable files, because a test that runs as root may read every file.
 * @throws the system's Error. Its `code` is the reason, such as `EACCES`
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

/** @returns the file's line without surrounding white space; undefined when the file cannot be read */
export async function readLine(path: string, read = readSysfs): Promise<string | undefined> {
  try {
    return (await read(path)).trim();
  } catch {
    return undefined; // For example, the driver was unloaded, or the device sleeps (EPERM, EBUSY, ENODATA …).
  }
}

/**
 * @returns the integer in the file, of at most 20 digits (enough for 64 bits); undefined for other content, or when the
 *   file cannot be read
 */
export async function readInteger(path: string, read = readSysfs): Promise<number | undefined> {
  const line = await readLine(path, read);
  return line !== undefined && /^-?\d{1,20}$/.test(line) ? Number(line) : undefined;
}

/** @returns whether the system does not let this process read the file (EACCES or EPERM) */
export async function isRefused(path: string, read = readSysfs): Promise<boolean> {
  try {
    await read(path);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}

/* Files in the folders of hwmon. Source: hwmon/sysfs-interface.rst in the kernel's Documentation folder. */

/** @returns the names in the folder; an empty list when the folder cannot be read */
export const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/**
 * @param files names in a folder of hwmon
 * @param kind such as `temp`
 * @returns the channels that have an input file, in ascending order, such as `temp1`, `temp2`
 */
export function channels(files: readonly string[], kind: string): string[] {
  const numbers = files.map((file) => new RegExp(`^${kind}(\\d{1,3})_input$`).exec(file)?.[1]);
  return numbers
    .filter((number) => number !== undefined)
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => kind + number);
}

/* The plausible range of each reading */

export type Readings = { [Field in TelemetryField]?: number | undefined };

/**
 * The smallest and the largest plausible value of each reading. The ranges are far wider than the values that chips and
 * cards reach. They exclude 0 °C and 0 W, which drivers report for sensors that a device does not have. They also
 * exclude numbers with all bits set, which drivers report when a sensor could not be read.
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

/** @returns the readings that have a plausible value */
export function plausible(readings: Readings): Telemetry {
  const kept = Object.entries(readings).filter(([field, value]) => {
    const [least, most] = PLAUSIBLE[field as TelemetryField];
    return value !== undefined && value >= least && value <= most;
  });
  return Object.fromEntries(kept);
}

/* Power from an energy counter, for chips and cards that report no power */

/**
 * Minimum time between two readings of the counter, in ms. Over a shorter time the mean power would be inaccurate,
 * because drivers update the counter only every few milliseconds.
 */
const MIN_MS = 100;

/**
 * Maximum time between two readings of the counter, in ms. A mean over a longer time is not the present power. The
 * counter could also wrap around twice in a longer time: at 500 W, a counter of 65 kJ wraps around every two minutes.
 */
const MAX_MS = 30_000;

/**
 * From one reading to the next, the wall clock and the monotonic clock usually advance by the same time. If the two
 * times differ by more than this, in ms, the machine was probably asleep.
 */
const ASLEEP_MS = 1_000;

interface EnergyMeterOptions {
  /**
   * Value in µJ at which the counter wraps around to 0. Without this option, a count that has decreased means that the
   * counter was reset.
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

  /** @param file path of the file with the counter's value in µJ */
  constructor(file: string, clock: Clock, options: EnergyMeterOptions = {}) {
    this.#file = file;
    this.#clock = clock;
    this.#options = options;
  }

  /**
   * A call within MIN_MS after the previous reading returns undefined, and does not count as a reading.
   * @returns the mean power in W since the previous reading. Undefined if this is the first reading or the previous
   *   reading failed, if the previous reading is more than MAX_MS old, if the machine slept in between, if a counter
   *   without `rangeMicrojoules` was reset, or if the counter cannot be read or has not changed
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
    // A chip may reset its counter while the machine sleeps. The decrease would look like a wraparound.
    const wasAsleep = Math.abs(now.wallMs - last.wallMs - ms) > ASLEEP_MS;
    if (ms > MAX_MS || wasAsleep) return undefined;
    const { rangeMicrojoules = 0 } = this.#options;
    const risen = now.microjoules - last.microjoules;
    const used = risen < 0 ? rangeMicrojoules + risen : risen;
    // An unchanged count means that the counter does not work, because every chip uses energy. A negative value means
    // that the counter was reset.
    return used > 0 ? used / ms / 1000 : undefined;
  }
}

function isCounted(reading: Omit<Reading, 'microjoules'> & { microjoules: number | undefined }): reading is Reading {
  return reading.microjoules !== undefined;
}

/* Readings at fixed intervals */

/** Time between readings in ms. Temperatures change within seconds, so shorter times would show nothing more. */
export const READ_MS = 2_000;

/**
 * Reads the sensors at once, and then every READ_MS. A reading is left out while the previous one is unfinished, so
 * that readings do not pile up when a driver hangs.
 * @param notify called with each reading that is not empty
 * @returns a function that ends the readings. After that, `notify` is not called any more
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
