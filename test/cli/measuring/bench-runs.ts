/** Runs `pickaxe bench`, and keeps its results in a folder that is removed after the tests. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { GOLDEN } from '../../rig/bench/golden.ts';
import { type Run, start } from '../pickaxe.ts';

export const [, golden] = GOLDEN;
/** A busy machine needs long for this number of hashes. */
export const PATIENCE_MS = 120_000;
/** All variants of the GPU's kernel are measured first. */
export const TUNING_MS = 400_000;
export const oneThread = ['--devices', 'cpu', '--threads', '1'];
export const cpu = [...oneThread, '--seconds', '0.2'];
export const small = [...cpu, '--count', String(golden.count)];
export const skipping = `--import=${new URL('../skip-a-candidate.mjs', import.meta.url)}`;

export const home = mkdtempSync(join(tmpdir(), 'pickaxe-'));

/** Starts `pickaxe bench`, which is ended after the test if it still runs. */
export function startBench(args: string[], env: Record<string, string> = {}): Run {
  const run = start(['bench', ...args], env);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  return run;
}

/** Runs `pickaxe bench --json` to its end. */
export async function bench(args: string[], env: Record<string, string> = {}) {
  const run = startBench(['--json', ...args], env);
  const code = await run.code;
  const { lines, stderr } = run;
  expect(lines, stderr).toHaveLength(1);
  return { code, json: JSON.parse(lines[0]), stderr };
}

/** A result of one device, and its file. */
export async function result(name: string, args: string[]): Promise<{ file: string; json: BenchResult }> {
  const { code, json } = await bench([...cpu, ...args]);
  expect(code).toBe(0);
  return { file: write(name, JSON.stringify(json)), json };
}

export function write(name: string, text: string): string {
  const file = join(home, name);
  writeFileSync(file, text);
  return file;
}
