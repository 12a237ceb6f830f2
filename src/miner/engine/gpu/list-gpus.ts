/** Lists the GPUs by means of child processes, because Dawn must not run in this process. */

import { DeviceError } from '../engine.ts';
import { disambiguate, type Found, parseTable, WITH_TABLE } from './disambiguate.ts';
import { type Environment, GpuProcess } from './gpu-process.ts';
import { type DisplayDevice, displayDevices } from './pci.ts';
import type { Adapter } from './protocol.ts';

export interface Gpu extends Omit<Found, 'fault' | 'double'> {
  /** Name of the GPU, such as `gpu0`: numbered in the order of the list. */
  readonly name: string;
  readonly usable: boolean;
  /** For people: why the GPU is usable, or why it is not usable and the remedy. */
  readonly why: string;
}

interface ListOptions {
  /** Whether software renderers count as usable. */
  readonly softwareGpu?: boolean;
  readonly environment?: Environment;
}

/**
 * @returns all GPUs. Hardware comes first: sorted by PCI address if each hardware GPU has one, otherwise in Dawn's
 *   order. Software renderers come last
 * @throws DeviceError `missing` when there is no GPU, or `lost` when two attempts have failed
 */
export async function listGpus({ softwareGpu = false, environment = {} }: ListOptions = {}): Promise<Gpu[]> {
  const { adapters, lastWords } = await twiceIfLost(() => look({ ...WITH_TABLE, ...environment }));
  const lookAlone = async (alone: Environment) =>
    (await twiceIfLost(() => look({ ...environment, ...alone }))).adapters;
  const found = await disambiguate(adapters, parseTable(lastWords), lookAlone);
  const placed = inOrder(placeOnBus(found, displayDevices()));
  return placed.map(({ fault, double, ...gpu }, i) => ({
    name: `gpu${i}`,
    ...gpu,
    usable: fault === undefined && !double && (softwareGpu || !gpu.software),
    why: double ? whyDouble(gpu, placed) : (fault ?? whyUsable(gpu, softwareGpu)),
  }));
}

/**
 * Calls `ask` again when its first call fails with the fault `lost`. A driver that crashed while the machine started
 * usually works the second time.
 */
export async function twiceIfLost<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof DeviceError) || error.fault !== 'lost') throw error;
    return await ask();
  }
}

async function look(environment: Environment): Promise<{ adapters: Adapter[]; lastWords: string }> {
  const gpu = new GpuProcess(environment);
  let adapters: Adapter[];
  try {
    ({ adapters } = await gpu.list());
  } finally {
    await gpu.close();
  }
  return { adapters, lastWords: gpu.lastWords };
}

function whyUsable({ software, environment }: Found, softwareGpu: boolean): string {
  if (software) return softwareGpu ? 'runs on the CPU' : 'runs on the CPU; --software-gpu would use it';
  return environment ? 'hardware, identified by its PCI address' : 'hardware';
}

function whyDouble({ bus }: Found, gpus: readonly Found[]): string {
  const card = gpus.findIndex((other) => other.bus === bus && !other.double);
  return `the same card as ${card < 0 ? 'another' : `gpu${card}`}, through another driver; ${CHOOSE_DRIVER}`;
}

const CHOOSE_DRIVER =
  'to use this driver instead, name its file in /usr/share/vulkan/icd.d with VK_DRIVER_FILES (see docs/devices.md)';

/** Adds a PCI address from `devices` to a GPU without one, if its maker has exactly one GPU and exactly one device. */
export function placeOnBus(gpus: readonly Found[], devices: readonly DisplayDevice[]): Found[] {
  return gpus.map((gpu) => {
    const others = gpus.filter(({ vendor }) => vendor === gpu.vendor);
    const there = devices.filter(({ vendor }) => vendor === gpu.vendor);
    return gpu.bus || others.length > 1 || there.length !== 1 ? gpu : { ...gpu, bus: there[0].bus };
  });
}

/**
 * Sorts hardware GPUs by PCI address if each has one, and puts software renderers last. Dawn's order depends on the
 * drivers, but the order by address is the same at every start.
 */
export function inOrder(gpus: readonly Found[]): Found[] {
  const real = gpus.filter(({ software }) => !software);
  // The domain, at the beginning of an address, may have more than four digits.
  const place = ({ bus = '' }: Found) => bus.padStart(16, '0');
  if (real.every(({ bus }) => bus)) {
    // GPUs with equal addresses stay in Dawn's order.
    real.sort((a, b) => (place(a) < place(b) ? -1 : Number(place(a) > place(b))));
  }
  return [...real, ...gpus.filter(({ software }) => software)];
}
