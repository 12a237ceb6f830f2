/** Jobs for tests, from the vectors' headers and any target. */

import { readFileSync } from 'node:fs';
import { fromHex, WORK_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { type Job, prepareJob } from '#pickaxe/protocol/chain/job.js';
import { NO_NONCE1 } from '#pickaxe/protocol/chain/nonce.js';
import { parseWork } from '#pickaxe/protocol/chain/work.js';

export interface FirstVector {
  headerHex: string;
  targetHex: string;
  lane: number;
  page: number;
  start: number;
  counter: number;
  nonce: string;
}

export interface AllVector {
  headerHex: string;
  targetHex: string;
  lanes: number[];
  pages: number[];
  start: number;
  count: number;
  /** Lane, page, counter. */
  hits: [number, number, number][];
}

export const searchVectors: { first: FirstVector[]; all: AllVector[] } = JSON.parse(
  readFileSync(new URL('../vectors/search.json', import.meta.url), 'utf8'),
);

export const someHeaderHex = searchVectors.first[0].headerHex;
export const everythingSolves = 'ff'.repeat(32);
export const nothingSolves = '00'.repeat(32);

export function jobOf(headerHex: string, targetHex: string, nonce1 = NO_NONCE1): Job {
  const record = new Uint8Array(WORK_BYTES);
  record.set(fromHex(targetHex), WORK_OFFSET.target);
  record.set(fromHex(headerHex), WORK_OFFSET.header);
  return prepareJob(parseWork(record, { nonce1 }));
}
