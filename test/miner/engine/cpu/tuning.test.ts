import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Cache } from '#pickaxe/base/system/cache.js';
import { chip, rememberTuning } from '#pickaxe/miner/engine/cpu/kernels/choose.js';

let home: string;
let cpuinfo: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pickaxe-'));
  cpuinfo = join(home, 'cpuinfo');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Two processors as Linux describes them. */
const describe = (model: string, mhz: string) =>
  [0, 1]
    .map(
      (cpu) => `processor\t: ${cpu}\ncpu family\t: 26\nmodel\t\t: ${model}\ncpu MHz\t\t: ${mhz}\nflags\t\t: fpu avx2\n`,
    )
    .join('\n');

test('a chip is identified by lines that do not change', () => {
  writeFileSync(cpuinfo, describe('2', '2800.000'));
  const first = chip(cpuinfo);
  writeFileSync(cpuinfo, describe('2', '3300.123'));
  expect(chip(cpuinfo)).toBe(first);
  writeFileSync(cpuinfo, describe('3', '2800.000'));
  expect(chip(cpuinfo)).not.toBe(first);
});

test('what is remembered belongs to the chip, the builds of the kernels and the compiler of WebAssembly', () => {
  const group = { places: [[]] };
  const tuning = { speeds: { wasm: 1e6 }, fastest: 'wasm' } as const;
  expect(rememberTuning(new Cache(home), [group], 0, tuning)).toBeUndefined();
  const [name] = readdirSync(home).filter((file) => file.endsWith('.json'));
  const build = expect.stringMatching(/./);
  const key = { format: 2, chip: chip(), native: build, wasm: build, v8: process.versions.v8 };
  expect(JSON.parse(readFileSync(join(home, name), 'utf8')).key).toMatchObject(key);
});

test('a chip that the system does not describe is identified by its architecture', () => {
  expect(chip(cpuinfo)).toBe(arch());
  expect(chip(home)).toBe(arch());
});
