/** Chooses the number of hashing threads, their CPUs and their priority. */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { formatCpuList } from '../../../base/text/quantities.ts';
import type { CoreKind } from '../device.ts';
import { pinFault, priorityFault } from './affinity.ts';
import { type AddonCore, addonCores } from './kernels/native-kernels.ts';
import { type Core, kindsOf, readTopology, type Topology, topologyOf } from './topology.ts';

/** Maximum number of threads that a user can ask for, so that a typing error does not start a million threads. */
const MAX_THREADS = 1024;

/** Maximum number of threads per hardware thread. With more, the miner would take minutes to start and to stop. */
const MOST_PER_HARDWARE_THREAD = 4;

/**
 * By default, a process that may use at most this number of hardware threads mines with all of them. If a process may
 * use more, one hardware thread stays free by default, unless only one of two kinds of cores mines. A quota can lower
 * the number of threads further.
 */
const USE_ALL_UP_TO = 2;

/** Maximum niceness, with which all other programs go first. This is also the default. */
const MAX_NICENESS = 19;

export interface ThreadOptions {
  /**
   * Number of threads: 1 … 1024, and at most four for each hardware thread. Alternatively, a percentage of the CPUs in
   * `affinity` or, without that list, of the allowed hardware threads within the quota. The result is rounded down, but
   * is at least one thread. By default `countThreads` chooses a number that leaves the machine usable.
   */
  readonly threads?: number | `${number}%`;
  /**
   * The kind of cores that mine; by default all cores mine. If all cores are alike, they count as performance cores.
   */
  readonly cores?: CoreKind | 'all';
  /**
   * Numbers of the CPUs to which threads are pinned, one thread to each. With 'none', the system places all threads. By
   * default `placeThreads` decides.
   */
  readonly affinity?: readonly number[] | 'none';
  /** Niceness of the threads, 0 … 19. The default is 19. Windows and macOS have fewer levels. */
  readonly niceness?: number;
}

export interface ThreadChoice {
  readonly threads: number;
  /**
   * The threads by the kind of their cores. There is only one group where all cores are alike, and when the threads are
   * not confined to a kind of cores.
   */
  readonly groups: readonly CoreGroup[];
  /** Niceness of the threads, 0 … 19; absent when the priority cannot be set here. */
  readonly niceness?: number;
  /** For people: the reasons for the number of threads, the CPUs and the niceness. */
  readonly why: string;
  /** For people: a drawback of the number of threads. */
  readonly warning?: string;
}

/** What the system allows this process. */
export interface Allowance {
  /** Number of hardware threads (CPUs) that this process may use. */
  readonly count: number;
  /** The cores and the quota; absent when the system does not report them. */
  readonly topology?: Topology;
  /** For people: why threads cannot be pinned here; absent when they can be pinned. */
  readonly pinFault?: string;
  /** For people: why threads cannot change their priority here; absent when they can. */
  readonly priorityFault?: string;
}

/**
 * Chooses the threads by the user's options, within what the system allows.
 * @throws RangeError when an option cannot be fulfilled. The message has the reason
 */
export function chooseThreads(wanted: ThreadOptions = {}, allowance = readAllowance()): ThreadChoice {
  const selection = selectCores(wanted, allowance);
  const { threads, why, warning } = countThreads(wanted, selection);
  const { groups, why: where } = placeThreads(wanted.affinity, threads, selection);
  const { niceness, why: how } = chooseNiceness(wanted.niceness, allowance);
  return {
    threads,
    groups,
    ...(niceness !== undefined && { niceness }),
    why: [why, where, how].join('; '),
    ...(warning && { warning }),
  };
}

interface Selection extends Allowance {
  /** The only kind of cores that mines; absent when all allowed cores mine. */
  readonly kind?: CoreKind;
}

/**
 * @throws RangeError when this process may not use cores of the wanted kind, or when threads cannot be confined to
 *   those cores
 */
function selectCores({ cores: asked = 'all', affinity }: ThreadOptions, allowance: Allowance): Selection {
  const { topology, pinFault } = allowance;
  const kinds = kindsOf(topology?.cores ?? []);
  if (asked === 'all') return allowance;
  if (kinds.length === 0) {
    if (asked === 'performance') return allowance;
    throw new RangeError('there are no efficiency cores to choose: as far as the system says, all cores are alike');
  }
  if (!kinds.includes(asked)) throw new RangeError(`this process may use no ${asked} cores, only ${kinds[0]} cores`);
  if (kinds.length === 1) return allowance;
  const confine = `CPU threads cannot be confined to ${asked} cores`;
  if (pinFault !== undefined) throw new RangeError(`${confine}: ${pinFault}`);
  if (affinity === 'none') throw new RangeError(`${confine} and placed by the system as well: choose one of both`);
  const cores = topology?.cores.filter(({ kind }) => kind === asked) ?? [];
  return { ...allowance, kind: asked, count: cpusOf(cores).length, topology: { ...topology, cores } };
}

function cpusOf(cores: readonly Core[] = []): number[] {
  return cores.flatMap(({ cpus }) => cpus);
}

interface ThreadCount {
  readonly threads: number;
  readonly why: string;
  readonly warning?: string;
}

function countThreads({ threads, affinity }: ThreadOptions, { count, topology, kind }: Selection): ThreadCount {
  const of = kind === undefined ? '' : ` of ${kind} cores`;
  if (typeof threads === 'string') {
    const usable = Array.isArray(affinity) ? affinity.length : Math.min(count, topology?.quota ?? count);
    const part = Math.max(1, Math.floor((usable * Number.parseInt(threads, 10)) / 100));
    return { threads: part, why: `${threads} of ${+usable.toFixed(2)} hardware threads${of}, as asked for` };
  }
  if (threads !== undefined) {
    if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
      throw new RangeError(`the number of CPU threads is a whole number from 1 to ${MAX_THREADS}, not ${threads}`);
    }
    const most = MOST_PER_HARDWARE_THREAD * count;
    if (threads > most) {
      throw new RangeError(
        `${threads} CPU threads are too many for ${count} hardware threads${of}: give ${most} at most`,
      );
    }
    if (threads <= count) return { threads, why: 'asked for' };
    const warning = `${threads} CPU threads are more than the ${count} hardware threads${of}, and hash no faster`;
    return { threads, why: 'asked for', warning };
  }
  if (Array.isArray(affinity)) return { threads: affinity.length, why: 'one on each CPU asked for' };

  // If only one kind of cores mines, the cores of the other kind are free for other programs.
  const free = count > USE_ALL_UP_TO && kind === undefined ? 1 : 0;
  const paid = Math.max(1, Math.floor(topology?.quota ?? count));
  if (paid < count - free) {
    return { threads: paid, why: `as many as the control group's quota of ${topology?.quota?.toFixed(2)} CPUs allows` };
  }
  const cores = topology?.cores.length ?? count;
  // The two hardware threads of a core share its vector ports, which limit the speed of the kernels. A second thread
  // can use only the cycles of the ports that the first thread leaves idle: at most a sixth on Zen 5, almost none on
  // Intel's chips (computed, not measured). So `why` also has the number of cores.
  const siblings = cores < count ? ` (on ${cores} cores)` : '';
  if (free > 0) return { threads: count - free, why: `one of ${count} hardware threads is left free${siblings}` };
  return { threads: count, why: `all ${count} hardware threads${of}${siblings}` };
}

interface Placing {
  readonly groups: readonly CoreGroup[];
  readonly why: string;
}

/**
 * Places the threads. Where all cores are alike, threads are pinned by default only if there are several CPUs and
 * exactly one thread for each. With any other number of threads, the system places the threads. It does that just as
 * well, and moves threads out of the way of other processes. For two kinds of cores, see `groupThreads`.
 */
function placeThreads(affinity: ThreadOptions['affinity'], threads: number, selection: Selection): Placing {
  const { topology, pinFault, kind } = selection;
  if (affinity !== undefined && affinity !== 'none') return pinAsAsked(affinity, threads, selection);
  const cores = topology?.cores ?? [];
  const kinds = kindsOf(cores);
  // If this process may use only cores of one kind, all threads run on cores of that kind.
  const only = kinds.length === 1 && { kind: kinds[0] };
  const anywhere = (why: string) => ({ groups: [{ ...only, places: new Array<Place>(threads).fill([]) }], why });
  if (affinity === 'none') return anywhere('placed by the system, as asked for');
  if (kinds.length > 1 || kind !== undefined) {
    if (pinFault !== undefined) return anywhere(`on cores of both kinds, as the system places them: ${pinFault}`);
    const groups = groupThreads(cores, threads);
    return { groups, why: describeGroups(groups) };
  }
  const on = only ? `, on the ${only.kind} cores, which are all that this process may use` : '';
  const allowed = cpusOf(cores);
  if (allowed.length < 2 || threads !== allowed.length) return anywhere(`placed by the system${on}`);
  if (pinFault !== undefined) return anywhere(`not pinned: ${pinFault}${on}`);
  return { groups: [{ ...only, places: allowed.map((cpu) => [cpu]) }], why: `each pinned to a CPU${on}` };
}

function pinAsAsked(affinity: readonly number[], threads: number, { topology, pinFault, kind }: Selection): Placing {
  if (affinity.length === 0) {
    throw new RangeError("CPU threads cannot be pinned to an empty list of CPUs: name some, or 'none'");
  }
  if (new Set(affinity).size < affinity.length) {
    throw new RangeError(`CPU threads cannot be pinned to ${affinity}: name each CPU only once`);
  }
  if (pinFault !== undefined) throw new RangeError(`CPU threads cannot be pinned: ${pinFault}`);
  const cores = topology?.cores ?? [];
  const allowed = cpusOf(cores);
  const foreign = affinity.filter((cpu) => !allowed.includes(cpu));
  if (foreign.length > 0) {
    const list = `${formatCpuList(allowed)}${kind === undefined ? '' : ` as ${kind} cores`}`;
    throw new RangeError(`CPU threads cannot be pinned to CPU ${formatCpuList(foreign)}: this process may use ${list}`);
  }
  if (threads > affinity.length) {
    throw new RangeError(`${threads} CPU threads cannot be pinned to ${affinity.length} CPUs: name as many, or 'none'`);
  }
  const cpus = affinity.slice(0, threads);
  const groups = groupPinned(cores, cpus);
  const [{ kind: known }] = groups;
  const where = known === undefined ? '' : `: ${describeGroups(groups)}`;
  return { groups, why: `pinned to ${cpus.length === 1 ? 'CPU' : 'CPUs'} ${formatCpuList(cpus)}${where}` };
}

/**
 * If threads cannot change their priority here, as in some sandboxes, the priority stays as it is, unless the user
 * asked for a niceness.
 * @throws RangeError when the user asked for a niceness that is not 0 … 19, or that cannot be set
 */
function chooseNiceness(asked: number | undefined, { priorityFault }: Allowance) {
  const niceness = asked ?? MAX_NICENESS;
  if (!Number.isInteger(niceness) || niceness < 0 || niceness > MAX_NICENESS) {
    throw new RangeError(`the niceness of CPU threads is a whole number from 0 to ${MAX_NICENESS}, not ${niceness}`);
  }
  if (priorityFault === undefined) return { niceness, why: `niceness ${niceness}` };
  if (asked === undefined) return { why: `priority unchanged: ${priorityFault}` };
  throw new RangeError(`CPU threads cannot be given niceness ${niceness}: ${priorityFault}`);
}

function readAllowance(): Allowance {
  const { platform } = process;
  const topology = platform === 'linux' ? readTopology(textOf) : topologyOf(coresOrNone(), platform === 'darwin');
  const noPinning = pinFault();
  const noPriority = priorityFault();
  return {
    count: countCpus(topology),
    ...(topology && { topology }),
    ...(noPinning !== undefined && { pinFault: noPinning }),
    ...(noPriority !== undefined && { priorityFault: noPriority }),
  };
}

/**
 * @returns the number of CPUs that this process may use. If there is a quota, `availableParallelism` is ignored,
 *   because its result is limited by the quota in newer versions of Node.js
 */
function countCpus(topology: Topology | undefined): number {
  const count = topology === undefined ? Number.POSITIVE_INFINITY : cpusOf(topology.cores).length;
  return topology?.quota === undefined ? Math.min(count, availableParallelism()) : count;
}

/**
 * If the native addon cannot list the cores, the list is empty. pickaxe mines even so, and all cores count as alike.
 */
function coresOrNone(): readonly AddonCore[] {
  try {
    return addonCores();
  } catch {
    return [];
  }
}

/** The kernel and the container decide which files exist in /proc and /sys, so a missing file is not an error. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/* Threads for each kind of cores: pure functions */

/** Numbers of the CPUs that a thread is confined to; empty when the system places the thread. */
export type Place = readonly number[];

/**
 * The threads on cores of one kind, or all threads if no kinds are distinguished. The threads of a group use the same
 * kernel.
 */
export interface CoreGroup {
  /** Absent when all cores are alike, and when the threads are not confined to a kind of cores. */
  readonly kind?: CoreKind;
  /** One place for each thread. */
  readonly places: readonly Place[];
}

/**
 * Gives each core one thread before any core gets a second one, and begins with the performance cores. A second thread
 * on a core adds little, because both threads share the core's vector ports.
 *
 * If a group has as many threads as CPUs, each thread is pinned to one CPU. Without pinning, the system would put two
 * threads on one CPU for milliseconds whenever a new job wakes the threads. The threads of any other group may run on
 * all CPUs of their kind, where the system moves them out of the way of other processes.
 *
 * @param cores the cores, of one or two kinds
 * @param threads number of threads, which may exceed the number of CPUs
 */
export function groupThreads(cores: readonly Core[], threads: number): CoreGroup[] {
  const seats = seatsOf(cores);
  const kinds = Array.from({ length: threads }, (_, i) => seats[i % seats.length]);
  return kindsOf(cores).flatMap((kind) => {
    const cpus = cores.filter((core) => core.kind === kind).flatMap((core) => core.cpus);
    const count = kinds.filter((each) => each === kind).length;
    if (count === 0) return [];
    const places = count === cpus.length ? cpus.map((cpu) => [cpu]) : new Array<Place>(count).fill(cpus);
    return [{ kind, places }];
  });
}

function groupPinned(cores: readonly Core[], cpus: readonly number[]): CoreGroup[] {
  const kindOf = (cpu: number) => cores.find((core) => core.cpus.includes(cpu))?.kind;
  const kinds = kindsOf(cores);
  if (kinds.length === 0) return [{ places: cpus.map((cpu) => [cpu]) }];
  return kinds
    .map((kind) => ({ kind, places: cpus.filter((cpu) => kindOf(cpu) === kind).map((cpu) => [cpu]) }))
    .filter(({ places }) => places.length > 0);
}

/**
 * @returns one element for each CPU, in the order in which the CPUs are given to threads: the kind of the CPU's core
 */
function seatsOf(cores: readonly Core[]): (CoreKind | undefined)[] {
  const kinds = kindsOf(cores);
  const sorted = kinds.flatMap((kind) => cores.filter((core) => core.kind === kind));
  const most = Math.max(...cores.map(({ cpus }) => cpus.length));
  return Array.from({ length: most }, (_, i) => sorted.filter(({ cpus }) => cpus.length > i))
    .flat()
    .map(({ kind }) => kind);
}

function describeGroups(groups: readonly CoreGroup[]): string {
  return groups
    .map(({ kind, places }, i) => {
      const cpus = [...new Set(places.flat())];
      const threads = i > 0 ? '' : places.length === 1 ? ' thread' : ' threads';
      return `${places.length}${threads} on ${kind} cores (${cpus.length === 1 ? 'CPU' : 'CPUs'} ${formatCpuList(cpus)})`;
    })
    .join(', ');
}
