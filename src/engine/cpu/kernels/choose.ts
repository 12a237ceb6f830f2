/** Chooses the kernel: the fastest one that runs here and gives right answers. */

import { availableParallelism } from 'node:os';
import { Cache } from '../../../system/cache.ts';
import { DeviceError } from '../../engine.ts';
import { KERNEL_NAMES, type KernelName } from '../kernel-names.ts';
import type { Kernel } from './kernel.ts';
import { type Loaded, loadKernel, loadKernels } from './load-kernel.ts';
import { LoadThreads } from './load-threads.ts';
import { FOREIGN, isNative, nativeOrigin } from './native.ts';
import { fastestOf, measureSpeeds, type Speeds } from './speed.ts';
import { recallSpeeds, rememberSpeeds } from './tuning.ts';

interface KernelChoice {
  readonly name: KernelName;
  /** For people: why this kernel was chosen, and where it comes from. */
  readonly why: string;
  /** For people: `why`, with the speeds of the other kernels and the reasons why some cannot be used. */
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
  /** How many threads hash. It matters because the kernel that is fastest on one thread need not be the fastest on many. */
  readonly threads: number;
  /** Where speeds are remembered. Without it they are measured at each call. */
  readonly cacheDirectory?: string | undefined;
  /** Ends a measurement, which then throws the signal's reason and remembers nothing. */
  readonly stop?: AbortSignal | undefined;
}

/** @throws DeviceError when no kernel can be used. */
export async function chooseKernel(circumstances: Circumstances): Promise<KernelChoice> {
  const { threads, cacheDirectory } = circumstances;
  const recalled = cacheDirectory === undefined ? undefined : recallSpeeds(new Cache(cacheDirectory), threads);
  const remembered = recalled && fastestOf(recalled);
  if (remembered && loadKernels([remembered]).kernels.length > 0) {
    const { unusable } = loadKernels(KERNEL_NAMES.filter((name) => recalled[name] === undefined));
    return choiceOf(remembered, { speeds: recalled, unusable }, ', as measured before');
  }
  const survey = await surveyKernels(circumstances, true);
  const name = fastestOf(survey.speeds);
  if (!name)
    throw new DeviceError('wrong-hashes', `no CPU kernel can be used (${reasons(survey.unusable).join('; ')})`);
  return choiceOf(name, survey);
}

/** @param when a clause about the time of the measurement */
function choiceOf(name: KernelName, { speeds, unusable, notRemembered }: Survey, when = ''): KernelChoice {
  const ranked = Object.entries(speeds).sort(([, a], [, b]) => b - a);
  const rates = shortList(ranked.map(([name, speed]) => `${name} ${(speed / 1e6).toFixed(1)}`));
  const forgotten = notRemembered === undefined ? [] : [`measured at each start: ${notRemembered}`];
  // Without the native kernels mining is two to six times slower, so the short text says why they are not used.
  const slow = isNative(name) ? [] : reasons(unusable);
  return {
    name,
    why: [`the fastest of ${ranked.length} here${when}`, ...origin(name), ...slow].join('; '),
    detail: [
      `the fastest here (MH/s per thread: ${rates})${when}`,
      ...origin(name),
      ...reasons(unusable),
      ...forgotten,
    ].join('; '),
  };
}

export interface Survey {
  /** The speeds of all kernels that can be used here. */
  readonly speeds: Speeds;
  /** Why each of the other kernels cannot be used. */
  readonly unusable: ReadonlyMap<KernelName, string>;
  /** Why the speeds could not be remembered for the next start. */
  readonly notRemembered?: string;
}

/**
 * Loads and checks every kernel, and measures their speeds unless they are remembered.
 * @param again measures even when the speeds are remembered
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
  const speeds = await measureUnderLoad(kernels, circumstances);
  const notRemembered = cache ? rememberSpeeds(cache, threads, speeds) : 'there is no cache directory';
  return { speeds, unusable, ...(notRemembered !== undefined && { notRemembered }) };
}

async function measureUnderLoad(kernels: readonly Kernel[], { threads, stop }: Circumstances): Promise<Speeds> {
  // Further threads would only wait for a processor.
  const busy = Math.min(threads, availableParallelism());
  const load = new LoadThreads(kernels.map(({ name }) => name));
  try {
    await load.start(busy - 1, stop);
    return await measureSpeeds(kernels, { load, stop });
  } finally {
    await load.stop();
  }
}

/** @returns where a native kernel comes from, in words (`built here`), as a list of at most one clause */
function origin(name: KernelName): string[] {
  return isNative(name) ? [`${nativeOrigin()}`.replace('-', ' ')] : [];
}

/** @returns one clause for each reason, with the kernels that it applies to. Kernels for other chips are not mentioned */
function reasons(unusable: Loaded['unusable']): string[] {
  const names = new Map<string, KernelName[]>();
  for (const [name, reason] of unusable) names.set(reason, [...(names.get(reason) ?? []), name]);
  names.delete(FOREIGN);
  return Array.from(names, ([reason, names]) => `${shortList(names)}: ${reason}`);
}

/** @returns the first three names, so that a line for people does not become too long */
function shortList(names: readonly string[]): string {
  return names.slice(0, 3).join(', ') + (names.length > 3 ? ' …' : '');
}
