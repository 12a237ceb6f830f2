/** Examines the GPUs that pickaxe lists, and finds GPUs of this machine that are not in the list. */

import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding } from '../../base/finding.ts';
import type { Gpu } from '../../miner/engine/gpu/list-gpus.ts';
import { type DisplayDevice, displayDevices, type Maker } from '../../miner/engine/gpu/pci.ts';

export interface GpuFacts {
  readonly platform: string;
  readonly gpus: readonly Gpu[];
  /** Whether the optional package for GPUs is installed. */
  readonly hasPackage: boolean;
  /** Why no GPU is listed; undefined if one is. */
  readonly none?: { readonly message: string; readonly fault: 'missing' | 'lost' } | undefined;
  /** Display devices on the PCI bus. */
  readonly devices: readonly DisplayDevice[];
  /** Device files through which drivers use GPUs. `isOpen`: this user may read and write the file. */
  readonly nodes: readonly { readonly path: string; readonly isOpen: boolean }[];
  /** Names of the files that describe installed Vulkan drivers. */
  readonly drivers: readonly string[];
  readonly hasLoader: boolean;
}

/** Folders with the files that describe Vulkan drivers, and folders with Vulkan's loader. */
const DRIVER_FOLDERS = ['/etc/vulkan/icd.d', '/usr/share/vulkan/icd.d', '/usr/local/share/vulkan/icd.d'];
const LIBRARY_FOLDERS = [
  ...['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib64', '/usr/lib', '/usr/local/lib'],
  ...(process.env.LD_LIBRARY_PATH ?? '').split(':').filter(Boolean),
];
const LOADER = 'libvulkan.so.1';

export function readGpus(listed: Pick<GpuFacts, 'gpus' | 'none'>): GpuFacts {
  const dri = namesIn('/dev/dri').filter((name) => name.startsWith('renderD'));
  const nvidia = namesIn('/dev').filter((name) => /^nvidia(\d+|ctl|-uvm)$/.test(name));
  const paths = [...dri.map((name) => join('/dev/dri', name)), ...nvidia.map((name) => join('/dev', name))];
  return {
    ...listed,
    platform: process.platform,
    hasPackage: isInstalled('webgpu'),
    devices: displayDevices(),
    nodes: paths.map((path) => ({ path, isOpen: isOpen(path) })),
    drivers: DRIVER_FOLDERS.flatMap(namesIn).filter((name) => name.endsWith('.json')),
    hasLoader: LIBRARY_FOLDERS.some((folder) => existsSync(join(folder, LOADER))),
  };
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // The folder does not exist, or this user may not read it.
  }
}

function isOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export function examineGpus(facts: GpuFacts): Finding[] {
  const { gpus, none, devices, platform, hasPackage } = facts;
  const missing = devices.filter(({ vendor }) => !gpus.some((gpu) => gpu.vendor === vendor && !gpu.software));
  const findings = [...gpus.map(listed), ...missing.map((device) => notListed(device, facts))];
  if (none?.fault === 'lost') {
    const remedy = 'docs/devices.md, “When a GPU is missing”, says how to find the failing driver';
    findings.push({ about: 'GPU', state: 'warning', what: `listing fails: ${none.message}`, why: WHY, remedy });
  } else if (findings.length === 0) {
    // On Linux with the package, it is certain that there is no GPU, because the PCI bus was searched as well.
    const isKnown = platform === 'linux' && hasPackage;
    findings.push({ about: 'GPU', state: 'ok', what: `none${isKnown ? '' : `: ${none?.message}`}` });
  }
  return findings;
}

const WHY = 'a GPU mines tens to hundreds of times as fast as a CPU';

function listed({ name, model, driver, backend, software, usable, why }: Gpu): Finding {
  const what = `${model}, ${backend}, ${driver}`;
  if (usable) return { about: name, state: 'ok', what };
  if (software) return { about: name, state: 'ok', what: `${what}: not used, because it ${why}` };
  return { about: name, state: 'warning', what: `${what}: not used`, why: WHY, remedy: why };
}

/** @returns the finding about a GPU on the PCI bus that is not listed, with the probable reason and the remedy */
function notListed({ bus, vendor }: DisplayDevice, facts: GpuFacts): Finding {
  const what = `${TITLES[vendor]} at ${bus} cannot be used: ${whyNotListed(vendor, facts)}`;
  return { about: 'GPU', state: 'warning', what, why: WHY, remedy: remedyFor(vendor, facts) };
}

const TITLES: Record<Maker, string> = { nvidia: 'an NVIDIA GPU', amd: 'an AMD GPU', intel: 'an Intel GPU' };
/** Match the names of the files that describe the makers' Vulkan drivers. */
const DRIVERS: Record<Maker, RegExp> = { nvidia: /^nvidia/, amd: /^(radeon|amd)/, intel: /^intel/ };

function whyNotListed(vendor: Maker, facts: GpuFacts): string {
  if (!facts.hasPackage) return 'the package webgpu, through which GPUs mine, is not installed';
  if (!facts.hasLoader) return 'Vulkan’s loader is not installed';
  if (!hasDriver(vendor, facts)) return 'its Vulkan driver is not installed';
  const nodes = nodesOf(vendor, facts);
  if (nodes.length === 0) return 'the system has no device file for it';
  const closed = nodes.find(({ isOpen }) => !isOpen);
  return closed ? `this user may not open ${closed.path}` : 'its driver does not offer it';
}

function remedyFor(vendor: Maker, facts: GpuFacts): string {
  if (!facts.hasPackage) return 'install pickaxe with its optional packages (not with --omit=optional)';
  if (!facts.hasLoader) return 'install Vulkan’s loader (libvulkan1)';
  const isNvidia = vendor === 'nvidia';
  if (!hasDriver(vendor, facts)) {
    return isNvidia
      ? 'install NVIDIA’s driver with its Vulkan part (libnvidia-gl-… or nvidia-driver-…, not the headless packages)'
      : 'install mesa-vulkan-drivers 23 or later';
  }
  const nodes = nodesOf(vendor, facts);
  if (nodes.length === 0) {
    return isNvidia
      ? 'check that NVIDIA’s kernel module is loaded (nvidia-smi); in a container, pass the GPU in'
      : 'check that its kernel module is loaded (ls /dev/dri); in a container, pass /dev/dri in';
  }
  if (nodes.some(({ isOpen }) => !isOpen)) {
    return 'add yourself to the group of the device file (sudo usermod -aG render $USER) and log in again';
  }
  return 'look at what vulkaninfo --summary prints, and read docs/devices.md, “When a GPU is missing”';
}

function hasDriver(vendor: Maker, { drivers }: GpuFacts): boolean {
  return drivers.some((name) => DRIVERS[vendor].test(name));
}

function nodesOf(vendor: Maker, { nodes }: GpuFacts): GpuFacts['nodes'] {
  return nodes.filter(({ path }) => path.startsWith('/dev/nvidia') === (vendor === 'nvidia'));
}
