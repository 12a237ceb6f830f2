/** Settings: what mines, and how. */

import { cpuCores, cpuList, devices, kernelName, threadCount } from '../setting-types/devices.ts';
import { celsius, celsiusOrNone, niceness } from '../setting-types/numbers.ts';
import { gpuBatch, gpuLimit, gpuResume, USUAL_GPU_LIMIT } from '../setting-types/per-gpu.ts';
import { toggle } from '../setting-types/setting-type.ts';
import type { Table } from '../settings-table.ts';

export const DEVICES = {
  devices: {
    about: 'What mines, and how hot it may get.',
    heading: 'Devices',
    settings: {
      use: {
        type: devices,
        about:
          'devices to use, like cpu,gpu0 (0,1 is gpu0,gpu1); all is the CPU and every real GPU; with none, only other programs and miners hash',
        default: 'all',
        flag: '--devices <list>',
        inHelp: 'first',
        short: '-d',
      },
      tempLimit: {
        type: gpuLimit,
        about:
          'pause a GPU that reaches this many °C, where its temperature is known; none turns this off; gpu0=80 is for one GPU, repeat for several',
        default: USUAL_GPU_LIMIT,
        flag: '--temp-limit <celsius>',
        inHelp: 'first',
        live: true,
      },
      tempResume: {
        type: gpuResume,
        about: 'resume such a GPU when it has cooled down to this many °C; gpu0=70 is for one GPU',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--temp-resume <celsius>',
        live: true,
      },
      cpuTempLimit: {
        type: celsiusOrNone,
        about: 'pause the CPU when it reaches this many °C, where its temperature is known; none turns this off',
        // Chips keep themselves at 95 °C (Ryzen) or 100 °C (most of Intel's) by lowering their clock, some all day long.
        default: 105,
        flag: '--cpu-temp-limit <celsius>',
        live: true,
      },
      cpuTempResume: {
        type: celsius,
        about: 'resume the CPU when it has cooled down to this many °C',
        otherwise: '10 below the limit',
        example: 80,
        flag: '--cpu-temp-resume <celsius>',
        live: true,
      },
    },
  },
  cpu: {
    about: 'How the CPU mines.',
    heading: 'Devices',
    settings: {
      threads: {
        type: threadCount,
        about:
          'CPU threads, or a part of the hardware threads, like 50%; they run at the lowest priority unless --cpu-priority says otherwise',
        otherwise: 'all hardware threads, or all but one where there are more than two',
        example: 4,
        flag: '--threads <n>',
        inHelp: 'first',
        short: '-t',
      },
      cores: {
        type: cpuCores,
        about:
          'cores of a hybrid chip that mine: performance, efficiency, or all; where all are alike, performance is all',
        default: 'all',
        flag: '--cpu-cores <kind>',
      },
      priority: {
        type: niceness,
        about: 'niceness of the CPU threads, from 0 (normal) to 19 (all other programs go first)',
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
    heading: 'Devices',
    settings: {
      batchMs: {
        type: gpuBatch,
        about:
          'length of a GPU dispatch in ms: a longer one costs less, a shorter one switches jobs sooner; gpu0=30 is for one GPU',
        otherwise: 'as tuned',
        example: 30,
        flag: '--gpu-batch-ms <ms>',
      },
      software: {
        type: toggle,
        about: 'also use software GPU adapters, which are slower than mining on the CPU',
        default: false,
        flag: '--software-gpu',
      },
    },
  },
} as const satisfies Table;
