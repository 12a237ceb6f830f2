/** Which kernel mines: the fastest one that runs here and answers right. */

import { availableParallelism } from 'node:os';
import { Cache } from '../../../system/cache.ts';
import { DeviceError } from '../../engine.ts';
import { Companions } from './companions.ts';
import { KERNEL_NAMES, type Kernel, type KernelName } from './kernel.ts';
import { type Loaded, loadKernel, loadKernels } from './load.ts';
import { FOREIGN, isNative, nativeOrigin } from './native.ts';
import { fastestOf, measureSpeeds, type Speeds } from './speed.ts';
import { recallSpeeds, rememberSpeeds } from './tuning.ts';

export interface KernelChoice {
  readonly name: KernelName;
  /** For people: why this one, how fast the others are, and why some cannot be used. */
  readonly why: string;
}

/** @throws DeviceError when the kernel asked for cannot be used. */
export function forceKernel(name: KernelName): KernelChoice {
  try {
    return { name: loadKernel(name).name, why: ['asked for', ...origin(name)].join('; ') };
  } catch (error) {
    const { fault, message } = error as DeviceError;
    throw new DeviceError(fault, `CPU kernel ${name}: ${message}; leave the choice of a kernel to pickaxe`);
  }
}

export interface Circumstances {
  /** How many threads hash: the fastest kernel of one need not be that of many. */
  readonly threads: number;
  /** Where speeds are remembered; left out, they are measured. */
  readonly cacheDirectory?: string | undefined;
  /** Ends a measurement: it throws the signal's reason, and remembers nothing. */
  readonly stop?: AbortSignal | undefined;
}

/** @throws DeviceError when no kernel can be used. */
export async function chooseKernel(circumstances: Circumstances): Promise<KernelChoice> {
  const { threads, cacheDirectory } = circumstances;
  const recalled = cacheDirectory === undefined ? undefined : recallSpeeds(new Cache(cacheDirectory), threads);
  const remembered = recalled && fastestOf(recalled);
  if (remembered && loadKernels([remembered]).kernels.length > 0) {
    const { unusable } = loadKernels(KERNEL_NAMES.filter((name) => recalled[name] === undefined));
    return {
      name: remembered,
      why: [`${theFastest(recalled)}, as measured before`, ...origin(remembered), ...reasons(unusable)].join('; '),
    };
  }
  const { speeds, unusable, notRemembered } = await surveyKernels(circumstances, true);
  const name = fastestOf(speeds);
  if (!name) throw new DeviceError('wrong hashes', `no CPU kernel can be used (${reasons(unusable).join('; ')})`);
  const forgotten = notRemembered === undefined ? [] : [`measured at each start: ${notRemembered}`];
  return { name, why: [theFastest(speeds), ...origin(name), ...reasons(unusable), ...forgotten].join('; ') };
}

export interface Survey {
  /** Of every kernel that can be used here. */
  readonly speeds: Speeds;
  /** Why each of the others cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
  /** Why these speeds will not be known at the next start. */
  readonly notRemembered?: string;
}

/**
 * Loads and checks every kernel, and tells how fast each is.
 * @param again measures them whatever is remembered
 */
export async function surveyKernels(circumstances: Circumstances, again = false): Promise<Survey> {
  const { threads, cacheDirectory } = circumstances;
  const { kernels, unusable } = loadKernels(KERNEL_NAMES);
  const cache = cacheDirectory === undefined ? undefined : new Cache(cacheDirectory);
  const recalled = cache && !again ? recallSpeeds(cache, threads) : undefined;
  if (recalled && kernels.every(({ name }) => recalled[name] !== undefined)) {
    return { speeds: Object.fromEntries(kernels.map(({ name }) => [name, recalled[name]])), unusable };
  }
  if (kernels.length === 0) return { speeds: {}, unusable };
  const speeds = await measureAmongCompanions(kernels, circumstances);
  const notRemembered = cache ? rememberSpeeds(cache, threads, speeds) : 'there is no cache directory';
  return { speeds, unusable, ...(notRemembered !== undefined && { notRemembered }) };
}

async function measureAmongCompanions(kernels: readonly Kernel[], { threads, stop }: Circumstances): Promise<Speeds> {
  // More than the machine runs at a time would only wait.
  const busy = Math.min(threads, availableParallelism());
  const companions = new Companions(kernels.map(({ name }) => name));
  try {
    await companions.start(busy - 1, stop);
    return await measureSpeeds(kernels, { company: companions, stop });
  } finally {
    await companions.stop();
  }
}

function theFastest(speeds: Speeds): string {
  const ranked = Object.entries(speeds).sort(([, a], [, b]) => b - a);
  return `the fastest here (MH/s a thread: ${shortList(ranked.map(([name, speed]) => `${name} ${(speed / 1e6).toFixed(1)}`))})`;
}

/** Where a native kernel comes from: whoever wonders about a rate wants to know. */
function origin(name: KernelName): string[] {
  return isNative(name) ? [`${nativeOrigin()}`] : [];
}

/** Kernels that share a reason are named together; that there are other chips is no news. */
function reasons(unusable: Loaded['unusable']): string[] {
  const names = new Map<string, KernelName[]>();
  for (const [name, reason] of unusable) names.set(reason, [...(names.get(reason) ?? []), name]);
  names.delete(FOREIGN);
  return Array.from(names, ([reason, names]) => `${shortList(names)}: ${reason}`);
}

/** The first few, since a line for people has an end. */
function shortList(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
}
