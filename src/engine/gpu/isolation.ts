/**
 * Uses Mesa's Vulkan layer VK_LAYER_MESA_device_select (Linux) to list the GPUs with their addresses, and to hide all but one
 * of them from a process. The layer works with the drivers of all makers, NVIDIA's too. Source: Mesa's
 * `src/vulkan/device-select-layer/`; tried with Mesa 25.0.
 */

import type { Environment } from './gpu-process.ts';

/** Makes the layer print its table to stderr whenever a process enumerates the GPUs. */
export const WITH_TABLE: Environment = { MESA_VK_DEVICE_SELECT_DEBUG: '1' };

/** A GPU in the layer's table. */
export interface TableRow {
  /** The maker's PCI number, or Vulkan's number if it has none: 0x10005 stands for Mesa's software renderers. */
  readonly vendorId: number;
  readonly deviceId: number;
  /** The driver's name for the model, which is also Dawn's. */
  readonly model: string;
  /** Whether this is a software renderer on the CPU. */
  readonly isCpu: boolean;
  /** The PCI address, such as `0000:65:00.0`; absent when the driver does not report it. */
  readonly bus?: string;
}

const HEADING = 'selectable devices:';
const IDS = '([0-9a-f]+):([0-9a-f]+)';
const TYPE = '(other|integrated GPU|discrete GPU|virtual GPU|CPU)';
const BUS = '([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])';
const ROW = new RegExp(`^  GPU \\d+: ${IDS} "(.*)" ${TYPE}(?: ${BUS})?$`);
/** The layer prints this address for a driver that reports none, if another driver reports one. It is the host bridge's. */
const NO_BUS = '0000:00:00.0';

/**
 * @param text the output of a process. It has the table several times, and the beginning of the first may be lost
 * @returns the rows of the last table; none when the layer is not installed
 */
export function parseTable(text: string): TableRow[] {
  const start = text.lastIndexOf(HEADING);
  if (start < 0) return [];
  return text.slice(start).split('\n').flatMap(parseRow);
}

function parseRow(line: string): TableRow[] {
  const match = ROW.exec(line);
  if (!match) return [];
  const [, vendorId, deviceId, model, type, bus] = match;
  const ids = { vendorId: Number.parseInt(vendorId, 16), deviceId: Number.parseInt(deviceId, 16) };
  return [{ ...ids, model, isCpu: type === 'CPU', ...(bus && bus !== NO_BUS && { bus }) }];
}

/**
 * @param bus a PCI address, such as `0000:65:00.0`
 * @returns an environment in which a process sees only the GPU at this address. With Mesa before 23.3 it sees all GPUs
 */
export function onlyAt(bus: string): Environment {
  // The exclamation mark hides the other GPUs, if there is one at this address. MESA_VK_DEVICE_SELECT, which the user may have
  // set, takes precedence over DRI_PRIME, so it is emptied here.
  return { DRI_PRIME: `pci-${bus.replace(/[:.]/g, '_')}!`, MESA_VK_DEVICE_SELECT: '' };
}
