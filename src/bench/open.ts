/** Opens devices, and goes on with those that can be opened. */

import { DeviceError, type Engine, type EngineInfo, type EngineListener } from '../engine/engine.ts';
import { Readings } from './readings.ts';

export interface OpenOptions {
  /** Listens to a device while it opens. */
  readonly listener: (engine: Engine) => EngineListener;
  /** Called once for each device that fails. */
  readonly failed: (engine: Engine, fault: DeviceError) => void;
}

export interface Opened {
  readonly engine: Engine;
  /** The latest: it changes when a kernel has proven itself. */
  readonly info: EngineInfo;
  /** Filled while the device is open. */
  readonly readings: Readings;
}

/** Opens them one after the other, so that nothing disturbs what they measure while they open. */
export async function openAll(engines: readonly Engine[], { listener, failed }: OpenOptions): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const engine of engines) {
    const readings = new Readings();
    const open = async () => {
      let info: EngineInfo;
      const own: EngineListener = {
        telemetry: (reading) => readings.take(reading),
        changed: (changed) => {
          info = changed;
        },
      };
      info = await engine.open({ ...listener(engine), ...own });
      return {
        engine,
        readings,
        get info() {
          return info;
        },
      };
    };
    opened.push(...(await inStep([{ engine }], failed, open)));
  }
  return opened;
}

/** Takes a step with all devices at the same time. @returns the results of those that did not fail */
export async function inStep<From extends { readonly engine: Engine }, To>(
  from: readonly From[],
  failed: OpenOptions['failed'],
  step: (from: From) => Promise<To>,
): Promise<To[]> {
  const steps = from.map(async (one) => {
    try {
      return [await step(one)];
    } catch (fault) {
      if (!(fault instanceof DeviceError)) throw fault;
      failed(one.engine, fault);
      return [];
    }
  });
  return (await Promise.all(steps)).flat();
}
