/** Copies of the packed npm package without addons, and what they mine with. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import { start } from '../cli/pickaxe.ts';
import { makeFreshCopy } from '../native/fresh-copy.ts';

/** Far longer than a block takes. It may not hang the tests. */
export const MINE_MS = 300_000;

export const DEMO = ['demo', '--threads', '1', '--blocks', '1', '--duration', '60'];

/** A file of tests calls this once. @param packages those to install beside the package */
export function newCopy(packages: readonly string[]): { copy: string; main: string } {
  const copy = mkdtempSync(join(tmpdir(), 'pickaxe-package-'));
  beforeAll(() => {
    makeFreshCopy(copy, packages);
    rmSync(join(copy, 'native/addons'), { recursive: true, force: true });
  });
  return { copy, main: join(copy, 'dist/cli/main.js') };
}

/** Mines a block on the CPU. @returns the description of the CPU */
export async function mine(main: string): Promise<string> {
  const run = start([...DEMO, '--devices', 'cpu', '--json'], {}, main);
  const code = await run.code;
  expect({ code, stderr: run.stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  expect(run.events('summary')[0].accepted).toBeGreaterThan(0);
  return String(run.events('device').find(({ state }) => state === 'ready')!.description);
}

/** @returns where the native kernels come from, as `pickaxe devices` says */
export async function native(main: string): Promise<string> {
  const run = start(['devices', '--json'], {}, main);
  await run.code;
  return JSON.parse(run.lines.join('')).cpu.native;
}
