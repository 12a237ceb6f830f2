/** Parses and formats quantities as people write them: `1h30m`, `10M`, `20 GH/s`. */

/** A decimal number with at most 20 digits before and 20 after the point. More digits would be a typing error. */
const COUNT = String.raw`\d{1,20}(?:\.\d{1,20})?`;

/** Matches a number of seconds, such as `90`, or days, hours, minutes and seconds in this order, such as `1h30m`. */
export const TIME = new RegExp(
  `^(?:${COUNT}|(?=\\d)(?:(${COUNT})d)?(?:(${COUNT})h)?(?:(${COUNT})m)?(?:(${COUNT})s)?)$`,
);
/** Matches `800M`, `20GH/s`, `20 GH/s` and plain numbers. */
export const HASHRATE = new RegExp(`^(${COUNT})(?: ?(?=\\S)([kMGTP]?)(?:H/s)?)?$`);
const SIZE = new RegExp(`^(${COUNT})([kMG]?)$`);

const SECONDS = [86_400, 3_600, 60, 1];
const BYTES: Units = { G: 1024 ** 3, M: 1024 ** 2, k: 1024, '': 1 };
const HASHES: Units = { P: 1e15, T: 1e12, G: 1e9, M: 1e6, k: 1e3, '': 1 };

/** For each unit's letter, its factor. The largest factor comes first. The key of the factor 1 is the empty text. */
type Units = Readonly<Record<string, number>>;

/** @returns seconds, from `90`, `90s`, `90m`, `1h30m` or `2d`; undefined for any other text */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const counts = match.slice(1);
  if (counts.every((count) => count === undefined)) return Number(text);
  return counts.reduce((sum, count, index) => sum + Number(count ?? 0) * SECONDS[index], 0);
}

/** @returns bytes, from `500k`, `10M`, `1G` (powers of 1024) or a plain number; undefined for any other text */
export function parseSize(text: string): number | undefined {
  return parse(text, SIZE, BYTES);
}

/**
 * @returns H/s, from `800M`, `20G`, `20 GH/s`, `1.5T` (powers of 1000) or a plain number; undefined for any other text
 */
export function parseHashrate(text: string): number | undefined {
  return parse(text, HASHRATE, HASHES);
}

/**
 * @returns the shortest text, such as `10M`, from which `parseSize` reads these bytes. A unit is used only if the value
 *   is at least one such unit
 */
export function formatSize(bytes: number): string {
  return format(bytes, BYTES);
}

/**
 * @returns the shortest text, such as `20G`, from which `parseHashrate` reads these H/s. A unit is used only if the
 *   value is at least one such unit: `900M`, not `0.9G`
 */
export function formatHashrate(hashrate: number): string {
  return format(hashrate, HASHES);
}

function parse(text: string, pattern: RegExp, units: Units): number | undefined {
  const [, count, unit = ''] = pattern.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * units[unit];
}

function format(value: number, units: Units): string {
  const texts = Object.entries(units)
    .filter(([, factor]) => factor === 1 || (factor <= value && (value / factor) * factor === value))
    .map(([unit, factor]) => `${value / factor}${unit}`);
  return texts.reduce((shortest, text) => (text.length < shortest.length ? text : shortest));
}

/** @param what a noun in the singular @returns `1 thread`, `3 threads` */
export function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** CPU numbers must be below this number: it is the size of the native addon's CPU sets, in bits. */
export const MAX_CPUS = 1024;

/**
 * @param text a list as Linux writes it: `0-3,8,10-11`
 * @returns ascending, distinct numbers; undefined when the text is not such a list, or has a number of MAX_CPUS or more
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

/** @param cpus distinct numbers @returns the shortest list from which `parseCpuList` reads these CPUs */
export function formatCpuList(cpus: readonly number[]): string {
  const runs: [first: number, last: number][] = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run && cpu === run[1] + 1) run[1] = cpu;
    else runs.push([cpu, cpu]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
