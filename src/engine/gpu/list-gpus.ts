/** Which GPUs there are. They are looked for in child processes, as all that Dawn does. */

import { type Environment, GpuProcess } from './gpu-process.ts';
import { parseTable, WITH_TABLE } from './isolation.ts';
import { type DisplayDevice, displayDevices } from './pci.ts';
import type { Adapter } from './protocol.ts';
import { type Found, tellApart } from './tell-apart.ts';

export interface Gpu extends Omit<Found, 'fault'> {
  /** `gpu0` … */
  readonly name: string;
  readonly usable: boolean;
  /** For people: why it is usable, or why not and what to do. */
  readonly why: string;
}

export interface ListOptions {
  /** Whether an adapter that is software on the CPU is usable. */
  readonly softwareGpu?: boolean;
  /** Added to the environment of the processes that look. */
  readonly environment?: Environment;
}

/**
 * Lists the GPUs there are, software ones too.
 * @returns in the order of their PCI addresses where all have one, else in Dawn's; those made of software last
 * @throws DeviceError when there is none, or when that cannot be found out.
 */
export async function listGpus({ softwareGpu = false, environment = {} }: ListOptions = {}): Promise<Gpu[]> {
  const { adapters, lastWords } = await look({ ...WITH_TABLE, ...environment });
  const lookAlone = async (alone: Environment) => (await look({ ...environment, ...alone })).adapters;
  const found = await tellApart(adapters, parseTable(lastWords), lookAlone);
  const placed = placeOnBus(found, displayDevices());
  return inOrder(placed).map(({ fault, ...gpu }, i) => ({
    name: `gpu${i}`,
    ...gpu,
    usable: fault === undefined && (softwareGpu || !gpu.software),
    why: fault ?? whyUsable(gpu, softwareGpu),
  }));
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
  if (software) return softwareGpu ? 'runs on the CPU' : 'runs on the CPU: only mined on with --software-gpu';
  return environment ? 'hardware, told from its like by its bus' : 'hardware';
}

/** Adds the addresses that only the system knows: of a maker's one GPU, where the bus has one of that maker. */
export function placeOnBus(gpus: readonly Found[], devices: readonly DisplayDevice[]): Found[] {
  return gpus.map((gpu) => {
    const others = gpus.filter(({ vendor }) => vendor === gpu.vendor);
    const there = devices.filter(({ vendor }) => vendor === gpu.vendor);
    return gpu.bus || others.length > 1 || there.length !== 1 ? gpu : { ...gpu, bus: there[0].bus };
  });
}

/** By address, which stays the same from start to start; Dawn's order is the drivers'. */
export function inOrder(gpus: readonly Found[]): Found[] {
  const real = gpus.filter(({ software }) => !software);
  // PCI domains may have more digits than four.
  const place = ({ bus = '' }: Found) => bus.padStart(16, '0');
  if (real.every(({ bus }) => bus)) real.sort((a, b) => (place(a) < place(b) ? -1 : 1));
  return [...real, ...gpus.filter(({ software }) => software)];
}
