/** Parsers of option values: each gives a value or a UsageError that says what is expected. */

import { InvalidArgumentError } from 'commander';
import { MAX_CPUS, parseCpuList } from '../engine/cpu/topology.ts';
import { httpAddress } from './http-address.ts';

export function positiveInteger(most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || value > most) {
      throw new InvalidArgumentError(`Give a whole number from 1 to ${most}.`);
    }
    return value;
  };
}

export function positiveSeconds(text: string): number {
  const value = Number(text);
  // setTimeout's longest wait is 2^31 ms; a bounded run is shorter.
  if (!/^\d+(\.\d+)?$/.test(text) || value <= 0 || value > 2_000_000) {
    throw new InvalidArgumentError('Give a number of seconds above 0 and up to 2000000.');
  }
  return value;
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

/** Where to serve HTTP: kept as it is written. */
export function checkedAddress(text: string): string {
  try {
    httpAddress(text);
  } catch (fault) {
    throw new InvalidArgumentError((fault as Error).message);
  }
  return text;
}
