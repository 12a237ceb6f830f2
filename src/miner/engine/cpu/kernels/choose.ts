/**
 * Chooses the kernel for each kind of cores: the fastest one that runs here and gives right answers. In tests beside
 * two busy processes, 20 of 20 choices were within 2 % of the best kernel, in each of three sets of kernels.
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
  /** For people: the reason for the choice, and where the kernel comes from. */
  readonly why: string;
  /** For people: `why`, the speeds of the other kernels, and why some cannot be used. */
  readonly detail: string;
}

/** @throws DeviceError when the kernel asked for cannot be used. */
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
   * All threads that hash together. The kernel that is fastest on one thread need not be the fastest on many threads.
   */
  readonly groups: readonly CoreGroup[];
  /** Folder for the speeds. Without a folder they are measured at each call. */
  readonly cacheDirectory?: string | undefined;
  /**
   * Whether to skip the measurement. Without remembered speeds, the kernel that is usually the fastest is then chosen.
   */
  readonly hurried?: boolean;
  /** Ends a measurement, which then throws the signal's reason and remembers nothing. */
  readonly stop?: AbortSignal | undefined;
}

/**
 * @returns a choice for each group
 * @throws DeviceError when no kernel can be used.
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

/** @throws DeviceError when no kernel runs here and gives right answers */
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

/** @param when the time of the measurement: a clause */
function choiceOf(survey: Omit<Survey, 'threads'>, name: KernelName, when = ''): KernelChoice {
  const { speeds, unusable, notRemembered } = survey;
  const measured = ranked(speeds);
  const rates = shortList(measured.map(([name, speed]) => `${name} ${(speed / 1e6).toFixed(1)}`));
  const [why, detail] =
    measured.length > 0
      ? [`the fastest of ${measured.length} here${when}`, `the fastest here (MH/s per thread: ${rates})${when}`]
      : ['usually the fastest, not measured', 'usually the fastest, not measured'];
  // Mining without native kernels is two to six times slower, so the short text also has the reasons why native kernels
  // are not used.
  const slow = isNative(name) ? [] : reasons(unusable);
  const forgotten = notRemembered === undefined ? [] : [`not remembered: ${notRemembered}`];
  return {
    name,
    why: [why, ...origin(name), ...slow].join('; '),
    detail: [detail, ...origin(name), ...reasons(unusable), ...forgotten].join('; '),
  };
}

/** The kernels on one kind of cores. */
export interface Survey {
  readonly kind?: CoreKind;
  readonly threads: number;
  readonly speeds: Speeds;
  /** Absent when no kernel can be used. */
  readonly fastest?: KernelName;
  /** Why each of the other kernels cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
  /** Why these speeds could not be remembered. */
  readonly notRemembered?: string;
}

/**
 * Loads and checks every kernel, and measures their speeds unless they are remembered.
 * @param again whether to measure even if speeds are remembered
 * @returns a survey for each group
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

/** @returns the remembered tuning of each group; undefined when any tuning is missing */
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

/** @returns `built here` for a native kernel, as a list of at most one clause */
function origin(name: KernelName): string[] {
  return isNative(name) ? [`${nativeOrigin()}`.replace('-', ' ')] : [];
}

/** @returns a clause for each reason, with its kernels, without the kernels for other chips */
function reasons(unusable: Loaded['unusable']): string[] {
  const names = new Map<string, KernelName[]>();
  for (const [name, reason] of unusable) names.set(reason, [...(names.get(reason) ?? []), name]);
  names.delete(FOREIGN);
  return Array.from(names, ([reason, names]) => `${shortList(names)}: ${reason}`);
}

/** @returns at most three names, since lines for people must be short */
function shortList(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
}

/* The remembered speeds, so that only the first start on a machine measures */

/** Version of the meaning of the remembered values. Values of other versions are not found. */
const FORMAT_VERSION = 2;

const kernelName = z.enum(KERNEL_NAMES);

const SHAPE = z
  .object({
    /** H/s of one thread. */
    speeds: z.partialRecord(kernelName, z.number().positive()),
    fastest: kernelName,
  })
  .refine(({ speeds, fastest }) => speeds[fastest] !== undefined);
export type Tuning = Readonly<z.infer<typeof SHAPE>>;

/** @param groups all groups that hash together @param index index of the group whose tuning is returned */
export function recallTuning(cache: Cache, groups: readonly CoreGroup[], index: number): Tuning | undefined {
  return cache.recall(subject(groups, index), key(), SHAPE);
}

/** @returns why remembering has failed; undefined when it has not */
export function rememberTuning(
  cache: Cache,
  groups: readonly CoreGroup[],
  index: number,
  tuning: Tuning,
): string | undefined {
  return cache.remember(subject(groups, index), key(), tuning);
}

/** @returns `cpu MODEL, 2 threads`, or `cpu MODEL, efficiency of 15 performance and 16 efficiency threads` */
function subject(groups: readonly CoreGroup[], index: number): string {
  const { kind } = groups[index];
  const counts = groups
    .map(({ kind, places }) => `${places.length}${kind === undefined ? '' : ` ${kind}`}`)
    .join(' and ');
  const of = kind === undefined ? '' : `${kind} of `;
  const single = groups.length === 1 && groups[0].places.length === 1;
  return `cpu ${cpus()[0]?.model.trim() || arch()}, ${of}${counts} ${single ? 'thread' : 'threads'}`;
}

/** Everything that could change the speeds: the chip, the builds of the kernels, and the compiler of WebAssembly. */
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

/** The lines of /proc/cpuinfo that identify the chip. In a virtual machine, the chip's name may not be enough. */
const CHIP_LINES = /^(vendor_id|cpu family|model|stepping|flags|CPU (implementer|variant|part|revision)|Features)\s*:/;

/** @returns a key for the kind of chip; without /proc/cpuinfo, only Node.js's name of the architecture */
export function chip(cpuinfo = '/proc/cpuinfo'): string {
  try {
    const [first] = readFileSync(cpuinfo, 'utf8').split('\n\n');
    const lines = first.split('\n').filter((line) => CHIP_LINES.test(line));
    return `${arch()} ${digest(lines.join('\n'))}`;
  } catch {
    return arch();
  }
}
