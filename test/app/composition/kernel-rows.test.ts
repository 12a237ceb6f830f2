import { expect, test } from 'vitest';
import { kernelRows } from '#pickaxe/app/composition/choose-engines.js';
import { kernelLines, usedKernel } from '#pickaxe/cli/measuring/devices.js';
import type { Survey } from '#pickaxe/miner/engine/cpu/kernels/choose.js';

const survey = (more: Partial<Survey>): Survey => ({
  threads: 2,
  speeds: { avx2x2: 49.4e6, avx2: 48.1e6, wasm: 8e6 },
  fastest: 'avx2x2',
  unusable: new Map([['neon', 'made for another kind of chip']]),
  ...more,
});
/** A survey that knows no fastest kernel. */
const { fastest: _, ...undecided } = survey({});
const rowOf = (rows: ReturnType<typeof kernelRows>, name: string) => rows.find((row) => row.name === name);

test('the choice is the fastest, and nothing more is said', () => {
  const rows = kernelRows([survey({})]);
  expect(rowOf(rows, 'avx2x2')).toEqual({
    name: 'avx2x2',
    usable: true,
    chosen: true,
    hashesPerSecond: 49.4e6,
    why: 'chosen: the fastest here',
  });
  expect(rowOf(rows, 'avx2')).toMatchObject({ chosen: false, why: 'slower here: 97 % of avx2x2' });
  expect(rowOf(rows, 'neon')).toEqual({
    name: 'neon',
    usable: false,
    chosen: false,
    why: 'made for another kind of chip',
  });
});

test('a kernel that is as fast is not said to be slower', () => {
  const why = (avx2: number) => rowOf(kernelRows([survey({ speeds: { avx2x2: 100, avx2 } })]), 'avx2')!.why;
  expect(why(99.5)).toBe('as fast here as avx2x2');
  expect(why(99.4)).toBe('slower here: 99 % of avx2x2');
});

const doubtful = { notRemembered: 'only 1 of 25 turns of avx2x2 agree within 2 %' };

test('a choice that is in doubt, and so not remembered, says so', () => {
  expect(rowOf(kernelRows([survey(doubtful)]), 'avx2x2')!.why).toBe(
    'chosen: the fastest here; not remembered: only 1 of 25 turns of avx2x2 agree within 2 %',
  );
});

test('a kernel that was asked for is not in doubt', () => {
  const rows = kernelRows([survey(doubtful)], 'wasm');
  expect(rowOf(rows, 'wasm')).toMatchObject({ chosen: true, why: 'chosen: asked for, slower here: 16 % of avx2x2' });
});

test('when nothing could be measured, the kernels can be used all the same', () => {
  const rows = kernelRows([survey({ speeds: {} })]);
  expect(rowOf(rows, 'avx2x2')).toEqual({
    name: 'avx2x2',
    usable: true,
    chosen: true,
    why: 'not measured: the machine was too busy',
  });
  expect(rowOf(rows, 'neon')).toMatchObject({ usable: false });
  const chosen = (asked: 'wasm' | 'neon', one = survey({ speeds: {} })) =>
    kernelRows([one], asked).flatMap((row) => (row.chosen ? [`${row.name} ${row.why}`] : []));
  expect(chosen('wasm')).toEqual(['wasm not measured: the machine was too busy']);
  expect(chosen('neon')).toEqual([]);
  expect(chosen('wasm', undecided)).toEqual(['wasm chosen: asked for, the fastest here']);
});

test('a survey that knows no fastest kernel chooses none', () => {
  const rows = kernelRows([undecided]);
  expect(rows.filter(({ chosen }) => chosen)).toEqual([]);
  expect(rowOf(rows, 'avx2')).toEqual({
    ...{ name: 'avx2', usable: true, chosen: false, hashesPerSecond: 48.1e6, why: 'the fastest here' },
  });
});

test('kinds of cores have their own rows, one below the other', () => {
  const surveys = [
    survey({ kind: 'performance' }),
    survey({ kind: 'efficiency', threads: 1, speeds: { avx2x2: 9e6, avx2: 12e6, wasm: 4e6 }, fastest: 'avx2' }),
  ];
  const rows = kernelRows(surveys);
  expect(usedKernel(rows)).toBe('avx2x2+avx2');
  const lines = kernelLines(rows, surveys);
  expect(lines[0]).toBe('performance cores, 2 threads:');
  expect(lines).toContain('efficiency cores, 1 thread:');
  expect(lines.filter((line) => line.startsWith('* '))).toEqual([
    '* avx2x2        49.4 MH/s   chosen: the fastest here',
    '* avx2          12.0 MH/s   chosen: the fastest here',
  ]);
  expect(lines.filter((line) => line.includes('another kind of chip'))).toEqual([
    '- neon: made for another kind of chip',
  ]);
});
