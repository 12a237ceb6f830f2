import { expect, test } from 'vitest';
import { benchCsv } from '#pickaxe/cli/measuring/bench-report.js';
import { device, hybrid, result } from '../../rig/bench/results.ts';

/** @returns one record for each row, by the names of the columns; no cell here has a line break */
function parse(csv: string): Record<string, string>[] {
  const cellsOf = (line: string) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, q, plain]) => q?.replaceAll('""', '"') ?? plain);
  const [head, ...rows] = csv.trimEnd().split('\n').map(cellsOf);
  for (const row of rows) expect(row).toHaveLength(head.length);
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

test('there is one row per device and run, under names with units', () => {
  const gpu = device('gpu0', [[200], [220]], {}, { powerWatts: 300, coreHertz: 1.98e9, temperatureCelsius: 61 });
  const rows = parse(benchCsv(result([device('cpu', [[100, 110]]), gpu])));
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatchObject({
    date: '2026-11-22T07:33:27.123Z',
    name: 'cpu',
    threads: '2',
    driver: '',
    run: '1',
    hashesPerSecond: '105',
    powerWatts: '',
    hashSum: '0123456789abcdef',
    errors: '',
  });
  expect(rows.slice(1)).toMatchObject(
    ['200', '220'].map((hashesPerSecond, i) => ({
      name: 'gpu0',
      driver: 'NVIDIA: 550.54.14',
      variant: 'k 128×16',
      threads: '',
      run: `${i + 1}`,
      hashesPerSecond,
      powerWatts: '300',
      coreHertz: '1980000000',
      temperatureCelsius: '61',
    })),
  );
});

test('each column has its figure, and is empty where a device has none', () => {
  const figures = { temperatureCelsius: 61, powerWatts: 300, powerLimitWatts: 350, coreHertz: 1e9, memoryHertz: 2e9 };
  const gpu = device('gpu0', [[200, 220]], {}, { ...figures, hashesPerJoule: 7 });
  const [cpuRow, gpuRow] = parse(benchCsv(result([device('cpu', [[1]]), gpu], { together: true })));
  const common = {
    date: '2026-11-22T07:33:27.123Z',
    pickaxe: '0.1.0',
    node: 'v20',
    os: 'o',
    osName: 'O',
    cpu: 'c',
    kernel: 'k',
    cores: '',
    durationSeconds: '10',
    together: 'true',
    run: '1',
    performanceCoresHashesPerSecond: '',
    efficiencyCoresHashesPerSecond: '',
    seed: 'pickaxe',
    count: '134217728',
    hashSum: '0123456789abcdef',
    errors: '',
  };
  expect(cpuRow).toEqual({
    ...common,
    ...Object.fromEntries([...Object.keys(figures), 'hashesPerJoule'].map((name) => [name, ''])),
    name: 'cpu',
    kind: 'cpu',
    model: 'model of cpu',
    bus: '',
    driver: '',
    variant: '',
    batchSeconds: '',
    threads: '2',
    hashesPerSecond: '1',
    spread: '0',
    medianHashesPerSecond: '1',
    p90HashesPerSecond: '1',
  });
  expect(gpuRow).toEqual({
    ...common,
    ...Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, `${value}`])),
    hashesPerJoule: '7',
    name: 'gpu0',
    kind: 'gpu',
    model: 'model of gpu0',
    bus: '0000:65:00.0',
    driver: 'NVIDIA: 550.54.14',
    variant: 'k 128×16',
    batchSeconds: '0.008',
    threads: '',
    hashesPerSecond: '210',
    spread: expect.stringMatching(/^0\.067\d+$/),
    medianHashesPerSecond: '210',
    p90HashesPerSecond: '218',
  });
});

test('the kinds of a hybrid CPU’s cores have columns, which are empty for all other devices', () => {
  const rows = parse(benchCsv(result([hybrid, device('cpu', [[1]]), device('gpu0', [[1]])])));
  expect(rows[0]).toMatchObject({
    cores: '15 performance avx2, 16 efficiency sse41',
    performanceCoresHashesPerSecond: '205000000',
    efficiencyCoresHashesPerSecond: '100000000',
  });
  const none = { cores: '', performanceCoresHashesPerSecond: '', efficiencyCoresHashesPerSecond: '' };
  expect(rows.slice(2)).toMatchObject([none, none]);
});

test('a text with commas or quotes stays one value', () => {
  const model = 'A, "B", C';
  const errors = ['one', 'two'];
  const csv = benchCsv(result([device('cpu', [[1]], { model }, { errors })]));
  expect(csv).toContain(',"A, ""B"", C",');
  expect(parse(csv)[0]).toMatchObject({ model, errors: 'one; two' });
});

test('without devices there is only the header', () => {
  expect(benchCsv(result([])).split('\n')).toEqual([expect.stringContaining('hashesPerSecond'), '']);
});
