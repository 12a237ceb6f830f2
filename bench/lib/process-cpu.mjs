// Reads the processor time of other processes by thread, how much they have read, and their memory. It uses Linux's
// /proc.

import { readdirSync, readFileSync } from 'node:fs';

/** The names of threads without a special name: that of the process, or a name that Node.js or V8 gives. */
const NODE_NAMES = /^(node|MainThread|V8Worker|DelayedTaskSche|SignalInspector|libuv-worker)$/;

/** @returns by the threads' ids, oldest first: name, and nanoseconds on a processor so far */
export function threadTimes(pid) {
  const times = new Map();
  const tids = readdirSync(`/proc/${pid}/task`).map(Number);
  for (const tid of tids.sort((a, b) => a - b)) {
    try {
      const name = readFileSync(`/proc/${pid}/task/${tid}/comm`, 'utf8').trim();
      const ns = Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, 'utf8').split(' ')[0]);
      times.set(tid, { name, ns });
    } catch {
      // The thread has just ended.
    }
  }
  return times;
}

/**
 * What a GPU's process did between two readings of `threadTimes`, in milliseconds. `main` runs the JavaScript; `others`
 * are Node's, V8's and Dawn's. All threads from the first one with a special name on count as the `driver`'s, because
 * some of Mesa's have no name.
 */
export function between(pid, before, after) {
  const times = { main: 0, others: 0, driver: 0 };
  const firstOfDriver = [...after].find(([, { name }]) => !NODE_NAMES.test(name))?.[0] ?? Number.POSITIVE_INFINITY;
  for (const [tid, { ns }] of after) {
    const whose = tid === pid ? 'main' : tid < firstOfDriver ? 'others' : 'driver';
    times[whose] += (ns - (before.get(tid)?.ns ?? 0)) / 1e6;
  }
  return times;
}

/** @returns how much a process has read so far, from files and sockets */
export function bytesRead(pid) {
  return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))[1]);
}

/** @returns a process's memory in RAM; undefined when it has ended */
export function rssKib(pid) {
  return memoryKib(pid, 'VmRSS');
}

/** @returns the most memory in RAM that a process has had */
export function peakRssKib(pid) {
  return memoryKib(pid, 'VmHWM');
}

function memoryKib(pid, field) {
  try {
    const [, kib] = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kib && Number(kib);
  } catch {
    return undefined;
  }
}

/** @returns the processor time of a process's main thread so far, in ms */
export function mainThreadMs(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

/** @returns the processor time of a process and its threads so far, in seconds */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
