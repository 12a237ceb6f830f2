/** NVIDIA's sensors with a pretended koffi, whose library has the functions that a test gives it. */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import { openNvml } from '#pickaxe/miner/engine/gpu/nvml.js';

type Native = (...args: never[]) => number | string | null;

const pretended = vi.hoisted(() => ({
  fault: undefined as Error | undefined,
  loaded: [] as string[],
  functions: {} as Record<string, Native>,
  /** The C types with which each function was declared. */
  types: {} as Record<string, readonly string[]>,
}));

vi.mock('koffi', () => ({
  out: (type: string) => `out ${type}`,
  inout: (type: string) => `inout ${type}`,
  load: (path: string) => {
    if (pretended.fault) throw pretended.fault;
    pretended.loaded.push(path);
    const func = (name: string, result: string, types: readonly string[]) => {
      const native = pretended.functions[name];
      if (!native) throw new Error(`no function ${name}`);
      pretended.types[name] = [result, ...types];
      const callNow = (...args: unknown[]) => native(...(args as never[]));
      const async = (...all: unknown[]) => {
        const done = all.pop() as (error: unknown, result?: unknown) => void;
        try {
          done(null, callNow(...all));
        } catch (error) {
          done(error);
        }
      };
      return Object.assign(callNow, { async });
    };
    return { func };
  },
}));

const CARD = 'the handle of the card';
const BUS = '0000:65:00.0';
const SUCCESS = 0;
const UNSUPPORTED = 3;

/** A function that writes a number to its last argument, if the other ones are as they should be. */
const gives =
  (value: number, ...expected: readonly unknown[]): Native =>
  (...args: unknown[]) => {
    const out = args.pop() as Uint32Array;
    if (JSON.stringify(args) !== JSON.stringify(expected)) return UNSUPPORTED;
    out[0] = value;
    return SUCCESS;
  };

const givesCard =
  (expected: unknown): Native =>
  (wanted: unknown, out: unknown[]) => {
    if (wanted !== expected) return 6;
    out[0] = CARD;
    return SUCCESS;
  };

/** The field of the memory's temperature, as NVML fills it in: its type, result and value. */
const fieldOf =
  (type: number, result: number, value: number): Native =>
  (card: string, count: number, field: Buffer) => {
    if (card !== CARD || count !== 1 || field.length !== 40 || field.readUInt32LE(0) !== 82) return UNSUPPORTED;
    field.writeUInt32LE(type, 24);
    field.writeUInt32LE(result, 28);
    field.writeUInt32LE(value, 32);
    return SUCCESS;
  };

const clocks: Native = (card: string, which: number, out: Uint32Array) => {
  const megahertz = card === CARD ? [undefined, 1980, 3201][which] : undefined;
  if (megahertz === undefined) return UNSUPPORTED;
  out[0] = megahertz;
  return SUCCESS;
};

const shutdown = vi.fn<() => number>(() => SUCCESS);

const WHOLE: Readonly<Record<string, Native>> = {
  nvmlInit_v2: () => SUCCESS,
  nvmlShutdown: shutdown,
  nvmlErrorString: (code: number) => `reason ${code}`,
  nvmlDeviceGetCount_v2: gives(1),
  nvmlDeviceGetHandleByIndex_v2: givesCard(0),
  nvmlDeviceGetHandleByPciBusId_v2: givesCard(BUS),
  nvmlDeviceGetTemperature: gives(61, CARD, 0),
  nvmlDeviceGetPowerUsage: gives(287_654, CARD),
  nvmlDeviceGetEnforcedPowerLimit: gives(350_000, CARD),
  nvmlDeviceGetFanSpeed: gives(43, CARD),
  nvmlDeviceGetClockInfo: clocks,
  nvmlDeviceGetFieldValues: fieldOf(1, SUCCESS, 72),
};

const READINGS = {
  temperatureCelsius: 61,
  memoryCelsius: 72,
  powerWatts: 287.654,
  powerLimitWatts: 350,
  fanRatio: 0.43,
  coreHertz: 1980e6,
  memoryHertz: 3201e6,
};

beforeEach(() => {
  vi.clearAllMocks();
  Object.assign(pretended, { fault: undefined, loaded: [], functions: { ...WHOLE }, types: {} });
});

describe('NVIDIA’s library', () => {
  test.each([
    [BUS, BUS],
    [undefined, 'the only card'],
  ])('gives all readings of the card at %s', async (bus, shown) => {
    const { what, read } = await openNvml(bus, 'a path');
    expect([pretended.loaded, what]).toEqual([['a path'], `NVIDIA’s management library (NVML), ${shown}`]);
    expect(await read()).toEqual(READINGS);
    expect(shutdown).not.toHaveBeenCalled();
  });

  test('is called with the types of its header file', async () => {
    await openNvml(BUS, 'a path');
    await openNvml(undefined, 'a path');
    const outNumber = 'out unsigned int *';
    expect(pretended.types).toEqual({
      nvmlInit_v2: ['int'],
      nvmlShutdown: ['int'],
      nvmlDeviceGetCount_v2: ['int', outNumber],
      nvmlDeviceGetHandleByIndex_v2: ['int', 'unsigned int', 'out void **'],
      nvmlDeviceGetHandleByPciBusId_v2: ['int', 'str', 'out void **'],
      nvmlDeviceGetTemperature: ['int', 'void *', 'unsigned int', outNumber],
      nvmlDeviceGetPowerUsage: ['int', 'void *', outNumber],
      nvmlDeviceGetEnforcedPowerLimit: ['int', 'void *', outNumber],
      nvmlDeviceGetFanSpeed: ['int', 'void *', outNumber],
      nvmlDeviceGetClockInfo: ['int', 'void *', 'unsigned int', outNumber],
      nvmlDeviceGetFieldValues: ['int', 'void *', 'unsigned int', 'inout uint8_t *'],
    });
  });

  test.each([
    ['nvmlDeviceGetTemperature', ['temperatureCelsius']],
    ['nvmlDeviceGetPowerUsage', ['powerWatts']],
    ['nvmlDeviceGetEnforcedPowerLimit', ['powerLimitWatts']],
    ['nvmlDeviceGetFanSpeed', ['fanRatio']],
    ['nvmlDeviceGetClockInfo', ['coreHertz', 'memoryHertz']],
    ['nvmlDeviceGetFieldValues', ['memoryCelsius']],
  ])('without %s, or if it fails, lacks only %j', async (name, missing) => {
    const kept = Object.fromEntries(Object.entries(READINGS).filter(([field]) => !missing.includes(field)));
    delete pretended.functions[name];
    expect(await (await openNvml(BUS, 'a path')).read()).toEqual(kept);
    pretended.functions[name] = () => UNSUPPORTED;
    expect(await (await openNvml(BUS, 'a path')).read()).toEqual(kept);
  });

  test.each<[string, [number, number, number], number | undefined]>([
    ['an integer of another size', [3, SUCCESS, 70], 70],
    ['no integer', [0, SUCCESS, 70], undefined],
    ['nothing, because the card has no such sensor', [1, UNSUPPORTED, 70], undefined],
  ])('whose field of the memory’s temperature has %s', async (_, field, celsius) => {
    pretended.functions.nvmlDeviceGetFieldValues = fieldOf(...field);
    expect((await (await openNvml(BUS, 'a path')).read()).memoryCelsius).toBe(celsius);
  });

  test.each<[string, string | undefined, Record<string, Native | undefined>, string, number]>([
    ['does not start', BUS, { nvmlInit_v2: () => 9 }, 'NVIDIA’s management library does not start: reason 9', 0],
    [
      'does not start, and has no text for the reason',
      BUS,
      { nvmlInit_v2: () => 9, nvmlErrorString: () => null },
      'NVIDIA’s management library does not start: error 9',
      0,
    ],
    [
      'does not start, and has no function for the reason',
      BUS,
      { nvmlInit_v2: () => 9, nvmlErrorString: undefined },
      'NVIDIA’s management library does not start: error 9',
      0,
    ],
    [
      'has no card at the address',
      '0000:66:00.0',
      {},
      'NVIDIA’s management library gives no access to the card at 0000:66:00.0: reason 6',
      1,
    ],
    [
      'gives no access to the only card',
      undefined,
      { nvmlDeviceGetHandleByIndex_v2: () => 4 },
      'NVIDIA’s management library gives no access to the only card: reason 4',
      1,
    ],
    [
      'cannot count',
      undefined,
      { nvmlDeviceGetCount_v2: () => 999 },
      'NVIDIA’s management library cannot count the cards: reason 999',
      1,
    ],
    ['has no card', undefined, { nvmlDeviceGetCount_v2: gives(0) }, 'the system lists no card of NVIDIA', 1],
    [
      'has two cards',
      undefined,
      { nvmlDeviceGetCount_v2: gives(2) },
      'there are 2 cards of NVIDIA, and no PCI address says which of them this is',
      1,
    ],
    [
      'is too old',
      BUS,
      { nvmlDeviceGetHandleByPciBusId_v2: undefined },
      'NVIDIA’s management library has no nvmlDeviceGetHandleByPciBusId_v2: update NVIDIA’s driver',
      1,
    ],
  ])('that %s is a fault, and is shut down if it was started', async (_, bus, change, message, shutdowns) => {
    Object.assign(pretended.functions, change);
    // That it fails to shut down changes nothing.
    shutdown.mockImplementation(() => {
      throw new Error('no');
    });
    await expect(openNvml(bus, 'a path')).rejects.toThrow(new Error(message));
    expect(shutdown).toHaveBeenCalledTimes(shutdowns);
  });

  test('that does not load is a fault with the first line of the reason', async () => {
    pretended.fault = new Error('cannot open x.so\nTried:\n- x.so');
    await expect(openNvml(BUS, 'x.so')).rejects.toThrow(
      'NVIDIA’s management library does not load (cannot open x.so): it comes with NVIDIA’s driver',
    );
  });
});
