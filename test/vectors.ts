/** Reads the vector files, with their types. */

import { readFileSync } from 'node:fs';

const load = (name: string) => JSON.parse(readFileSync(new URL(`./vectors/${name}`, import.meta.url), 'utf8'));

export interface HeaderVector {
  chainId: number;
  height: number;
  headerHex: string;
  targetHex: string;
  powHashHex: string;
  nonce: string;
  creationTime: number;
}

export const headers: HeaderVector[] = load('headers.json');
export const negativeHeaders: (HeaderVector & { powOk: boolean; why: string })[] = load('negative-headers.json');
export const powCompare: { headerHex: string; targetHex: string; expect: boolean; why: string }[] =
  load('pow-compare.json');
export const blake2sKat: { in: string; out: string }[] = load('blake2s-kat.json');

export interface WorkVector {
  chainId: number;
  height: number;
  workHex: string;
  smallestNonceFromZero: string;
}
export const workRecords: Record<string, WorkVector[]> = load('work-records.json');
