/**
 * Runs the example of docs/wrappers.md with the built miner: its lines have the fields and words that the page shows.
 */

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { JsonLine } from '#pickaxe/rig/log/json-lines.js';
import { expectShape } from '../../expect-shape.ts';
import { mine } from './mine-on-mock.ts';

const page = readFileSync(new URL('../../../docs/wrappers.md', import.meta.url), 'utf8');
const [, block] = /```jsonl\n([\s\S]*?)```/.exec(page)!;
const shown = block
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Fields that differ between machines and runs: those of sensors, kinds of cores, and New Cuts. */
const VARIES = new Set(['cores', 'sensors', 'hashesPerJoule', 'switchSeconds', 'powerWatts']);
/** The fields whose texts are the same in every run. */
const WORDS = new Set(['type', 'kind', 'state', 'outcome', 'device']);

/** @returns the names in a value, with the kinds of figures and texts in their place */
function shapeOf(value: unknown, name = ''): unknown {
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([each]) => !VARIES.has(each));
    return Object.fromEntries(fields.sort().map(([each, inner]) => [each, shapeOf(inner, each)]));
  }
  return WORDS.has(name) || typeof value === 'boolean' ? value : typeof value;
}

it('the lines of docs/wrappers.md are printed as they are shown', async () => {
  expect(shown.length).toBeGreaterThan(5);
  for (const line of shown) expectShape(JsonLine, line);
  const { run } = await mine('chainweb', ['--devices', 'cpu', '--threads', '1', '--kernel', 'wasm']);
  expect(await run.code).toBe(0);
  const printed = run.events().map((line) => shapeOf(line));
  for (const line of shown) expect(printed).toContainEqual(shapeOf(line));
  expect(printed.at(-1)).toEqual(shapeOf(shown.at(-1)));
});
