/**
 * Opens adapters and devices through Dawn. Only the child process may import this file, because Dawn can crash the
 * process.
 */

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { create as Create } from 'webgpu';
import { DeviceError } from '../../engine.ts';
import type { Adapter } from '../protocol.ts';
import { calmPolling } from './shader-scanner.ts';

/** The only backend that is used, because other backends would list the same cards again. */
const BACKEND = process.platform === 'win32' ? 'd3d12' : process.platform === 'darwin' ? 'metal' : 'vulkan';

/**
 * Dawn's own object. Keep a reference to it as long as its devices are in use: when it is garbage-collected, the
 * process crashes.
 */
type Dawn = GPU;

/** Loads Dawn. @throws DeviceError when the library does not load */
export async function loadDawn(): Promise<typeof Create> {
  try {
    const { create, globals } = await import('webgpu');
    Object.assign(globalThis, globals);
    calmPolling();
    return create;
  } catch (cause) {
    throw new DeviceError('missing', whyDawnFails(cause), { cause });
  }
}

/**
 * @returns the version of the package `webgpu`, which contains Dawn. Tunings depend on this version, because Dawn
 *   translates WGSL for the driver
 */
export function dawnVersion(): string {
  const require = createRequire(import.meta.url);
  return JSON.parse(readFileSync(join(dirname(require.resolve('webgpu')), 'package.json'), 'utf8')).version;
}

function whyDawnFails(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const glibc = /GLIBC(?:XX)?_[\d.]+/.exec(message)?.[0];
  if (glibc) {
    return `GPU mining needs a newer C library (${glibc}): use Debian 12, Ubuntu 22.04, RHEL 9 or later; CPU mining is not affected`;
  }
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ERR_MODULE_NOT_FOUND' && message.includes("'webgpu'")) {
    return 'the package webgpu, through which GPUs mine, is not installed: install pickaxe with its optional packages (not with --omit=optional); CPU mining is not affected';
  }
  const remedy = remedyFor(message, code);
  return `the WebGPU library does not load on ${process.platform}-${process.arch}: ${message.split('\n')[0]}; ${remedy}CPU mining is not affected`;
}

function remedyFor(message: string, code: string | undefined): string {
  if (code === 'ERR_MODULE_NOT_FOUND') return 'install pickaxe again, with its dependencies; ';
  if (code === 'MODULE_NOT_FOUND') return 'its package has no build for this kind of machine; ';
  // An install script removes macOS's quarantine attribute, but install scripts may be disabled.
  const blocked = process.platform === 'darwin' && /code signature|system policy|quarantine/i.test(message);
  return blocked ? 'allow it with `xattr -d com.apple.quarantine` and the name of that file; ' : '';
}

/**
 * @param name part of Dawn's name for the adapter. Without a name, Dawn chooses the adapter that it considers the
 *   fastest
 * @throws DeviceError when there is no such adapter
 */
export async function openAdapter(
  create: typeof Create,
  name: string | undefined,
): Promise<{ dawn: Dawn; adapter: GPUAdapter }> {
  const flags = name === undefined ? [] : [`adapter=${name}`];
  const dawn = create([`backend=${BACKEND}`, ...flags]);
  const adapter = await dawn.requestAdapter({ powerPreference: 'high-performance' }).catch(() => null);
  if (!adapter) throw new DeviceError('missing', name === undefined ? whyNoAdapter() : whyNotThisAdapter(name));
  return { dawn, adapter };
}

const whyNotThisAdapter = (name: string) => `there is no GPU '${name}': \`pickaxe devices\` lists the GPUs`;

function whyNoAdapter(): string {
  const install = {
    linux:
      'install the GPU maker’s Vulkan driver (for AMD and Intel: mesa-vulkan-drivers 23 or later) and check it with `vulkaninfo --summary`; in a container, pass the GPU and its driver in',
    win32: 'install the GPU maker’s driver for Windows',
  }[process.platform as string];
  return `no GPU that ${BACKEND} can use${install ? `: ${install}` : ''}`;
}

export function isSoftware({ info }: GPUAdapter): boolean {
  const text = `${info.architecture} ${info.device} ${info.description}`;
  // Drivers put this information into different fields. Microsoft's software renderer is called Basic Render Driver.
  return info.isFallbackAdapter || /software|llvmpipe|lavapipe|swiftshader|basic render/i.test(text);
}

/**
 * @returns Dawn's description of the adapter. With most drivers, it has the driver's name and version. If Dawn has no
 *   description, another name of the adapter
 */
export function modelOf({ info }: GPUAdapter): string {
  return info.description || info.device || info.architecture || info.vendor || 'unknown GPU';
}

/**
 * @param onLost called with the reason when the device is lost, but not when it is destroyed. It is also called with
 *   the message of each error of WebGPU that no code has captured
 * @throws DeviceError when the driver does not open the device
 */
export async function openDevice(adapter: GPUAdapter, onLost: (reason: string) => void): Promise<GPUDevice> {
  const device = await adapter.requestDevice().catch((cause: Error) => {
    // The GPU may be resetting. With the fault 'lost', it is opened again later.
    throw new DeviceError('lost', `the driver refuses to open the GPU (${cause.message}): update it`, { cause });
  });
  device.addEventListener('uncapturederror', (event) => {
    event.preventDefault(); // Otherwise Dawn prints the error.
    onLost(event.error.message);
  });
  void device.lost.then(({ reason, message }) => {
    if (reason !== 'destroyed') onLost(message || 'the driver gave no reason');
  });
  return device;
}

/*
 * The list of adapters. WebGPU returns one adapter at a time. Dawn lists the names of all adapters only in its error
 * for an unknown name. Dawn also chooses an adapter by its name, so this file cannot distinguish adapters with equal
 * names. For that, see ../disambiguate.ts.
 */

/** A name that no adapter has. */
const NO_SUCH_ADAPTER = '\u2205';

/** Lists the adapters, in Dawn's order. @throws DeviceError when there is no adapter, or when Dawn does not load */
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
    return parseNames(String(error));
  }
}

/**
 * @param message Dawn's error, with lines such as ` * backend: 'vulkan', name: 'NVIDIA H200'`
 * @returns the names of all adapters, in Dawn's order
 */
export function parseNames(message: string): string[] {
  return [...message.matchAll(/^ \* backend: '[^']*', name: '(.*)'$/gm)].map(([, name]) => name);
}

/**
 * @returns the index of the adapter that Dawn chooses for `name`: the first adapter whose name contains `name`; -1 if
 *   there is no such adapter
 */
export function pickedBy(name: string, names: readonly string[]): number {
  return names.findIndex((other) => other.includes(name));
}
