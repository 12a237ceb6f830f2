/** Tests that start each script of some folders in its shortest form. */

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { missing, type Need, type Ran, ROOT, runScript, scratch, written } from './run.ts';

/** Far longer than any script takes. It may not hang the tests. */
const PATIENCE_MS = 300_000;

export interface Start {
  /** The script's arguments. */
  readonly args: readonly string[];
  /** What else the machine must have. */
  readonly needs?: readonly Need[];
  /** Checks the output of the script, which has ended with exit code 0. */
  readonly check: (ran: Ran) => void;
}

/** Scripts that are started by another test, or as a part of another script. */
export interface Elsewhere {
  readonly startedBy: string;
}

let results = 0;

// biome-ignore lint/suspicious/noExplicitAny: each script has its own
export type Result = any;

/**
 * How to start a script that writes its result to --out.
 * @param shows the expected result without the machine
 */
export function withResult(args: string, needs: readonly Need[], shows: (result: Result) => void): Start {
  const file = `result${results++}.json`;
  const check = ({ stdout }: Ran) => {
    expect(stdout).toMatch(/^\$ node \S+\.mjs .*\n.* cores, .* pickaxe /);
    const result = written(file);
    expect(result.machine).toMatchObject({ node: process.version });
    shows(result);
  };
  return { args: [...args.split(' '), '--out', join(scratch, file)], needs, check };
}

export const positive = expect.toSatisfy((value) => value > 0);
export const number = expect.any(Number);

/** A script has a comment with its command line, unlike a file that others import. In `scripts/`, all are scripts. */
const isScript = (path: string) =>
  path.startsWith('scripts/') || readFileSync(join(ROOT, path), 'utf8').includes(`\n//   node ${path}`);

const scriptsIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(mjs|sh)$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter(isScript);

/** @param scripts of the folder, by their paths: a new one needs an entry here, which a test checks */
export function testScripts(folder: string, scripts: Readonly<Record<string, Start | Elsewhere>>): void {
  test(`every script in ${folder}/ has an entry here, and every entry a script`, () => {
    expect(Object.keys(scripts).sort()).toEqual(scriptsIn(folder).sort());
  });

  describe.concurrent.each(Object.entries(scripts))('%s', (script, entry) => {
    if ('startedBy' in entry) {
      test(`is started by ${entry.startedBy}`, () => {
        const name = basename(script).replace(/\.(mjs|sh)$/, '');
        expect(readFileSync(join(ROOT, entry.startedBy), 'utf8')).toMatch(new RegExp(`['/]${name}(\\.mjs|\\.sh)?'`));
        if (entry.startedBy in scripts) expect(scripts[entry.startedBy]).not.toEqual({ startedBy: script });
      });
      return;
    }
    const lacking = missing(entry.needs ?? []);
    const why = lacking === undefined ? '' : ` (not started: ${lacking})`;
    test.skipIf(lacking !== undefined && !process.env.CI)(`starts${why}`, { timeout: PATIENCE_MS }, async () => {
      expect(lacking).toBeUndefined();
      const ran = await runScript(script, entry.args);
      expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
      entry.check(ran);
    });
  });
}
