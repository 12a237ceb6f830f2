/**
 * Lists the adapters, in a child process. WebGPU hands out one adapter at a time. Dawn names them all only in the error
 * for a name that does not exist, and it picks by name, so two cards of one name cannot be told apart here: see
 * ../disambiguate.ts.
 */

import { DeviceError } from '../../engine.ts';
import type { Adapter } from '../protocol.ts';
import { BACKEND, isSoftware, loadDawn, modelOf, openAdapter, whyNoAdapter } from './device.ts';

const NO_SUCH_ADAPTER = '\u2205';

/** @throws DeviceError when there is none. */
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

/** The names in Dawn's error: lines like ` * backend: 'vulkan', name: 'NVIDIA H200'`. */
export function parseNames(message: string): string[] {
  return [...message.matchAll(/^ \* backend: '[^']*', name: '(.*)'$/gm)].map(([, name]) => name);
}

/** Which adapter Dawn gives for a name: the first whose own name contains it. */
export function pickedBy(name: string, names: readonly string[]): number {
  return names.findIndex((other) => other.includes(name));
}
