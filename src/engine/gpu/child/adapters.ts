/**
 * Lists the adapters, in a child process. WebGPU gives out one adapter at a time. Dawn names all of them only in its error
 * for an unknown name, and it chooses adapters by name, so two cards with the same name cannot be distinguished here: see
 * ../disambiguate.ts.
 */

import { DeviceError } from '../../engine.ts';
import type { Adapter } from '../protocol.ts';
import { BACKEND, isSoftware, loadDawn, modelOf, openAdapter, whyNoAdapter } from './device.ts';

const NO_SUCH_ADAPTER = '\u2205';

/** @throws DeviceError when there is no adapter. */
export async function listAdapters(): Promise<Adapter[]> {
  const create = await loadDawn();
  const names = await adapterNames(create);
  if (names.length === 0) throw new DeviceError('missing', whyNoAdapter());
  const adapters: Adapter[] = [];
  for (const [i, model] of names.entries()) {
    const opened = pickedBy(model, names) === i ? await open(create, model) : {};
    adapters.push({ model, backend: BACKEND, ...opened });
  }
  return adapters;
}

async function open(
  create: Awaited<ReturnType<typeof loadDawn>>,
  name: string,
): Promise<Pick<Adapter, 'info' | 'fault'>> {
  try {
    const { adapter } = await openAdapter(create, name);
    const vendor = adapter.info.vendor.toLowerCase() || 'unknown';
    return { info: { vendor, driver: modelOf(adapter), software: isSoftware(adapter) } };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { fault: error.message };
  }
}

async function adapterNames(create: Awaited<ReturnType<typeof loadDawn>>): Promise<string[]> {
  try {
    await create([`backend=${BACKEND}`, `adapter=${NO_SUCH_ADAPTER}`]).requestAdapter();
    return [];
  } catch (error) {
    return parseNames(error instanceof Error ? error.message : String(error));
  }
}

/** Reads the names from Dawn's error, which has lines such as ` * backend: 'vulkan', name: 'NVIDIA H200'`. */
export function parseNames(message: string): string[] {
  return [...message.matchAll(/^ \* backend: '[^']*', name: '(.*)'$/gm)].map(([, name]) => name);
}

/** @returns the index of the adapter that Dawn gives for a name: the first one whose own name contains it */
export function pickedBy(name: string, names: readonly string[]): number {
  return names.findIndex((other) => other.includes(name));
}
