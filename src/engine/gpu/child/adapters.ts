/**
 * Lists the adapters, in a child process. WebGPU hands out one adapter at a time; Dawn names them all only in the error
 * for a name that does not exist, and picks by that name, so two cards of one name cannot be told apart.
 */

import { DeviceError } from '../../engine.ts';
import type { Gpu } from '../protocol.ts';
import { BACKEND, isSoftware, loadDawn, modelOf, openAdapter, whyNoAdapter } from './device.ts';

const NO_SUCH_ADAPTER = '\u2205';

/** @throws DeviceError when there is none. */
export async function listAdapters(): Promise<Gpu[]> {
  const create = await loadDawn();
  const names = await adapterNames(create);
  if (names.length === 0) throw new DeviceError('missing', whyNoAdapter());
  const gpus: Gpu[] = [];
  for (const [i, model] of names.entries()) {
    const gpu = { name: `gpu${i}`, model, backend: BACKEND };
    const picked = pickedBy(model, names);
    if (picked !== i) {
      const why = `the library cannot tell it from gpu${picked}: to mine on both, run one pickaxe per GPU in containers that see one GPU each`;
      gpus.push({ ...gpu, description: '', software: false, usable: false, why });
      continue;
    }
    try {
      const { adapter } = await openAdapter(create, model);
      const software = isSoftware(adapter);
      const why = software ? 'runs on the CPU: only mined on with --software-gpu' : 'hardware';
      gpus.push({ ...gpu, description: modelOf(adapter), software, usable: !software, why });
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      gpus.push({ ...gpu, description: '', software: false, usable: false, why: error.message });
    }
  }
  return gpus;
}

async function adapterNames(create: Awaited<ReturnType<typeof loadDawn>>): Promise<string[]> {
  try {
    await create([`backend=${BACKEND}`, `adapter=${NO_SUCH_ADAPTER}`]).requestAdapter();
    return [];
  } catch (error) {
    return parseNames(error instanceof Error ? error.message : String(error));
  }
}

/** The names in Dawn's error: lines like ` * backend: 'vulkan', name: 'NVIDIA H200'`. */
export function parseNames(message: string): string[] {
  return [...message.matchAll(/^ \* backend: '[^']*', name: '(.*)'$/gm)].map(([, name]) => name);
}

/** Which adapter Dawn gives for a name: the first whose own name contains it. */
export function pickedBy(name: string, names: readonly string[]): number {
  return names.findIndex((other) => other.includes(name));
}
