/** Types of settings about devices, kernels and CPUs. */

import { KERNEL_NAMES } from '../../engine/cpu/kernel-names.ts';
import { CORE_KINDS } from '../../engine/device.ts';
import { formatCpuList, MAX_CPUS, parseCpuList } from '../../text/cpu-list.ts';
import { integer } from './numbers.ts';
import { choice, list, parsed, type SettingType } from './setting-type.ts';

const DEVICE = /^(?:all|none|cpu|gpu|(?:gpu)?\d{1,3})$/;

/** `cpu`, `gpu0` …, `gpu` for every GPU, `all` or `none`. `0` is short for `gpu0`. */
const deviceName = parsed({
  says: 'Name devices like cpu,gpu0,gpu1 (gpu means all of them), or all, or none. See: pickaxe devices',
  pattern: DEVICE,
  parse: (text) => (DEVICE.test(text) ? text.replace(/^(?=\d)/, 'gpu') : undefined),
});

const deviceNames = list(deviceName);

/** `all` stands for the CPU and every real GPU of the machine; no device, written `none`, for a rig that only serves others. */
export const devices: SettingType<readonly string[] | 'all'> = {
  form: deviceNames.form,
  says: deviceNames.says,
  schema: (z) =>
    deviceNames
      .schema(z)
      .refine((names) => names.length === 1 || !names.includes('none'))
      .transform((names) => (names.includes('all') ? 'all' : names.filter((name) => name !== 'none'))),
  print: (names) => (names.length === 0 ? 'none' : names),
};

/** CPU threads: a number of them, or a part of the hardware threads that this process may use. */
export type ThreadCount = number | `${number}%`;

const threads = integer(1, 1024);
const PERCENT = /^(?:100|[1-9]\d?)%$/;

export const threadCount: SettingType<ThreadCount> = {
  form: 'number',
  says: 'Give a whole number from 1 to 1024, or a part of the hardware threads from 1% to 100%.',
  schema: (z) =>
    z.union([
      threads.schema(z),
      z
        .string()
        .regex(PERCENT)
        .transform((part) => part as `${number}%`),
    ]),
};

export const kernelName = choice(...KERNEL_NAMES);

export const cpuCores = choice(...CORE_KINDS, 'all');

/** CPU numbers, as Linux writes lists of them. */
export const cpuList = parsed<readonly number[] | 'none'>({
  says: `Name CPUs like 0,2-5, each below ${MAX_CPUS}, or none.`,
  pattern: /^(none|\d+(-\d+)?(,\d+(-\d+)?)*)$/,
  parse: (text) => {
    if (/^0x/i.test(text)) throw new RangeError('masks are not read here');
    return text === 'none' ? text : parseCpuList(text);
  },
  print: (cpus) => (cpus === 'none' ? cpus : formatCpuList(cpus)),
});
