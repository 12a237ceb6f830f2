/**
 * The sensors of NVIDIA's cards. They are read with NVIDIA's library NVML, which is called through the package koffi.
 */

import { join } from 'node:path';
import { promisify } from 'node:util';
import { plausible, type Sensors } from '../sensors.ts';
import { NAMES, whichCard } from './pci.ts';

/**
 * The C types of parameters. An `out` parameter is a pointer to memory that the function writes, and an `inout`
 * parameter is a pointer to memory that it reads and writes.
 */
const TYPES = {
  text: 'str',
  number: 'unsigned int',
  handle: 'void *',
  'out number': 'unsigned int *',
  'out handle': 'void **',
  'inout bytes': 'uint8_t *',
} as const;
type Type = keyof typeof TYPES;

/**
 * A function of the library. It runs on one of libuv's threads, so that a slow driver does not block JavaScript.
 * @returns a value of nvmlReturn_t
 */
type Call = (...args: unknown[]) => Promise<number>;

class NvmlLibrary {
  readonly #koffi: typeof import('koffi');
  readonly #library: import('koffi').LibraryHandle;

  private constructor(koffi: typeof import('koffi'), library: import('koffi').LibraryHandle) {
    this.#koffi = koffi;
    this.#library = library;
  }

  /**
   * @param path name or path of the library, for the system's loader
   * @throws Error when koffi or the library does not load. The message has the remedy
   */
  static async load(path: string): Promise<NvmlLibrary> {
    const koffi = await import('koffi').catch((error: Error) => {
      const remedy = 'install pickaxe with its optional packages (not with --omit=optional)';
      throw new Error(
        `koffi, the package that calls NVIDIA’s management library, does not load (${firstLine(error)}): ${remedy}`,
      );
    });
    try {
      return new NvmlLibrary(koffi, koffi.load(path));
    } catch (error) {
      const remedy = 'it comes with NVIDIA’s driver; a container gets it with NVIDIA_DRIVER_CAPABILITIES=utility';
      throw new Error(`NVIDIA’s management library does not load (${firstLine(error as Error)}): ${remedy}`);
    }
  }

  /** @returns undefined if this version of the library has no such function */
  optional(name: string, ...parameters: Type[]): Call | undefined {
    const types = parameters.map((each) => {
      if (each.startsWith('out')) return this.#koffi.out(TYPES[each]);
      return each.startsWith('inout') ? this.#koffi.inout(TYPES[each]) : TYPES[each];
    });
    try {
      return promisify(this.#library.func(name, 'int', types).async) as Call;
    } catch {
      return undefined;
    }
  }

  /** @throws Error if this version of the library has no such function */
  required(name: string, ...parameters: Type[]): Call {
    const call = this.optional(name, ...parameters);
    if (!call) throw new Error(`NVIDIA’s management library has no ${name}: update NVIDIA’s driver`);
    return call;
  }

  /** @returns NVML's text for a value of nvmlReturn_t */
  reason(code: number): string {
    try {
      return this.#library.func('nvmlErrorString', 'str', ['int'])(code) ?? `error ${code}`;
    } catch {
      return `error ${code}`;
    }
  }
}

const firstLine = (error: Error) => error.message.split('\n')[0];

/* Source of functions, constants and units: NVML API Reference Guide */

/**
 * Name or path of the library. On Windows it is a full path, because Windows would also look for a bare name in the
 * current folder.
 */
export const NVML_LIBRARY =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'nvml.dll')
    : 'libnvidia-ml.so.1';

/** NVML_SUCCESS of nvmlReturn_t. A function that returns another value gives no result. */
const SUCCESS = 0;
/** NVML_TEMPERATURE_GPU of nvmlTemperatureSensors_t: the temperature of the chip. */
const TEMPERATURE_GPU = 0;
/** NVML_CLOCK_SM of nvmlClockType_t: the clock of the cores. */
const CLOCK_SM = 1;
/** NVML_CLOCK_MEM of nvmlClockType_t: the clock of the memory. */
const CLOCK_MEM = 2;
/** NVML_FI_DEV_MEMORY_TEMP: the number of the field with the memory's temperature in °C. */
const FIELD_MEMORY_TEMPERATURE = 82;
/**
 * The length of nvmlFieldValue_t and the offsets of its fields, in bytes. The structure has 40 bytes: u32 fieldId, u32
 * scopeId, i64 timestamp, i64 latencyUsec, u32 valueType, u32 nvmlReturn, 8 bytes of value. It is little-endian on all
 * systems for which there are NVIDIA drivers.
 */
const FIELD_VALUE = { bytes: 40, type: 24, result: 28, value: 32 };
/** NVML_VALUE_TYPE_DOUBLE of nvmlValueType_t. All other types are integers. */
const VALUE_DOUBLE = 0;

/**
 * @param bus PCI address as Linux writes it; undefined for the only card
 * @param path name or path of the library, for the system's loader
 * @throws Error when there are no sensors. The message has the reason
 */
export async function openNvml(bus: string | undefined, path: string): Promise<Sensors> {
  const library = await NvmlLibrary.load(path);
  const shutdown = library.required('nvmlShutdown');
  const started = await library.required('nvmlInit_v2')();
  if (started !== SUCCESS) throw new Error(`NVIDIA’s management library does not start: ${library.reason(started)}`);
  try {
    const read = readerOf(library, await findDevice(library, bus));
    return { what: `NVIDIA’s management library (NVML), ${bus ?? 'the only card'}`, read };
  } catch (error) {
    void shutdown().catch(() => {});
    throw error;
  }
}

/**
 * @returns the nvmlDevice_t of the card
 * @throws Error when the card cannot be found or used. The message has the reason
 */
async function findDevice(library: NvmlLibrary, bus: string | undefined): Promise<unknown> {
  const device: unknown[] = [null];
  let found: number;
  if (bus !== undefined) {
    found = await library.required('nvmlDeviceGetHandleByPciBusId_v2', 'text', 'out handle')(bus, device);
  } else {
    const count = new Uint32Array(1);
    const counted = await library.required('nvmlDeviceGetCount_v2', 'out number')(count);
    if (counted !== SUCCESS)
      throw new Error(`NVIDIA’s management library cannot count the cards: ${library.reason(counted)}`);
    if (count[0] !== 1) throw new Error(whichCard(count[0], NAMES.nvidia));
    found = await library.required('nvmlDeviceGetHandleByIndex_v2', 'number', 'out handle')(0, device);
  }
  if (found === SUCCESS) return device[0];
  const card = bus === undefined ? 'the only card' : `the card at ${bus}`;
  throw new Error(`NVIDIA’s management library gives no access to ${card}: ${library.reason(found)}`);
}

function readerOf(library: NvmlLibrary, device: unknown): Sensors['read'] {
  const temperature = library.optional('nvmlDeviceGetTemperature', 'handle', 'number', 'out number');
  const power = library.optional('nvmlDeviceGetPowerUsage', 'handle', 'out number');
  const powerLimit = library.optional('nvmlDeviceGetEnforcedPowerLimit', 'handle', 'out number');
  const fan = library.optional('nvmlDeviceGetFanSpeed', 'handle', 'out number');
  const clock = library.optional('nvmlDeviceGetClockInfo', 'handle', 'number', 'out number');
  const fields = library.optional('nvmlDeviceGetFieldValues', 'handle', 'number', 'inout bytes');

  async function number(call: Call | undefined, ...args: unknown[]): Promise<number | undefined> {
    const value = new Uint32Array(1);
    return (await call?.(device, ...args, value)) === SUCCESS ? value[0] : undefined;
  }
  async function memoryTemperature(): Promise<number | undefined> {
    const field = Buffer.alloc(FIELD_VALUE.bytes);
    field.writeUInt32LE(FIELD_MEMORY_TEMPERATURE);
    if ((await fields?.(device, 1, field)) !== SUCCESS) return undefined;
    if (field.readUInt32LE(FIELD_VALUE.result) !== SUCCESS) return undefined;
    // A temperature fits into the first 4 bytes of every integer type.
    return field.readUInt32LE(FIELD_VALUE.type) === VALUE_DOUBLE ? undefined : field.readUInt32LE(FIELD_VALUE.value);
  }
  return async () => {
    // Only one call runs at a time. So a driver that hangs blocks only one of libuv's few threads.
    const temperatureCelsius = await number(temperature, TEMPERATURE_GPU);
    const memoryCelsius = await memoryTemperature();
    const powerMilliwatts = await number(power);
    const powerLimitMilliwatts = await number(powerLimit);
    const fanPercent = await number(fan);
    const coreMegahertz = await number(clock, CLOCK_SM);
    const memoryMegahertz = await number(clock, CLOCK_MEM);
    return plausible({
      temperatureCelsius,
      memoryCelsius,
      powerWatts: dividedBy(1000, powerMilliwatts),
      powerLimitWatts: dividedBy(1000, powerLimitMilliwatts),
      fanRatio: dividedBy(100, fanPercent),
      coreHertz: hertz(coreMegahertz),
      memoryHertz: hertz(memoryMegahertz),
    });
  };
}

const dividedBy = (divisor: number, value: number | undefined) => (value === undefined ? undefined : value / divisor);
const hertz = (megahertz: number | undefined) => (megahertz === undefined ? undefined : megahertz * 1e6);
