/** Chooses how many threads hash, on which CPUs and at which priority. */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { formatCpuList } from '../../text/cpu-list.ts';
import { pinFault } from './pinning.ts';
import { priorityFault } from './priority.ts';
import { readTopology, type Topology } from './topology.ts';

/** More than any machine needs. A typing error must not start a million threads. */
const MAX_THREADS = 1024;

/** With more threads than this for each hardware thread, the miner would take minutes to start and to stop. */
const MOST_PER_HARDWARE_THREAD = 4;

/** Machines with more hardware threads than this keep one of them free. */
const USE_ALL_UP_TO = 2;

/** The lowest priority. It is the default, so that all other programs go first. */
const MAX_NICENESS = 19;

export interface ThreadWishes {
  /** 1 … 1024. By default `chooseThreads` chooses a number that leaves the machine usable. */
  readonly threads?: number;
  /** A different CPU for each thread, or 'none' to let the system place them. By default `chooseThreads` decides. */
  readonly affinity?: readonly number[] | 'none';
  /** The niceness of the hashing threads, 0 … 19. The default is 19. Windows and macOS have a few levels of it. */
  readonly niceness?: number;
}

export interface ThreadChoice {
  readonly threads: number;
  /** The CPU that each thread is pinned to; empty when the system places them. */
  readonly cpus: readonly number[];
  /** Absent when the priority of threads cannot be set here. */
  readonly niceness?: number;
  /** For people: why this many threads, why these CPUs, and why this niceness. */
  readonly why: string;
  /** For people: what is unwise about the choice, if anything. */
  readonly warning?: string;
}

/** What the machine and its administrators let this process use. */
export interface Allowance {
  /** How many hardware threads this process may use. */
  readonly count: number;
  /** Absent when the system does not report it. */
  readonly topology?: Topology;
  /** Why threads cannot be pinned; absent when they can. */
  readonly pinFault?: string;
  /** Why threads cannot be given a priority; absent when they can. */
  readonly priorityFault?: string;
}

/** @throws RangeError that says why a wish cannot be fulfilled. */
export function chooseThreads(wishes: ThreadWishes = {}, allowance = readAllowance()): ThreadChoice {
  const { threads, why, warning } = countThreads(wishes, allowance);
  const { cpus, why: where } = placeThreads(wishes.affinity, threads, allowance);
  const { niceness, why: how } = chooseNiceness(wishes.niceness, allowance);
  return {
    threads,
    cpus,
    ...(niceness !== undefined && { niceness }),
    why: [why, where, how].join('; '),
    ...(warning && { warning }),
  };
}

interface ThreadCount {
  readonly threads: number;
  readonly why: string;
  readonly warning?: string;
}

function countThreads({ threads, affinity }: ThreadWishes, { count, topology }: Allowance): ThreadCount {
  if (threads !== undefined) {
    if (!Number.isInteger(threads) || threads < 1 || threads > MAX_THREADS) {
      throw new RangeError(`the number of CPU threads is a whole number from 1 to ${MAX_THREADS}, not ${threads}`);
    }
    const most = MOST_PER_HARDWARE_THREAD * count;
    if (threads > most) {
      throw new RangeError(`${threads} CPU threads are too many for ${count} hardware threads: give ${most} at most`);
    }
    if (threads <= count) return { threads, why: 'asked for' };
    const warning = `${threads} CPU threads are more than the ${count} hardware threads, and hash no faster`;
    return { threads, why: 'asked for', warning };
  }
  if (Array.isArray(affinity)) return { threads: affinity.length, why: 'one on each CPU asked for' };

  const free = count > USE_ALL_UP_TO ? 1 : 0;
  const paid = Math.max(1, Math.floor(topology?.quota ?? count));
  if (paid < count - free) {
    return { threads: paid, why: `as many as the control group's quota of ${topology?.quota?.toFixed(2)} CPUs allows` };
  }
  const cores = topology?.cores.length ?? count;
  // The two threads of a core share its vector ports, which limit the kernels. A second thread can only use ports that the
  // first leaves idle: a sixth of them at most on Zen 5, almost none on Intel's chips. This is computed, not yet measured.
  const siblings = cores < count ? ` (on ${cores} cores)` : '';
  if (free > 0) return { threads: count - free, why: `one of ${count} hardware threads is left free${siblings}` };
  return { threads: count, why: `all ${count} hardware threads${siblings}` };
}

/**
 * Unless asked for, threads are pinned only when every CPU hashes. In that case, whenever a new job wakes the threads, the
 * system would put two of them on one CPU for milliseconds, and there is no free CPU to move to anyway. When a CPU is left
 * free, the system places threads just as well, and moves them out of the way of other processes.
 */
function placeThreads(affinity: ThreadWishes['affinity'], threads: number, { topology, pinFault }: Allowance) {
  const placed = (why: string) => ({ cpus: [], why });
  if (affinity === 'none') return placed('placed by the system, as asked for');
  if (affinity?.length === 0)
    throw new RangeError("CPU threads cannot be pinned to an empty list of CPUs: name some, or 'none'");
  if (new Set(affinity).size < (affinity?.length ?? 0)) {
    throw new RangeError(`CPU threads cannot be pinned to ${affinity}: name each CPU only once`);
  }
  const allowed = topology?.cores.flat() ?? [];
  if (affinity === undefined) {
    if (allowed.length < 2 || threads !== allowed.length) return placed('placed by the system');
    if (pinFault !== undefined) return placed(`not pinned: ${pinFault}`);
    return { cpus: allowed, why: 'each pinned to a CPU' };
  }
  if (pinFault !== undefined) throw new RangeError(`CPU threads cannot be pinned: ${pinFault}`);
  const foreign = affinity.filter((cpu) => !allowed.includes(cpu));
  if (foreign.length > 0) {
    const list = formatCpuList(allowed);
    throw new RangeError(`CPU threads cannot be pinned to CPU ${formatCpuList(foreign)}: this process may use ${list}`);
  }
  if (threads > affinity.length) {
    throw new RangeError(`${threads} CPU threads cannot be pinned to ${affinity.length} CPUs: name as many, or 'none'`);
  }
  const cpus = affinity.slice(0, threads);
  return { cpus, why: `pinned to ${cpus.length === 1 ? 'CPU' : 'CPUs'} ${formatCpuList(cpus)}` };
}

/** When a sandbox refuses to change priorities, mining must go on without that, unless a priority was asked for. */
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
  const topology = process.platform === 'linux' ? readTopology(textOf) : undefined;
  const noPinning = pinFault();
  const noPriority = priorityFault();
  return {
    count: countCpus(topology),
    ...(topology && { topology }),
    ...(noPinning !== undefined && { pinFault: noPinning }),
    ...(noPriority !== undefined && { priorityFault: noPriority }),
  };
}

/** When the quota is known, Node.js's count is not used: newer versions take the quota into account already. */
function countCpus(topology: Topology | undefined): number {
  const count = topology?.cores.flat().length ?? Number.POSITIVE_INFINITY;
  return topology?.quota === undefined ? Math.min(count, availableParallelism()) : count;
}

/** Which files /proc and /sys have depends on the kernel and the container, so a missing file is not an error. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
