/** Parses and formats lists of CPUs as Linux writes them, such as `0,2-5`. */

/** CPU numbers must be below this: the addon's CPU sets have this many bits. */
export const MAX_CPUS = 1024;

/**
 * @param text a list such as `0-3,8,10-11`
 * @returns ascending and distinct numbers; undefined when the text is not such a list, or has a number of MAX_CPUS or above
 */
export function parseCpuList(text: string): number[] | undefined {
  const cpus = new Set<number>();
  for (const part of text.trim().split(',')) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    if (!match) return undefined;
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first > last || last >= MAX_CPUS) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((a, b) => a - b);
}

/** @returns the shortest list from which `parseCpuList` reads these CPUs */
export function formatCpuList(cpus: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && cpu === run[1] + 1) run[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
