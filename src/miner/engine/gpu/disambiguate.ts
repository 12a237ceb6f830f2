/**
 * Distinguishes GPUs that Dawn cannot distinguish. Dawn chooses a GPU by a part of its name, so the name `RTX 3080` may
 * lead to a `RTX 3080 Ti`. Two cards of one model have the same name. If Mesa's Vulkan layer is installed, each such
 * GPU gets a process that sees no other GPU. Before a GPU is used in this way, a process that lists the GPUs shows
 * whether the layer works.
 */

import type { Environment } from './gpu-process.ts';
import { makerOf } from './pci.ts';
import type { Adapter } from './protocol.ts';

/**
 * Maximum number of processes that list GPUs at the same time. Each process starts all drivers, so more processes would
 * slow each other down.
 */
const LOOKS_AT_ONCE = 4;

export interface Found {
  /** Dawn's name for the GPU. */
  readonly model: string;
  readonly backend: string;
  readonly vendor: string;
  readonly driver: string;
  readonly software: boolean;
  /** PCI address, such as `0000:65:00.0`; absent when it is not certain. */
  readonly bus?: string;
  /**
   * Environment in which a process sees only this GPU. Absent when the GPU's name is enough to choose it, or when the
   * GPU cannot be used.
   */
  readonly environment?: Environment;
  /** Set when the same card is used through the adapter of another driver. */
  readonly double?: true;
  /** For people: why the GPU cannot be used, and the remedy; absent for a usable GPU. */
  readonly fault?: string;
}

/**
 * Starts a process with this environment, and lists the adapters that it sees.
 * @throws Error when it sees no adapters, or after a time limit
 */
export type Look = (environment: Environment) => Promise<readonly Adapter[]>;

/** The result of an attempt to give a GPU a process that sees no other GPU; `reason` is why it failed. */
type Attempt = { readonly found: Found } | { readonly reason: string };

/**
 * @param adapters in Dawn's order
 * @param table rows of the table of Mesa's layer; empty when the layer is not installed
 * @returns what is known about each adapter, in the same order
 */
export async function disambiguate(
  adapters: readonly Adapter[],
  table: readonly TableRow[],
  look: Look,
): Promise<Found[]> {
  const attempts = new Map<Adapter, Attempt>();
  const queue = adapters.filter((adapter) => isAmbiguous(adapter, adapters)).values();
  const isolateNext = async () => {
    for (const adapter of queue) attempts.set(adapter, await isolate(adapter, adapters, table, look));
  };
  await Promise.all(Array.from({ length: LOOKS_AT_ONCE }, isolateNext));
  const found = adapters.map((adapter) => {
    const attempt = attempts.get(adapter);
    return attempt && 'found' in attempt ? attempt.found : byName(adapter, adapters, table, attempts);
  });
  return markDoubles(found, adapters, table);
}

/**
 * Marks adapters whose card is used through another adapter. A card with several drivers, such as AMD's RADV and
 * AMDVLK, has an adapter for each driver. Only one of these adapters is used.
 */
function markDoubles(found: readonly Found[], adapters: readonly Adapter[], table: readonly TableRow[]): Found[] {
  const buses = adapters.map((adapter) => busOf(adapter, adapters, table));
  return found.map((gpu, i) => {
    const usable = found.filter((other, j) => buses[i] && buses[j] === buses[i] && other.fault === undefined);
    // The card is used through the first usable adapter with a certain address or, if no address is certain, through
    // the first usable adapter.
    const card = usable.find(({ bus }) => bus) ?? usable[0];
    if (!card || card === gpu) return gpu;
    const { environment, fault, ...double } = gpu;
    return { ...double, bus: buses[i]!, double: true };
  });
}

/** Whether the adapter's name is equal to another adapter's name, or a part of it. */
function isAmbiguous({ model }: Adapter, adapters: readonly Adapter[]): boolean {
  return adapters.filter((other) => other.model.includes(model)).length > 1;
}

async function isolate(
  adapter: Adapter,
  adapters: readonly Adapter[],
  table: readonly TableRow[],
  look: Look,
): Promise<Attempt> {
  if (table.length === 0) return { reason: WITHOUT_LAYER };
  const { model, backend } = adapter;
  const bus = busOf(adapter, adapters, table);
  if (!bus) return { reason: 'its driver does not report its PCI address' };
  const environment = onlyAt(bus);
  try {
    const seen = await look(environment);
    const info = seen[0]?.info;
    if (seen.length === 1 && seen[0].model === model && info) {
      return { found: { model, backend, ...info, bus, environment } };
    }
    const what = seen.length === 1 ? (seen[0].fault ?? seen[0].model) : `${seen.length} GPUs`;
    return { reason: `a process that should see only the GPU at ${bus} saw ${what} (Mesa 23.3 or later is needed)` };
  } catch (error) {
    return { reason: `a process that should see only the GPU at ${bus} failed: ${(error as Error).message}` };
  }
}

/**
 * @returns what is known about a GPU that can be chosen only by its name. The result has a fault if Dawn cannot open
 *   the GPU or chooses another GPU for this name, or if a GPU with the same name has a process of its own
 */
function byName(
  adapter: Adapter,
  adapters: readonly Adapter[],
  table: readonly TableRow[],
  attempts: ReadonlyMap<Adapter, Attempt>,
): Found {
  const { model, backend, info, fault } = adapter;
  const twins = adapters.filter((other) => other.model === model);
  const isolated = twins.some((twin) => 'found' in (attempts.get(twin) ?? {}));
  const bus = twins.length === 1 || isolated ? busOf(adapter, adapters, table) : undefined;
  const known = { model, backend, ...(info ?? infoOfLike(adapter, adapters, table)), ...(bus && { bus }) };
  if (info && !isolated) return known;
  if (fault !== undefined) return { ...known, fault };
  const attempt = attempts.get(adapter);
  const reason = attempt && 'reason' in attempt ? `, and ${attempt.reason}` : '';
  return { ...known, fault: `another GPU has the same name${reason}; ${REMEDY}` };
}

/**
 * Assigns PCI addresses to adapters with the same name, in the order of the table. Each adapter needs an address of its
 * own, but it does not matter which adapter gets which address.
 * @returns the address of `adapter`; undefined unless the table has exactly one row, with an address of its own, for
 *   each adapter of that name
 */
function busOf(adapter: Adapter, adapters: readonly Adapter[], table: readonly TableRow[]): string | undefined {
  const twins = adapters.filter(({ model }) => model === adapter.model);
  const rows = table.filter(({ model }) => model === adapter.model);
  const buses = new Set(rows.flatMap(({ bus }) => bus ?? []));
  return buses.size === twins.length && rows.length === twins.length ? [...buses][twins.indexOf(adapter)] : undefined;
}

/**
 * @returns the info of a GPU that was not opened. Another GPU with the same name has the same info. Without such a GPU,
 *   the info is from the table
 */
function infoOfLike({ model }: Adapter, adapters: readonly Adapter[], table: readonly TableRow[]) {
  // Of several adapters with one name, Dawn opens the first.
  const twin = adapters.find((other) => other.model === model);
  if (twin?.info) return twin.info;
  const row = table.find((other) => other.model === model);
  return { vendor: (row && makerOf(row.vendorId)) ?? 'unknown', driver: 'unknown', software: row?.isCpu ?? false };
}

const ON_LINUX = process.platform === 'linux';
const WITHOUT_LAYER = ON_LINUX
  ? 'Mesa’s Vulkan layer, which would tell them apart, is missing or too old (install mesa-vulkan-drivers 23.3 or later, for cards of every maker)'
  : 'nothing on this system tells them apart';
const REMEDY = ON_LINUX
  ? 'to mine on both, run one pickaxe for each GPU in a container of its own (see docs/devices.md)'
  : 'only the first of them is used (see docs/devices.md)';

/*
 * Mesa's Vulkan layer VK_LAYER_MESA_device_select (Linux) lists the GPUs with their addresses, and hides all GPUs but
 * one from a process. It works with the drivers of all makers, including NVIDIA's. Source: Mesa's
 * `src/vulkan/device-select-layer/`; tried with Mesa 25.0.
 */

/** Environment in which the layer prints its table to stderr whenever a process lists the GPUs. */
export const WITH_TABLE: Environment = { MESA_VK_DEVICE_SELECT_DEBUG: '1' };

export interface TableRow {
  /**
   * The PCI number of the maker. Makers without a PCI number have a number of Vulkan: 0x10005 stands for Mesa's
   * software renderers.
   */
  readonly vendorId: number;
  readonly deviceId: number;
  /** The driver's name for the model. Dawn uses the same name. */
  readonly model: string;
  readonly isCpu: boolean;
  /** PCI address; absent when the driver does not report it. */
  readonly bus?: string;
}

const HEADING = 'selectable devices:';
const IDS = '([0-9a-f]+):([0-9a-f]+)';
const TYPE = '(other|integrated GPU|discrete GPU|virtual GPU|CPU)';
const BUS = '([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7])';
const ROW = new RegExp(`^  GPU \\d+: ${IDS} "(.*)" ${TYPE}(?: ${BUS})?$`);
/**
 * The address of the host bridge. If only some drivers report addresses, the layer prints the host bridge's address for
 * the GPUs of the other drivers.
 */
const NO_BUS = '0000:00:00.0';

/**
 * @param text output of a process, which contains the table several times. The beginning of the text may be cut off
 * @returns the rows of the last table; an empty list when the layer is not installed
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
 * @returns an environment in which a process sees only the GPU at this address. With Mesa before 23.3, the process sees
 *   all GPUs
 */
export function onlyAt(bus: string): Environment {
  // The exclamation mark makes the layer hide the other GPUs, if there is a GPU at this address. MESA_VK_DEVICE_SELECT
  // is emptied, because the user may have set it, and it has precedence over DRI_PRIME.
  return { DRI_PRIME: `pci-${bus.replace(/[:.]/g, '_')}!`, MESA_VK_DEVICE_SELECT: '' };
}
