/**
 * Tells GPUs apart that Dawn cannot. Dawn picks by a part of the name: `RTX 3080` may give a `RTX 3080 Ti`, and two cards
 * of one model are the same to it. Where Mesa's layer is installed, each of them gets a process that sees it alone, and
 * that is tried before it is relied on.
 */

import type { Environment } from './gpu-process.ts';
import { onlyAt, type TableRow } from './isolation.ts';
import { makerOf } from './pci.ts';
import type { Adapter } from './protocol.ts';

/** Processes at once that each start the drivers of all GPUs: more would slow each other down. Good enough. */
const LOOKS_AT_ONCE = 4;

/** What is known about a GPU. */
export interface Found {
  /** Dawn's name of it. */
  readonly model: string;
  readonly backend: string;
  readonly vendor: string;
  readonly driver: string;
  readonly software: boolean;
  /** PCI address, where it is known for certain. */
  readonly bus?: string;
  /** Makes the GPU's process see it alone; absent where its name is enough. */
  readonly environment?: Environment;
  /** Another adapter is the same card, through another driver: both have the same address. */
  readonly double?: true;
  /** For people: why it cannot be used, and what to do. */
  readonly fault?: string;
}

/** Lists the adapters that a process of this environment sees. @throws Error when there are none, or it takes too long. */
export type Look = (environment: Environment) => Promise<readonly Adapter[]>;

/** What came of trying to isolate a GPU. */
type Attempt = { readonly found: Found } | { readonly reason: string };

/**
 * @param adapters all of them, in Dawn's order
 * @param table of Mesa's layer; empty without it
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
 * One card can have two drivers, like AMD's RADV and AMDVLK: of its adapters one is the card, the others are doubles.
 * @param found of each adapter, as if there were no doubles
 */
function markDoubles(found: readonly Found[], adapters: readonly Adapter[], table: readonly TableRow[]): Found[] {
  const buses = adapters.map((adapter) => busOf(adapter, adapters, table));
  return found.map((gpu, i) => {
    const usable = found.filter((other, j) => buses[i] && buses[j] === buses[i] && other.fault === undefined);
    // An adapter whose address is certain is preferred, and the first of those.
    const card = usable.find(({ bus }) => bus) ?? usable[0];
    if (!card || card === gpu) return gpu;
    const { environment, fault, ...double } = gpu;
    return { ...double, bus: buses[i]!, double: true };
  });
}

/** Whether its name is a part of another adapter's name, too. */
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
 * What is known about a GPU that can be asked for by its name only. For a name Dawn gives the first GPU of that name. Where
 * others of the name have processes of their own, that might be one of them.
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

/** The address of the n-th row of a name is the n-th adapter's: whose is whose does not matter, but all must have one. */
function busOf(adapter: Adapter, adapters: readonly Adapter[], table: readonly TableRow[]): string | undefined {
  const twins = adapters.filter(({ model }) => model === adapter.model);
  const rows = table.filter(({ model }) => model === adapter.model);
  const buses = new Set(rows.flatMap(({ bus }) => bus ?? []));
  return buses.size === twins.length && rows.length === twins.length ? [...buses][twins.indexOf(adapter)] : undefined;
}

/** What is known of a GPU that was not opened: what another of its name said, or the table. */
function infoOfLike({ model }: Adapter, adapters: readonly Adapter[], table: readonly TableRow[]) {
  const twin = adapters.find((other) => other.model === model && other.info);
  if (twin?.info) return twin.info;
  const row = table.find((other) => other.model === model);
  return { vendor: (row && makerOf(row.vendorId)) ?? 'unknown', driver: 'unknown', software: row?.isCpu ?? false };
}

const ON_LINUX = process.platform === 'linux';
const WITHOUT_LAYER = ON_LINUX
  ? 'Mesa’s Vulkan layer, which would tell them apart, is missing or too old (install mesa-vulkan-drivers 23.3 or later, for cards of every maker)'
  : 'nothing on this system tells them apart';
const REMEDY = ON_LINUX
  ? 'to mine on both, run one pickaxe for each GPU in a container of its own (see docs/gpus.md)'
  : 'only the first of them is used (see docs/gpus.md)';
