/**
 * Mesa's Vulkan layer VK_LAYER_MESA_device_select (Linux): what it tells of the GPUs, and how it hides all but one of
 * them from a process. It wraps the drivers of every maker, NVIDIA's too. After Mesa's `src/vulkan/device-select-layer/`,
 * and tried with Mesa 25.0.
 */

import type { Environment } from './gpu-process.ts';

/** Makes the layer print its table to stderr whenever a process enumerates the GPUs. */
export const WITH_TABLE: Environment = { MESA_VK_DEVICE_SELECT_DEBUG: '1' };

/** A GPU in the layer's table. */
export interface TableRow {
  /** PCI's number of the maker, or Vulkan's where there is none: 0x10005 is Mesa's software. */
  readonly vendorId: number;
  readonly deviceId: number;
  /** The driver's name of the model, which is Dawn's, too. */
  readonly model: string;
  /** Made of software. */
  readonly isCpu: boolean;
  /** Like `0000:65:00.0`; absent where the driver does not tell. */
  readonly bus?: string;
}

const HEADING = 'selectable devices:';
const IDS = '([0-9a-f]+):([0-9a-f]+)';
const TYPE = '(other|integrated GPU|discrete GPU|virtual GPU|CPU)';
const BUS = '([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])';
const ROW = new RegExp(`^  GPU \\d+: ${IDS} "(.*)" ${TYPE}(?: ${BUS})?$`);
/** Printed for a driver that tells no address, beside one that does. No GPU is there: it is the host bridge's. */
const NO_BUS = '0000:00:00.0';

/**
 * The rows of the last table in what a process printed; none where the layer is not there. A process prints its table
 * several times, and of the first the beginning may be lost.
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
 * Has a process see the GPU at this bus alone; a layer older than Mesa 23.3 shows it all of them.
 * @param bus like `0000:65:00.0`
 */
export function onlyAt(bus: string): Environment {
  // The exclamation mark hides the others, and only where there is such a GPU. A choice that the user made for all
  // processes comes before DRI_PRIME: an empty one is none.
  return { DRI_PRIME: `pci-${bus.replace(/[:.]/g, '_')}!`, MESA_VK_DEVICE_SELECT: '' };
}
