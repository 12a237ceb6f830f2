import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { cpuHertz } from '#pickaxe/system/cpu-clock.js';

const temporary = mkdtempSync(join(tmpdir(), 'pickaxe-cpu-clock-'));
afterAll(() => rmSync(temporary, { recursive: true, force: true }));

/** Makes the files of a machine whose CPUs report these clocks. @returns its folder of CPUs */
function machine(name: string, clocks: readonly (string | undefined)[]): string {
  const folder = join(temporary, name);
  mkdirSync(join(folder, 'cpufreq'), { recursive: true }); // Linux has it beside the CPUs
  for (const [i, text] of clocks.entries()) {
    const cpu = join(folder, `cpu${i}`);
    mkdirSync(join(cpu, 'cpufreq'), { recursive: true });
    if (text !== undefined) writeFileSync(join(cpu, 'cpufreq/scaling_cur_freq'), text);
  }
  return folder;
}

test('the clock is the mean of the busy CPUs', () => {
  const sysfs = machine('four', ['1200000\n', '4000000\n', '3900000\n', '800000\n']);
  expect(cpuHertz(1, sysfs)).toBe(4e9);
  expect(cpuHertz(2, sysfs)).toBe(3.95e9);
  expect(cpuHertz(4, sysfs)).toBe(2.475e9);
  expect(cpuHertz(64, sysfs)).toBe(2.475e9);
});

test('a CPU that does not report its clock does not count', () => {
  expect(cpuHertz(4, machine('some', ['2000000', undefined, '<unknown>', '', '0', '-5']))).toBe(2e9);
});

test('the clock is not known where no CPU reports it', () => {
  expect(cpuHertz(2, machine('none', [undefined, undefined]))).toBeUndefined();
  expect(cpuHertz(2, join(temporary, 'nowhere'))).toBeUndefined();
});
