/** Divides threads among the kinds of cores, and says on which CPUs each may run. Pure. */

import { formatCpuList } from '../../text/cpu-list.ts';
import type { CoreKind } from '../device.ts';
import { type Core, kindsOf } from './topology.ts';

/** The CPUs that a thread is confined to; none when the system places it. */
export type Place = readonly number[];

/** Threads on cores of one kind, which use the same kernel. */
export interface CoreGroup {
  /** Absent when all cores are alike, or when threads cannot be confined to a kind. */
  readonly kind?: CoreKind;
  /** One for each thread; at least one. */
  readonly places: readonly Place[];
}

/**
 * Gives each core a thread before any core gets a second one, and the performance cores first: a second thread on a core adds
 * little, because both share the core's vector ports.
 *
 * A group with as many threads as CPUs has each pinned to its own: whenever a new job wakes the threads, the system would put two
 * of them on one CPU for milliseconds, and there is no free CPU to move to anyway. Other groups are confined to the CPUs of their
 * kind, where the system moves them out of the way of other processes.
 *
 * @param cores of one or two kinds
 * @param threads how many threads; there may be more than CPUs
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

/** @param cpus the CPU of each thread */
export function groupPinned(cores: readonly Core[], cpus: readonly number[]): CoreGroup[] {
  const kindOf = (cpu: number) => cores.find((core) => core.cpus.includes(cpu))?.kind;
  const kinds = kindsOf(cores);
  if (kinds.length === 0) return [{ places: cpus.map((cpu) => [cpu]) }];
  return kinds
    .map((kind) => ({ kind, places: cpus.filter((cpu) => kindOf(cpu) === kind).map((cpu) => [cpu]) }))
    .filter(({ places }) => places.length > 0);
}

/** @returns the kind of core that each further thread should run on */
function seatsOf(cores: readonly Core[]): (CoreKind | undefined)[] {
  const kinds = kindsOf(cores);
  const sorted = kinds.flatMap((kind) => cores.filter((core) => core.kind === kind));
  const most = Math.max(...cores.map(({ cpus }) => cpus.length));
  return Array.from({ length: most }, (_, i) => sorted.filter(({ cpus }) => cpus.length > i))
    .flat()
    .map(({ kind }) => kind);
}

/** @returns `15 threads on performance cores (CPUs 0-15), 16 on efficiency cores (CPUs 16-31)`, for people */
export function describeGroups(groups: readonly CoreGroup[]): string {
  return groups
    .map(({ kind, places }, i) => {
      const cpus = [...new Set(places.flat())];
      const threads = i > 0 ? '' : places.length === 1 ? ' thread' : ' threads';
      return `${places.length}${threads} on ${kind} cores (${cpus.length === 1 ? 'CPU' : 'CPUs'} ${formatCpuList(cpus)})`;
    })
    .join(', ');
}
