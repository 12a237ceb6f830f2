/**
 * Outcomes of many generated inputs, compared with those that were recorded, so that no change of one goes unseen.
 * Other tests and public suites say which outcomes are right. `RECORD=1` writes the record anew: read then what the
 * test has named as changed. A record is compared and written by whole files, so neither works with `-t`.
 */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { encodeBase64url, JsonNumber } from '#pickaxe/protocol/ledger/json.js';
import { atFileEnd } from './file-end.ts';

/** An input, and what has become of it. */
export interface Recorded {
  readonly input: string;
  readonly outcome: string;
}

/** Number of hexadecimal digits of the hash of each outcome. */
const DIGITS = 6;
/** Maximum number of changed outcomes that a failure names. */
const MOST_NAMED = 5;

/**
 * @param file a JSON file: by group, the hashes of its outcomes one after the other
 * @returns a function that compares the outcomes of a group
 */
export function recordIn(file: URL): (group: string, outcomes: readonly Recorded[]) => void {
  const isRecording = process.env.RECORD !== undefined;
  const known: Record<string, string> = isRecording ? {} : JSON.parse(readFileSync(file, 'utf8'));
  const now: Record<string, string> = {};
  atFileEnd(() => {
    if (isRecording) writeFileSync(file, `${JSON.stringify(now, null, 2)}\n`);
    else expect(Object.keys(now).sort(), `groups of ${file}`).toEqual(Object.keys(known).sort());
  });
  return (group, outcomes) => {
    const hashes = outcomes.map(({ input, outcome }) => hashOf(`${input}\n${outcome}`));
    now[group] = hashes.join('');
    if (isRecording) return;
    const before = known[group] ?? '';
    const changed = outcomes.filter((_, i) => hashes[i] !== before.slice(i * DIGITS, (i + 1) * DIGITS));
    expect(changed.slice(0, MOST_NAMED)).toEqual([]);
    expect(before).toHaveLength(now[group].length);
  };
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, DIGITS);
}

/** @returns JSON in which nothing is lost that JSON cannot express */
export function written(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (typeof each === 'bigint') return `${each}n`;
    if (each instanceof JsonNumber) return `number ${each.text}`;
    if (each instanceof Uint8Array) return encodeBase64url(each);
    return each instanceof Map ? [...each] : each;
  });
}
