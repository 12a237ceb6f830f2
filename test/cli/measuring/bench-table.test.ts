import { describe, expect, test } from 'vitest';
import { benchLines, circumstances, resultLine, sensorRows } from '#pickaxe/cli/measuring/bench-report.js';
import { device, hybrid, result } from '../../rig/bench/results.ts';

const text = (...given: Parameters<typeof result>) => benchLines(result(...given)).join('');

test('a GPU is shown with its variant, driver, power, efficiency, temperature and clocks', () => {
  const gpu = device('gpu0', [[100e6, 110e6]], {
    powerWatts: 287.6,
    powerLimitWatts: 350,
    temperatureCelsius: 61.4,
    hashesPerJoule: 365_000,
    coreHertz: 1.98e9,
    memoryHertz: 2.619e9,
  });
  expect(text([gpu])).toBe(`pickaxe 0.1.0 on c, O, o, Node.js v20
2026-11-22T07:33:25.000Z, 10 s on each device
gpu0   model of gpu0; k 128×16, batches of 8 ms; NVIDIA: 550.54.14
  hashrate      105.0 MH/s ± 6.7 % (mean of 2 slices: 100.0 MH/s to 110.0 MH/s)
  slices        median 105.0 MH/s, 90th percentile 109.0 MH/s
  power         288 W of 350 W allowed, 365.0 kH/J, 61 °C at most
  clocks        1980 MHz core, 2619 MHz memory
  hash sum      0123456789abcdef (4000 candidates found, 4096 ± 64 expected)
± is the standard deviation of the slices.
The hash sum is of seed “pickaxe” and 134217728 nonces.
`);
});

test('the kinds of a hybrid CPU’s cores are shown apart, beside the whole', () => {
  expect(text([hybrid], { repeat: 2 })).toContain(`cpu    model of cpu; avx2+sse41, 31 threads
  hashrate      305.0 MH/s ± 2.3 % (median of 2 runs: 300.0 MH/s to 310.0 MH/s)
    run 1       300.0 MH/s ± 0.0 %
    run 2       310.0 MH/s ± 0.0 %
    performance 205.0 MH/s (15 threads, avx2)
    efficiency  100.0 MH/s (16 threads, sse41)
`);
});

test.each([
  [{}, '10 s on each device'],
  [{ repeat: 2 }, '2 runs of 10 s on each device, in turns'],
  [{ together: true }, '10 s, all devices at once'],
  [{ repeat: 2, together: true }, '2 runs of 10 s, all devices at once'],
])('the circumstances of a result are told: %j', (changes, told) => {
  expect(circumstances(result([], changes))).toBe(`2026-11-22T07:33:25.000Z, ${told}`);
});

test('what is not known of a device or of the machine is left out', () => {
  const unknown = { driver: null, variant: null, batchSeconds: null };
  const lines = text([device('gpu0', [[1e6]], unknown), device('cpu', [[1e6]], { threads: null })], {
    machine: { cpu: 'c', cores: 2, os: 'o', osName: null, node: 'v20', pickaxe: '0.1.0' },
  });
  expect(lines).toMatch(/^pickaxe 0\.1\.0 on c, o, Node\.js v20\n/);
  expect(lines).toContain('\ngpu0   model of gpu0; k\n');
  expect(lines).toContain('\ncpu    model of cpu; k\n');
  expect(lines).toContain('nonces. All devices agree.\n');
});

test('the length of a batch has up to three decimal places', () => {
  expect(text([device('gpu0', [[1]], { batchSeconds: 0.0123456 })])).toContain('batches of 12.346 ms;');
});

test('a kind of cores without a rate of its own has a rate of 0', () => {
  const lines = text([{ ...hybrid, efficiencyCoresHashesPerSecond: null }], { repeat: 2 });
  expect(lines).toContain('    efficiency  0 H/s (16 threads, sse41)\n');
});

describe('the line to paste', () => {
  const sum = 'sum 0123456789abcdef';

  test.each([
    [
      'a single run',
      device('cpu', [[100e6, 110e6]]),
      {},
      'model of cpu · k × 2 · 105.0 MH/s ± 6.7 % · sum 0123456789abcdef',
    ],
    [
      'several runs',
      device('cpu', [[100e6], [90e6], [120e6]]),
      {},
      `model of cpu · k × 2 · 100.0 MH/s ± 14.8 % · ${sum}`,
    ],
    [
      'a GPU whose variant has no name',
      device('gpu0', [[1e9]], { variant: null }),
      {},
      `model of gpu0 · k · 1.000 GH/s ± 0.0 % · ${sum}`,
    ],
    [
      'a CPU whose threads are not counted',
      device('cpu', [[1e9]], { threads: null }),
      { count: 65_536 },
      `model of cpu · k · 1.000 GH/s ± 0.0 % · ${sum} of “pickaxe” and 65536 nonces`,
    ],
    ['a hybrid CPU', hybrid, {}, `model of cpu · avx2 × 15 + sse41 × 16 · 305.0 MH/s ± 2.3 % · ${sum}`],
    [
      'a GPU whose power is known',
      device('gpu0', [[1e9]], { powerWatts: 100, hashesPerJoule: 10e6 }),
      {},
      `model of gpu0 · k 128×16 · 1.000 GH/s ± 0.0 % · 10.00 MH/J · ${sum}`,
    ],
    [
      'another seed',
      device('gpu0', [[1e9]]),
      { seed: 'mine', count: 65_536 },
      `model of gpu0 · k 128×16 · 1.000 GH/s ± 0.0 % · ${sum} of “mine” and 65536 nonces`,
    ],
  ])('of %s', (_, one, changes, line) => {
    expect(resultLine(result([one], changes), one)).toBe(`${line} · pickaxe 0.1.0`);
  });

  test('does not exist where hashes were wrong', () => {
    const cpu = device('cpu', [[1], [1]]);
    const [first, second] = cpu.runs;
    const withRuns = (...runs: typeof cpu.runs) => resultLine(result([cpu]), { ...cpu, runs });
    expect(withRuns(first, second)).toBeDefined();
    expect(withRuns(first, { ...second, errors: ['missed candidates: 1'] })).toBeUndefined();
    expect(withRuns(first, { ...second, hashSum: 'f'.repeat(16) })).toBeUndefined();
  });

  test('is the last of the table', () => {
    expect(text([{ ...device('cpu', [[1]]), line: 'a line' }])).toMatch(/nonces\.\na line\n$/);
  });
});

test('repeated runs are listed below their median', () => {
  const cpu = device('cpu', [[100e6], [90e6], [120e6]], {}, { temperatureCelsius: 70, powerWatts: 50 });
  const lines = text([cpu], { repeat: 3, together: true });
  expect(lines).toContain(', 3 runs of 10 s, all devices at once\n');
  expect(lines).toContain('  hashrate      100.0 MH/s ± 14.8 % (median of 3 runs: 90.00 MH/s to 120.0 MH/s)\n');
  expect(lines).toContain('    run 2       90.00 MH/s ± 0.0 %, 50 W, 70 °C at most\n');
  expect(lines.match(/hash sum {6}/g)).toHaveLength(1);
  expect(lines).toContain('  hash sum      0123456789abcdef (4000');
  expect(lines).toContain('± is the standard deviation of its runs; after a run, of its slices.');
  expect(lines).toContain(' All runs agree.');
});

test('runs whose spread is not known are shown as if all were alike', () => {
  const lines = text([{ ...device('cpu', [[1e6], [3e6]]), spread: null }], { repeat: 2 });
  expect(lines).toMatch(/^ {2}hashrate {6}[\d.]+ MH\/s ± 0\.0 % \(median of 2 runs: /m);
});

describe('the table says what is wrong', () => {
  test('and in which run it happened', () => {
    const cpu = device('cpu', [[1], [1]]);
    const bad = { ...cpu.runs[1], hashSum: 'f'.repeat(16), errors: ['missed candidates: 1'] };
    const lines = text([{ ...cpu, runs: [cpu.runs[0], bad] }], { repeat: 2 });
    expect(lines).toContain('  hash sum      run 1: 0123456789abcdef (4000');
    expect(lines).toContain('  hash sum      run 2: ffffffffffffffff (4000');
    expect(lines).toContain('  ERROR         run 2: missed candidates: 1\n');
    expect(lines).toContain(' RUNS DISAGREE: at least one of them computed wrong hashes.');
    expect(lines).not.toContain('agree.');
  });

  test('without a number where there is only one run', () => {
    const lines = text([device('cpu', [[1]], {}, { errors: ['missed candidates: 1'] })]);
    expect(lines).toContain('  hash sum      0123456789abcdef (4000');
    expect(lines).toContain('  ERROR         missed candidates: 1\n');
  });

  test('when a device has another sum', () => {
    const lines = text([device('cpu', [[1]]), device('gpu0', [[1]], {}, { hashSum: 'f'.repeat(16) })]);
    expect(lines).toContain(' DEVICES DISAGREE: at least one of them computed wrong hashes.');
  });

  test('and which devices failed', () => {
    const failed = [{ name: 'gpu0', fault: 'lost', reason: 'it was lost' } as const];
    expect(text([], { failed })).toContain('gpu0   not measured: it was lost\nNo device could be measured.\n');
    const partly = text([device('cpu', [[1]])], { failed, repeat: 2 });
    expect(partly).toContain('gpu0   not measured to the end: it was lost\n');
  });
});

test('readings that no sensor gives are not shown', () => {
  const nothing = device('cpu', [[1]]);
  expect(sensorRows(nothing)).toEqual(['  power         not known\n']);
  expect(sensorRows({ ...nothing, powerLimitWatts: 300, coreHertz: 3.5e9 })).toEqual([
    '  power         not known\n',
    '  clocks        3500 MHz core\n',
  ]);
});
