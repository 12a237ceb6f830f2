/** Makes engines from the settings. */

import type { Logger } from 'pino';
import { z } from 'zod';
import { userCacheDirectory } from '../../base/system/files.ts';
import { CpuEngine } from '../../miner/engine/cpu/cpu-engine.ts';
import { forceKernel, type Survey } from '../../miner/engine/cpu/kernels/choose.ts';
import { chooseThreads, type ThreadChoice, type ThreadOptions } from '../../miner/engine/cpu/threads.ts';
import { CORE_KINDS, type DeviceKind, KERNEL_NAMES, type KernelName } from '../../miner/engine/device.ts';
import { DeviceError, type Engine, MissingEngine } from '../../miner/engine/engine.ts';
import { GpuEngine } from '../../miner/engine/gpu/gpu-engine.ts';
import { type Gpu, listGpus } from '../../miner/engine/gpu/list-gpus.ts';
import { makerOf } from '../../miner/engine/gpu/pci.ts';
import type { TemperatureLimits } from '../../miner/loop/thermal-guard.ts';
import { formatPercent } from '../../rig/status/units.ts';
import { valueForGpu, valuesForGpus } from '../config/setting-types/basic.ts';
import type { Config } from '../config/settings.ts';
import { orUsageError, UsageError } from '../process/exit.ts';

export type DeviceSettings = Pick<Config, 'devices' | 'cpu' | 'gpu'>;

interface EngineOptions {
  /** Whether GPUs are measured even if their speeds are remembered. */
  readonly tuneAgain?: boolean;
  /** Whether a GPU without a remembered speed mines at once, and is measured while it mines. */
  readonly minesAtOnce?: boolean;
  /**
   * Whether to skip the measurement of CPU kernels and, if `minesAtOnce` is set, of GPUs. A device without remembered
   * speeds then uses the kernel that is usually the fastest.
   */
  readonly hurried?: boolean;
  /**
   * Whether `--devices none` is allowed. It is allowed if the rig has relays. Absent for commands that cannot have
   * relays: their error does not propose one.
   */
  readonly mayBeNone?: boolean;
}

/**
 * A device that was requested by name and is missing gets a MissingEngine. Opening that engine fails with the reason.
 * @throws UsageError when a setting of the CPU cannot be fulfilled on this machine, or for `--devices none` without
 *   `mayBeNone`
 */
export async function chooseEngines(
  settings: DeviceSettings,
  log: Logger,
  options: EngineOptions = {},
): Promise<Engine[]> {
  const engines = (await Promise.all(chooseInTurn(settings, log, options))).flat();
  warnOfUnusedGpus(settings, engines, log);
  return engines;
}

/** Warns of settings for a GPU that does not mine. Such settings have no effect, and their GPU's name may be wrong. */
function warnOfUnusedGpus({ devices, gpu }: DeviceSettings, engines: readonly Engine[], log: Logger): void {
  const settings = [
    ['--temp-limit', devices.tempLimit],
    ['--temp-resume', devices.tempResume],
    ['--gpu-batch-ms', gpu.batchMs],
  ] as const;
  for (const [flag, values] of settings) {
    for (const { gpu: name } of valuesForGpus<number | 'none'>(values)) {
      if (name === undefined || engines.some((engine) => engine.name === name)) continue;
      log.warn({ tag: 'gpu' }, `${flag} has a value for ${name}, which is not used`);
    }
  }
}

/**
 * Like `chooseEngines`, but the CPU can mine while the GPUs are being found (about a second), and settings for unused
 * GPUs cause no warning.
 * @returns first a list of the CPU's engine, or an empty list if the CPU does not mine. If GPUs may mine, a promise of
 *   their engines follows
 * @throws UsageError in the same cases as `chooseEngines`
 */
export function chooseInTurn(
  { devices: { use }, cpu, gpu }: DeviceSettings,
  log: Logger,
  options: EngineOptions = {},
): (Engine[] | Promise<Engine[]>)[] {
  if (use.length === 0 && !options.mayBeNone) {
    const others =
      options.mayBeNone === undefined
        ? 'name devices, like --devices cpu,gpu0.'
        : 'name devices, serve others (--stratum-listen [HOST:]PORT), or let another program hash (--external-worker).';
    throw new UsageError(`--devices none leaves nothing that hashes: ${others}`);
  }
  const engines = use === 'all' || use.includes('cpu') ? [cpuEngine(cpu, log, options)] : [];
  const gpuNames = use === 'all' ? undefined : use.filter((name) => name !== 'cpu');
  return gpuNames?.length === 0 ? [engines] : [engines, gpuEngines(gpuNames, { ...gpu, ...options }, log)];
}

type GpuOptions = Config['gpu'] & EngineOptions;

async function gpuEngines(names: readonly string[] | undefined, options: GpuOptions, log: Logger): Promise<Engine[]> {
  let gpus: readonly Gpu[] = [];
  let none: string | undefined;
  try {
    gpus = await listGpus({ softwareGpu: options.software });
  } catch (fault) {
    none = (fault as Error).message;
    const why = `no GPU is used: ${none}`;
    const isFaulty = !(fault instanceof DeviceError && fault.fault === 'missing');
    if (isFaulty) log.warn({ tag: 'gpu' }, `${why} (it failed twice). See docs/devices.md, “When a GPU is missing”.`);
    else if (names === undefined) log.info({ tag: 'gpu' }, why);
  }
  const engines: Engine[] = [];
  const unused: Gpu[] = [];
  for (const gpu of gpus) {
    const { name, model, usable, why } = gpu;
    const asked = names?.includes(name) || names?.includes('gpu');
    if (names && !asked) continue;
    if (usable) engines.push(gpuEngine(gpu, options));
    else if (names?.includes(name)) engines.push(new MissingEngine(name, `${model}: ${why}`));
    else unused.push(gpu);
  }
  if (names === undefined || engines.length > 0) {
    for (const { name, model, why } of unused) log.info({ tag: name }, `${model} is not used: ${why}`);
  }
  const found = gpus.map(({ name }) => name);
  const missing = names?.filter((name) => (name === 'gpu' ? engines.length === 0 : !found.includes(name))) ?? [];
  return [...engines, ...missing.map((name) => new MissingEngine(name, none ?? whyMissing(name, gpus)))];
}

function whyMissing(name: string, gpus: readonly Gpu[]): string {
  if (name === 'gpu') return `no GPU can be used: ${gpus.map(({ model, why }) => `${model}: ${why}`).join('; ')}`;
  return `there is no ${name}; these exist: ${gpus.map((gpu) => `${gpu.name} (${gpu.model})`).join(', ')}`;
}

function gpuEngine(gpu: Gpu, { software, batchMs: batches, tuneAgain, minesAtOnce, hurried }: GpuOptions): GpuEngine {
  const { name, model, vendor, bus, environment } = gpu;
  const batchMs = valueForGpu(batches, name);
  const cacheDirectory = userCacheDirectory();
  return new GpuEngine({
    name,
    adapter: model,
    softwareGpu: software,
    card: { vendor: makerOf(vendor), ...(bus && { bus }) },
    ...(environment && { environment }),
    ...(batchMs !== undefined && { batchMs }),
    ...(tuneAgain && { tuneAgain }),
    ...(minesAtOnce && { minesAtOnce }),
    ...(hurried && { hurried }),
    ...(cacheDirectory !== undefined && { cacheDirectory }),
  });
}

/** @throws UsageError when a setting of the CPU's threads cannot be fulfilled on this machine */
export function threadChoice(cpu: Config['cpu']): ThreadChoice {
  return withinRange(() => chooseThreads(threadOptions(cpu)));
}

function threadOptions({ threads, cores, priority, affinity }: Config['cpu']): ThreadOptions {
  return {
    cores,
    ...(threads !== undefined && { threads }),
    ...(priority !== undefined && { niceness: priority }),
    ...(affinity !== undefined && { affinity }),
  };
}

/** @throws UsageError if `make` throws a RangeError, which means that the value of a setting cannot be used */
function withinRange<T>(make: () => T): T {
  try {
    return make();
  } catch (fault) {
    throw fault instanceof RangeError ? new UsageError(`${fault.message}.`) : fault;
  }
}

/** @throws UsageError when a setting of the CPU cannot be fulfilled on this machine */
function cpuEngine(cpu: Config['cpu'], log: Logger, { hurried = false }: EngineOptions): CpuEngine {
  const { kernel } = cpu;
  const { warning } = threadChoice(cpu);
  if (warning) log.warn({ tag: 'cpu' }, warning);
  const cacheDirectory = userCacheDirectory();
  const wanted = {
    ...(cacheDirectory !== undefined && { cacheDirectory }),
    ...threadOptions(cpu),
    ...(hurried && { hurried }),
    ...(kernel !== undefined && { kernel: usableKernel(kernel) }),
  };
  return withinRange(() => new CpuEngine(wanted));
}

/** @throws UsageError when the kernel cannot run on this machine */
export function usableKernel(name: KernelName): KernelName {
  return orUsageError(() => forceKernel(name).name);
}

/* The temperatures at which devices are paused and resumed. */

/**
 * Default difference in °C between the temperature at which a device pauses and the one at which it resumes. Without a
 * difference, the device would pause and resume all the time.
 */
const COOL_BY_C = 10;

/**
 * @param name the name of a GPU. If absent, the result is for GPUs that no setting names. Has no effect for the CPU
 * @returns undefined if there is no limit
 */
export function limitsOf(devices: Config['devices'], kind: DeviceKind, name?: string): TemperatureLimits | undefined {
  const { cpuTempLimit, cpuTempResume } = devices;
  const [stopCelsius = 'none', resumeCelsius] =
    kind === 'cpu'
      ? [cpuTempLimit, cpuTempResume]
      : [valueForGpu(devices.tempLimit, name), valueForGpu(devices.tempResume, name)];
  return stopCelsius === 'none' ? undefined : { stopCelsius, resumeCelsius: resumeCelsius ?? stopCelsius - COOL_BY_C };
}

/* A table of the CPU kernels: their speeds, and the choice with its reason. */

export const KernelRow = z
  .object({
    name: z.enum(KERNEL_NAMES),
    cores: z.enum(CORE_KINDS).exactOptional().describe('on a hybrid CPU'),
    usable: z.boolean(),
    chosen: z.boolean(),
    hashesPerSecond: z.number().exactOptional().describe('if measured, of one thread while all hash'),
    why: z.string(),
  })
  .describe('a CPU kernel');
export type KernelRow = Readonly<z.infer<typeof KernelRow>>;

/**
 * @param surveys one for each kind of cores
 * @param asked the kernel that the settings name, which is used even if it is slow; absent if they name none
 */
export function kernelRows(surveys: readonly Survey[], asked?: KernelName): KernelRow[] {
  return surveys.flatMap((survey) => rowsOf(survey, asked));
}

function rowsOf({ kind, speeds, fastest, unusable, notRemembered }: Survey, asked?: KernelName): KernelRow[] {
  return KERNEL_NAMES.map((each) => {
    const name = { name: each, ...(kind !== undefined && { cores: kind }) };
    const hashesPerSecond = speeds[each];
    const refused = unusable.get(each);
    if (refused !== undefined) return { ...name, usable: false, chosen: false, why: refused };
    if (hashesPerSecond === undefined) {
      const chosen = each === (asked ?? fastest);
      return { ...name, usable: true, chosen, why: 'not measured: the machine was too busy' };
    }
    const part = hashesPerSecond / (speeds[fastest ?? each] ?? hashesPerSecond);
    const speed = fastest === undefined || each === fastest ? 'the fastest here' : `${compared(part)} ${fastest}`;
    const row = { ...name, usable: true, hashesPerSecond };
    if (each !== (asked ?? fastest)) return { ...row, chosen: false, why: speed };
    if (asked !== undefined) return { ...row, chosen: true, why: `chosen: asked for, ${speed}` };
    const doubt = notRemembered === undefined ? '' : `; not remembered: ${notRemembered}`;
    return { ...row, chosen: true, why: `chosen: ${speed}${doubt}` };
  });
}

/** @param part a speed divided by that of the fastest kernel @returns a phrase to put before that kernel's name */
function compared(part: number): string {
  return part < 0.995 ? `slower here: ${formatPercent(part)} of` : 'as fast here as';
}
