/** Quantities as people write them: `90m`, `10M`, `20G`. A leaf. */

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 };
const BYTES = { k: 1024, M: 1024 ** 2, G: 1024 ** 3 };
const HASHES = { k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };

/** @returns seconds, of `90`, `90s`, `90m`, `8h` or `2d`; undefined of anything else */
export function parseTime(text: string): number | undefined {
  return parse(text, SECONDS);
}

/** @returns bytes, of `500k`, `10M`, `1G` or a plain number; undefined of anything else */
export function parseSize(text: string): number | undefined {
  return parse(text, BYTES);
}

/** @returns H/s, of `800M`, `20G`, `1.5T` or a plain number; undefined of anything else */
export function parseHashrate(text: string): number | undefined {
  return parse(text, HASHES);
}

function parse(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, number, unit] = /^(\d{1,20}(?:\.\d{1,20})?)([a-zA-Z]?)$/.exec(text) ?? [];
  const factor = unit === '' ? 1 : units[unit];
  return number === undefined || factor === undefined ? undefined : Number(number) * factor;
}
