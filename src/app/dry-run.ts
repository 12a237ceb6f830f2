/** `pickaxe mine --dry-run`: does everything up to mining, but sends no request to the node. */

import type { Logger } from 'pino';
import type { Config } from '../config/settings.ts';
import { DeviceError, type Engine } from '../engine/engine.ts';
import type { TemperatureLimits } from '../mine/thermal-guard.ts';
import { progressTo } from '../terminal/log.ts';
import { defaultAccount } from './choose-source.ts';
import { EXIT } from './exit-codes.ts';
import type { Rig } from './run-miner.ts';

interface Device {
  readonly name: string;
  readonly usable: boolean;
  readonly model?: string;
  readonly kernel?: string;
  readonly threads?: number;
  /** Why this kernel and this many threads, or why it cannot be used. */
  readonly why: string;
  readonly fault?: DeviceError['fault'];
}

/**
 * Opens and closes each device, and prints the devices, the node and the miner that `mine` would use.
 * @returns the exit code of the process
 */
export async function dryRun(rig: Rig, { miner, run }: Config): Promise<number> {
  const { source, engines, log } = rig;
  const temperatureLimits = rig.temperatureLimits?.();
  const devices: Device[] = [];
  for (const engine of engines) devices.push(await tryOut(engine, log));
  const { publicKeys = [], predicate, account = defaultAccount(publicKeys) } = miner;
  const plan = { node: source.name, account, predicate, publicKeys, temperatureLimits, devices };
  process.stdout.write(run.json ? `${JSON.stringify(plan)}\n` : `${linesOf(plan).join('\n')}\n`);
  if (devices.some(({ fault }) => fault === 'wrong hashes')) return EXIT.wrongHashes;
  return devices.some(({ usable }) => usable) ? EXIT.done : EXIT.noDevice;
}

async function tryOut(engine: Engine, log: Logger): Promise<Device> {
  const { name } = engine;
  try {
    const { model, kernel, threads, why, detail = why } = await engine.open(progressTo(log, name));
    return { name, usable: true, model, kernel, ...(threads !== undefined && { threads }), why: detail };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { name, usable: false, why: error.message, fault: error.fault };
  } finally {
    await engine.close();
  }
}

interface Plan {
  readonly node: string;
  readonly account: string;
  readonly predicate: string;
  readonly publicKeys: readonly string[];
  readonly temperatureLimits: TemperatureLimits | undefined;
  readonly devices: readonly Device[];
}

function linesOf({ node, account, predicate, publicKeys, temperatureLimits: limits, devices }: Plan): string[] {
  return [
    `node    ${node} (not asked)`,
    `miner   ${account}, ${predicate} of ${publicKeys.join(', ')}`,
    ...devices.map(({ name, usable, model, why }) => `${name.padEnd(7)} ${usable ? model : 'cannot be used'}: ${why}`),
    limits ? `heat    rest at ${limits.stopC} °C, go on at ${limits.resumeC} °C` : 'heat    no device rests',
  ];
}
