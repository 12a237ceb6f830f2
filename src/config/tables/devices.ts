/** Settings: what mines, and how. */

import { cpuList, devices, kernelName } from '../setting-types/devices.ts';
import { batchSeconds, celsius, celsiusOrNone, integer, niceness } from '../setting-types/numbers.ts';
import { toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const DEVICES = {
  devices: {
    about: 'What mines, and how hot it may get.',
    settings: {
      use: {
        type: devices,
        about: 'devices to use, like cpu,gpu0,gpu1; all means the CPU and every real GPU',
        default: 'all',
        flag: '--devices <list>',
      },
      tempLimit: {
        type: celsiusOrNone,
        about: 'a device at this many °C rests, where its temperature is known; or none',
        default: 90,
        flag: '--temp-limit <celsius>',
        live: true,
      },
      tempResume: {
        type: celsius,
        about: 'a device that rests goes on at this many °C',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--temp-resume <celsius>',
        live: true,
      },
    },
  },
  cpu: {
    about: 'How the CPU mines.',
    settings: {
      threads: {
        type: integer(1, 1024),
        about: 'CPU threads',
        otherwise: 'one per hardware thread, and where there are more than two, one fewer',
        example: 4,
        flag: '--threads <n>',
      },
      priority: {
        type: niceness,
        about: 'niceness of the CPU threads, 0 to 19, Linux only',
        // It has no default: a sandbox that refuses 19 matters only to somebody who asked for it.
        otherwise: '19',
        example: 19,
        flag: '--cpu-priority <n>',
      },
      affinity: {
        type: cpuList,
        about: 'CPUs to pin CPU threads to, like 0,2-5, or none',
        otherwise: 'threads are pinned only if every CPU hashes',
        example: '0,2-5',
        flag: '--cpu-affinity <list>',
      },
      kernel: {
        type: kernelName,
        about: 'CPU kernel; pickaxe devices compares them',
        otherwise: 'the fastest here',
        example: 'wasm-simd',
        flag: '--kernel <name>',
      },
    },
  },
  gpu: {
    about: 'How GPUs mine.',
    settings: {
      batchMs: {
        type: batchSeconds,
        about: 'length of a GPU dispatch in ms: a longer one costs less, a shorter one switches jobs sooner',
        otherwise: 'as tuned',
        example: 30,
        flag: '--gpu-batch-ms <ms>',
      },
      software: {
        type: toggle,
        about: 'admit software GPU adapters, which are slower than the CPU engine',
        default: false,
        flag: '--software-gpu',
      },
    },
  },
} as const satisfies Table;
