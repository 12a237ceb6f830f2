/** Parsers of option values: each gives a value or a UsageError that says what is expected. */

import { InvalidArgumentError } from 'commander';
import { MAX_CPUS, parseCpuList } from '../engine/cpu/topology.ts';

export function positiveInteger(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || value > most) {
      throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
    }
    return value;
  };
}

const SECONDS = { '': 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** Seconds, or a time with its unit: `90`, `90m`, `8h`, `2d`. */
export function positiveSeconds(text: string): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(text) ?? [];
  const value = Number(number) * SECONDS[unit as keyof typeof SECONDS];
  // setTimeout's longest wait is 2^31 ms; a bounded run is shorter.
  if (!(value > 0 && value <= 2_000_000)) {
    throw new InvalidArgumentError('Give seconds, or a time like 90m, 8h or 2d: above 0, and up to 2000000 seconds.');
  }
  return value;
}

/** What tells when somebody used the machine is exact to 8 seconds at worst; a day is as good as never. */
export function idleSeconds(text: string): number {
  const value = positiveSeconds(text);
  if (value < 10 || value > 86_400) throw new InvalidArgumentError('Give 10 seconds or more, up to a day.');
  return value;
}

const BYTES = { '': 1, k: 1024, M: 1024 ** 2, G: 1024 ** 3 };

/** Bytes: `500k`, `10M`, `1G`. */
export function byteSize(text: string): number {
  const [, number, unit = ''] = /^(\d+)([kKMG]?)$/.exec(text) ?? [];
  const value = Number(number) * BYTES[(unit === 'K' ? 'k' : unit) as keyof typeof BYTES];
  // Smaller, and it would be all rotating; larger, and no editor opens it.
  if (!(value >= 1024 && value <= 1024 ** 4)) {
    throw new InvalidArgumentError('Give a size like 500k, 10M or 1G: 1k at least, 1024G at most.');
  }
  return value;
}

/** Names between commas. */
export function names(text: string): string[] {
  return text.split(',').map((name) => name.trim());
}

/** What a GPU's dispatch should take. */
export function batchMilliseconds(text: string): number {
  const value = Number(text);
  // Shorter ones end unseen between two looks at them; longer ones make a driver take the GPU for hung.
  if (!/^\d+(\.\d+)?$/.test(text) || value < 2 || value > 1_000) {
    throw new InvalidArgumentError('Give milliseconds from 2 to 1000.');
  }
  return value;
}

/** °C: a whole number within what chips bear. */
export function celsius(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 30 || value > 120) throw new InvalidArgumentError('Give °C from 30 to 120.');
  return value;
}

export function celsiusOrNone(text: string): number | 'none' {
  return text === 'none' ? text : celsius(text);
}

/** A thread's niceness, as far as anybody may choose it. */
export function niceness(text: string): number {
  if (!/^(\d|1\d)$/.test(text)) throw new InvalidArgumentError('Give a niceness from 0 (normal) to 19 (the kindest).');
  return Number(text);
}

export function cpuAffinity(text: string): number[] | 'none' {
  if (text === 'none') return text;
  const cpus = parseCpuList(text);
  if (!cpus) throw new InvalidArgumentError(`Name CPUs like 0,2-5, each below ${MAX_CPUS}, or none.`);
  return cpus;
}

/** Gathers the values of an option that may be given several times. */
export function gather(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

export function publicKey(text: string, before: string[] | undefined): string[] {
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    throw new InvalidArgumentError('A public key is 64 hex digits. Make one with: pickaxe keygen');
  }
  return gather(text.toLowerCase(), before);
}

export function deviceNames(text: string): string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!/^(cpu|gpu|gpu\d{1,3})$/.test(name)) {
      throw new InvalidArgumentError('Name devices like cpu,gpu0,gpu1 (gpu means all of them). See: pickaxe devices');
    }
  }
  return [...new Set(names)];
}
