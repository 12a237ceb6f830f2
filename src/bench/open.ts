/** Opens devices, and goes on with those that do not fail. */

import { DeviceError, type Engine, type EngineInfo, type EngineListener } from '../engine/engine.ts';
import { Readings } from './readings.ts';

export interface OpenOptions {
  /** What is told while a device opens. */
  readonly listener: (engine: Engine) => EngineListener;
  /** Told once of each device that fails. */
  readonly failed: (engine: Engine, fault: DeviceError) => void;
}

export interface Opened {
  readonly engine: Engine;
  readonly info: EngineInfo;
  /** Filled for as long as it is open. */
  readonly readings: Readings;
}

/** One after the other: what they measure when they open is disturbed by nothing. */
export async function openAll(engines: readonly Engine[], { listener, failed }: OpenOptions): Promise<Opened[]> {
  const opened: Opened[] = [];
  for (const engine of engines) {
    const readings = new Readings();
    const open = async () => {
      const telemetry: EngineListener = { telemetry: (reading) => readings.take(reading) };
      return { engine, readings, info: await engine.open({ ...listener(engine), ...telemetry }) };
    };
    opened.push(...(await inStep([{ engine }], failed, open)));
  }
  return opened;
}

/** Takes a step with all at the same time. @returns what came of it for those that got through */
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
