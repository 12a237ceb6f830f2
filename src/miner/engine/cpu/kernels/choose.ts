/**
 * Chooses the kernel for each kind of cores: the fastest one that runs here and gives right answers. In tests, two
 * other processes kept the machine busy. In each of three sets of kernels, 20 of 20 choices were then within 2 % of the
 * best kernel.
 */

import { readFileSync } from 'node:fs';
import { arch, cpus } from 'node:os';
import { z } from 'zod';
import { Cache, digest, type Key } from '../../../../base/system/cache.ts';
import { type CoreKind, KERNEL_NAMES, type KernelName } from '../../device.ts';
import { DeviceError } from '../../engine.ts';
import type { CoreGroup } from '../threads.ts';
import { type Loaded, loadKernel, loadKernels } from './load-kernel.ts';
import { evaluate, measureKernels, type Speeds, type Turns } from './measure-kernels.ts';
import { FOREIGN, isNative, nativeBuild, nativeOrigin } from './native-kernels.ts';
import { wasmBuilds } from './wasm-kernels.ts';

export interface KernelChoice {
  readonly name: KernelName;
  /**
   * For people: the reason for the choice. For a native kernel, also where the addon comes from. For a WebAssembly
   * kernel that the user did not choose, also why other kernels cannot be used.
   */
  readonly why: string;
  /**
   * For people: the reason for the choice and, for a native kernel, where the addon comes from. Unless the user chose
   * the kernel, also the speeds of up to three measured kernels, why other kernels cannot be used, and why the speeds
   * are not remembered.
   */
  readonly detail: string;
}

/** @throws DeviceError when the kernel that the user asked for cannot be used */
export function forceKernel(name: KernelName): KernelChoice {
  try {
    loadKernel(name);
    const why = ['asked for', ...origin(name)].join('; ');
    return { name, why, detail: why };
  } catch (error) {
    const { fault, message } = error as DeviceError;
    throw new DeviceError(fault, `CPU kernel ${name}: ${message}; let pickaxe choose the kernel`);
  }
}

interface Circumstances {
  /**
   * The groups of all threads that hash together. The fastest kernel on one thread may not be the fastest one on many
   * threads.
   */
  readonly groups: readonly CoreGroup[];
  /** Folder in which the speeds are remembered. Without it, no speeds are remembered. */
  readonly cacheDirectory?: string | undefined;
  /**
   * Whether to skip the measurement. If no speeds are remembered, the kernel that is usually the fastest is then
   * chosen.
   */
  readonly hurried?: boolean;
  /** When this signal fires, a measurement ends, throws the signal's reason, and remembers nothing. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * @returns a choice for each group
 * @throws DeviceError when no kernel can be used; the reason of `stop` when it fires
 */
export async function chooseKernels(circumstances: Circumstances): Promise<KernelChoice[]> {
  const recalled = recallAll(circumstances);
  if (recalled && loadKernels(recalled.map(({ fastest }) => fastest)).unusable.size === 0) {
    return recalled.map((tuning) => {
      const { unusable } = loadKernels(KERNEL_NAMES.filter((name) => tuning.speeds[name] === undefined));
      return choiceOf({ ...tuning, unusable }, tuning.fastest, ', as measured before');
    });
  }
  if (circumstances.hurried) {
    const choice = usualChoice();
    return circumstances.groups.map(() => choice);
  }
  const surveys = await surveyKernels(circumstances, true);
  return surveys.map((survey) => {
    const { fastest, unusable } = survey;
    if (fastest) return choiceOf(survey, fastest);
    throw noKernel(unusable);
  });
}

/**
 * Chooses the first kernel of KERNEL_NAMES that can be used.
 * @throws DeviceError when no kernel runs here and gives right answers
 */
function usualChoice(): KernelChoice {
  const unusable = new Map<KernelName, string>();
  for (const name of KERNEL_NAMES) {
    const { kernels, unusable: faults } = loadKernels([name]);
    if (kernels.length > 0) return choiceOf({ speeds: {}, unusable }, name);
    unusable.set(name, faults.get(name) as string);
  }
  throw noKernel(unusable);
}

function noKernel(unusable: Loaded['unusable']): DeviceError {
  return new DeviceError('wrong-hashes', `no CPU kernel can be used (${reasons(unusable).join('; ')})`);
}

/** @param when a clause with the time of the measurement, such as `, as measured before` */
function choiceOf(survey: Omit<Survey, 'threads'>, name: KernelName, when = ''): KernelChoice {
  const { speeds, unusable, notRemembered } = survey;
  const measured = ranked(speeds);
  const rates = shortList(measured.map(([name, speed]) => `${name} ${(speed / 1e6).toFixed(1)}`));
  const [why, detail] =
    measured.length > 0
      ? [`the fastest of ${measured.length} here${when}`, `the fastest here (MH/s per thread: ${rates})${when}`]
      : ['usually the fastest, not measured', 'usually the fastest, not measured'];
  // Mining with WebAssembly is two to six times slower than with native kernels, so `why` then has the reasons why
  // native kernels are not used.
  const slow = isNative(name) ? [] : reasons(unusable);
  const forgotten = notRemembered === undefined ? [] : [`not remembered: ${notRemembered}`];
  return {
    name,
    why: [why, ...origin(name), ...slow].join('; '),
    detail: [detail, ...origin(name), ...reasons(unusable), ...forgotten].join('; '),
  };
}

/** The speeds of the kernels on one kind of cores, or on all cores if no kinds are distinguished. */
export interface Survey {
  readonly kind?: CoreKind;
  readonly threads: number;
  readonly speeds: Speeds;
  /** Absent when no kernel can be used. */
  readonly fastest?: KernelName;
  /** The reason for each kernel that cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
  /** Why these speeds could not be remembered; absent if they could. */
  readonly notRemembered?: string;
}

/**
 * Loads and checks every kernel. Measures the speeds of the kernels, unless they are remembered.
 * @param again whether to measure even if speeds are remembered
 * @returns a survey for each group
 * @throws the reason of `circumstances.stop` when it fires
 */
export async function surveyKernels(circumstances: Circumstances, again = false): Promise<Survey[]> {
  const { groups } = circumstances;
  const { kernels, unusable } = loadKernels(KERNEL_NAMES);
  const names = kernels.map(({ name }) => name);
  const recalled = again ? undefined : recallAll(circumstances);
  const isComplete = (speeds: Speeds) => names.every((name) => speeds[name] !== undefined);
  if (recalled?.every(({ speeds, fastest }) => isComplete(speeds) && names.includes(fastest))) {
    return recalled.map((tuning, i) => ({ ...of(groups[i]), ...tuning, speeds: only(names, tuning.speeds), unusable }));
  }
  if (names.length === 0) return groups.map((group) => ({ ...of(group), speeds: {}, unusable }));
  const turns = await measureKernels(names, groups, circumstances.stop);
  return groups.map((group, i) => ({ ...of(group), ...conclude(turns[i], circumstances, i), unusable }));
}

function conclude(turns: Turns, { groups, cacheDirectory }: Circumstances, index: number) {
  const { speeds, fastest, doubt } = evaluate(turns);
  if (fastest === undefined) {
    const [usually] = turns.keys();
    return { speeds, fastest: usually, notRemembered: 'no thread got the processor in time' };
  }
  const tuning: Tuning = { speeds, fastest };
  const notRemembered = doubt ?? rememberTuning(new Cache(cacheDirectory), groups, index, tuning);
  return { ...tuning, ...(notRemembered !== undefined && { notRemembered }) };
}

/** @returns the remembered tuning of each group; undefined when the tuning of any group is missing */
function recallAll({ groups, cacheDirectory }: Circumstances): Tuning[] | undefined {
  const cache = new Cache(cacheDirectory);
  const recalled = groups.flatMap((_, i) => recallTuning(cache, groups, i) ?? []);
  return recalled.length === groups.length ? recalled : undefined;
}

/** @returns the kernels with their speeds, fastest first */
function ranked(speeds: Speeds): [name: string, speed: number][] {
  return Object.entries(speeds).sort(([, a], [, b]) => b - a);
}

function of({ kind, places }: CoreGroup): Pick<Survey, 'kind' | 'threads'> {
  return { ...(kind !== undefined && { kind }), threads: places.length };
}

function only(names: readonly KernelName[], speeds: Speeds): Speeds {
  return Object.fromEntries(names.map((name) => [name, speeds[name]]));
}

/**
 * @returns the origin of a native kernel, `built here` or `prebuilt`, as the only element; an empty list for
 *   WebAssembly
 */
function origin(name: KernelName): string[] {
  return isNative(name) ? [`${nativeOrigin()}`.replace('-', ' ')] : [];
}

/**
 * @returns one clause for each reason, with the names of up to three kernels. Kernels for other architectures are left
 *   out
 */
function reasons(unusable: Loaded['unusable']): string[] {
  const names = new Map<string, KernelName[]>();
  for (const [name, reason] of unusable) names.set(reason, [...(names.get(reason) ?? []), name]);
  names.delete(FOREIGN);
  return Array.from(names, ([reason, names]) => `${shortList(names)}: ${reason}`);
}

/** @returns a text with up to three of the names, because lines for people must be short */
function shortList(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
}

/* The remembered speeds: because of them, pickaxe does not measure at every start */

/** Version of the format and the meaning of the remembered values. Values of another version are not used. */
const FORMAT_VERSION = 2;

const kernelName = z.enum(KERNEL_NAMES);

const SHAPE = z
  .object({
    /** Speeds of kernels in H/s, for one thread. */
    speeds: z.partialRecord(kernelName, z.number().positive()),
    fastest: kernelName,
  })
  .refine(({ speeds, fastest }) => speeds[fastest] !== undefined);
export type Tuning = Readonly<z.infer<typeof SHAPE>>;

/**
 * @param groups all groups that hash together @param index index of the group whose tuning is returned
 * @returns undefined when no tuning of this group is remembered
 */
export function recallTuning(cache: Cache, groups: readonly CoreGroup[], index: number): Tuning | undefined {
  return cache.recall(subject(groups, index), key(), SHAPE);
}

/** @returns why the tuning could not be remembered; undefined on success */
export function rememberTuning(
  cache: Cache,
  groups: readonly CoreGroup[],
  index: number,
  tuning: Tuning,
): string | undefined {
  return cache.remember(subject(groups, index), key(), tuning);
}

/**
 * @returns a text such as `cpu MODEL, 2 threads`, or `cpu MODEL, efficiency of 15 performance and 16 efficiency
 *   threads`
 */
function subject(groups: readonly CoreGroup[], index: number): string {
  const { kind } = groups[index];
  const counts = groups
    .map(({ kind, places }) => `${places.length}${kind === undefined ? '' : ` ${kind}`}`)
    .join(' and ');
  const of = kind === undefined ? '' : `${kind} of `;
  const single = groups.length === 1 && groups[0].places.length === 1;
  return `cpu ${cpus()[0]?.model.trim() || arch()}, ${of}${counts} ${single ? 'thread' : 'threads'}`;
}

/**
 * @returns everything that could change the speeds: the chip, the builds of the kernels, and the compiler of
 *   WebAssembly (V8). A change of the format changes the key, too
 */
function key(): Key {
  const native = nativeBuild();
  return {
    format: FORMAT_VERSION,
    chip: chip(),
    native: native ? digest(native) : 'none',
    wasm: digest(wasmBuilds().map(digest).join()),
    v8: process.versions.v8,
  };
}

/**
 * The lines of /proc/cpuinfo that identify the chip. In a virtual machine, the name of the chip may not identify it.
 */
const CHIP_LINES = /^(vendor_id|cpu family|model|stepping|flags|CPU (implementer|variant|part|revision)|Features)\s*:/;

/**
 * @returns a text that identifies the kind of chip. Without /proc/cpuinfo, it is only Node.js's name of the
 *   architecture
 */
export function chip(cpuinfo = '/proc/cpuinfo'): string {
  try {
    const [first] = readFileSync(cpuinfo, 'utf8').split('\n\n');
    const lines = first.split('\n').filter((line) => CHIP_LINES.test(line));
    return `${arch()} ${digest(lines.join('\n'))}`;
  } catch {
    return arch();
  }
}
