/**
 * The CPU as an engine. It has a pool of threads, which by default have the lowest priority. All threads work on the
 * newest search, the current run.
 */

import { cpus } from 'node:os';
import { plural } from '../../../base/text/quantities.ts';
import type { Job } from '../../../protocol/chain/job.ts';
import type { CoreInfo, KernelName } from '../device.ts';
import {
  DeviceError,
  type Engine,
  type EngineInfo,
  type EngineListener,
  type Ranges,
  type SearchReport,
} from '../engine.ts';
import { type Sensors, watchSensors } from '../sensors.ts';
import { openCpuSensors } from './cpu-sensors.ts';
import { chooseKernels, forceKernel, type KernelChoice } from './kernels/choose.ts';
import { Pool } from './thread-pool.ts';
import { type CoreGroup, chooseThreads, type ThreadChoice, type ThreadOptions } from './threads.ts';

export interface CpuEngineOptions extends ThreadOptions {
  /** Name of the engine, unique in a rig. The default is `cpu`. */
  readonly name?: string;
  /** The kernel of all threads. The default is the choice of `chooseKernels`. */
  readonly kernel?: KernelName;
  /**
   * Folder in which the speeds of kernels are remembered. Without it, the speeds are measured at each opening (unless
   * `kernel` or `hurried` is set), which takes about a second.
   */
  readonly cacheDirectory?: string;
  /**
   * Whether to skip the measurement. If no speeds are remembered, the kernel that is usually the fastest is then used.
   */
  readonly hurried?: boolean;
  readonly openSensors?: (options: { readonly threads: number }) => Promise<Sensors>;
}

const MODEL = cpus()[0]?.model.trim() || 'unknown CPU';

export class CpuEngine implements Engine {
  readonly name: string;
  readonly kind = 'cpu';
  readonly #options: CpuEngineOptions;
  readonly #threads: ThreadChoice;
  #pool: Pool | undefined;
  /** A controller that is aborted when the engine is closed. Undefined while the engine is closed. */
  #session: AbortController | undefined;
  /** Ends the readings of the sensors. Undefined while the engine is closed or opens. */
  #endReadings: (() => void) | undefined;

  /** @throws RangeError when `chooseThreads` cannot fulfil the options */
  constructor(options: CpuEngineOptions = {}) {
    this.name = options.name ?? 'cpu';
    this.#options = options;
    this.#threads = chooseThreads(options);
  }

  get threads(): number {
    return this.#threads.threads;
  }

  async open(listener: EngineListener = {}): Promise<EngineInfo> {
    if (this.#session !== undefined) throw new Error('the CPU engine is open already');
    const session = new AbortController();
    this.#session = session;
    try {
      return await this.#start(listener, session.signal);
    } catch (error) {
      if (this.#session === session) await this.close();
      throw error;
    }
  }

  /** @param closed fires when `close` is called */
  async #start(listener: EngineListener, closed: AbortSignal): Promise<EngineInfo> {
    const { threads, groups } = this.#threads;
    const { kernel: forced, cacheDirectory, hurried = false, openSensors = openCpuSensors } = this.#options;
    // The sensors are opened while kernels are chosen and threads start, so that a slow driver delays the start less.
    const openingSensors = openSensors({ threads });
    const choices = forced
      ? groups.map(() => forceKernel(forced))
      : await chooseKernels({ groups, cacheDirectory, hurried, stop: closed });
    closed.throwIfAborted();
    try {
      await this.#startPool(choices);
    } catch (error) {
      closed.throwIfAborted();
      throw new DeviceError('missing', `the CPU threads did not start: ${(error as Error).message}`, { cause: error });
    }
    const sensors = await openingSensors;
    closed.throwIfAborted();
    this.#endReadings = watchSensors(sensors, (telemetry) => listener.telemetry?.(telemetry));
    return describeCpu(MODEL, choices, this.#threads, sensors.what);
  }

  async #startPool(choices: readonly KernelChoice[]): Promise<void> {
    const { groups, niceness } = this.#threads;
    const threads = groups.flatMap(({ kind, places }, group) =>
      places.map((cpus) => ({
        data: { kernel: choices[group].name, cpus, ...(niceness !== undefined && { niceness }) },
        ...(kind !== undefined && { cores: kind }),
      })),
    );
    this.#pool = new Pool({ threads });
    await this.#pool.ready();
  }

  async *search(job: Job, ranges: Ranges, stop: AbortSignal): AsyncGenerator<SearchReport, void, undefined> {
    if (this.#pool === undefined) throw new DeviceError('missing', 'the CPU engine is not open');
    yield* this.#pool.search(job, ranges, stop);
  }

  async close(): Promise<void> {
    this.#session?.abort(new DeviceError('missing', 'the CPU engine was closed while it opened'));
    this.#session = undefined;
    this.#endReadings?.();
    this.#endReadings = undefined;
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.destroy();
  }
}

/* The description of the open CPU, made by pure functions */

/**
 * @param kernels one choice for each group of threads
 * @param sensors the source of the readings, from `Sensors.what`
 */
export function describeCpu(
  model: string,
  kernels: readonly KernelChoice[],
  choice: ThreadChoice,
  sensors: string,
): EngineInfo {
  const { threads, groups, why } = choice;
  const cores = groups.flatMap(({ kind, places }, i): CoreInfo[] =>
    kind === undefined ? [] : [{ kind, threads: places.length, kernel: kernels[i].name }],
  );
  const details = kernels.map(({ name, detail }, i) => `${prefixOf(groups[i])}kernel ${name}: ${detail}`);
  return {
    model,
    kernel: [...new Set(kernels.map(({ name }) => name))].join('+'),
    threads,
    ...(cores.length > 0 && { cores }),
    why: kernels.map(({ name, why }, i) => `${prefixOf(groups[i], `: ${name}, `)}${why}`).join('; '),
    detail: `${details.join('; ')}; ${plural(threads, 'thread')}: ${why}; sensors: ${sensors}`,
  };
}

/** @returns a prefix such as `performance cores: `; an empty string for a group without a kind */
function prefixOf({ kind }: CoreGroup, then = ': '): string {
  return kind === undefined ? '' : `${kind} cores${then}`;
}
