import { describe, expect, it } from 'vitest';
import { compare } from '#pickaxe/bench/compare.js';
import { BENCH_FORMAT, type BenchResult, benchResultShape, type DeviceResult } from '#pickaxe/bench/result.js';
import { spreadOf } from '#pickaxe/bench/spread.js';

function device(name: string, slices: number[], changes: Partial<DeviceResult> = {}): DeviceResult {
  const kind = name === 'cpu' ? 'cpu' : 'gpu';
  const candidates = { found: 4_000, expected: 4_096, wrong: 0, missed: 0 };
  const common = { model: `model of ${name}`, kernel: 'k', sum: '0123456789abcdef', candidates, errors: [] };
  return { name, kind, ...common, hashrate: spreadOf(slices), slices, ...changes };
}

function result(devices: DeviceResult[], changes: Partial<BenchResult> = {}): BenchResult {
  const machine = { cpu: 'c', cores: 2, os: 'o', node: 'v20', pickaxe: '0.1.0' };
  const asked = { seed: 'pickaxe', count: 2 ** 27, seconds: 10, together: false };
  return { format: BENCH_FORMAT, machine, ...asked, devices, failed: [], ...changes };
}

const verdictOf = (a: number[], b: number[]) =>
  compare(result([device('cpu', a)]), result([device('cpu', b)])).pairs[0];

describe('hashrates', () => {
  it('differ when means differ by more than slices do', () => {
    expect(verdictOf([99, 100, 101], [109, 110, 111])).toMatchObject({ ratio: 1.1, verdict: 'faster' });
    expect(verdictOf([109, 110, 111], [99, 100, 101])).toMatchObject({ verdict: 'slower' });
  });

  it('are within the spread else', () => {
    expect(verdictOf([90, 100, 110], [100, 110, 120]).verdict).toBe('within the spread');
    expect(verdictOf([100, 100], [100, 100])).toMatchObject({ ratio: 1, noise: 0, verdict: 'within the spread' });
    // Standard deviations of 10 each: 2·√200 is 28.3 % of the first mean.
    expect(verdictOf([90, 100, 110], [118, 128, 138]).verdict).toBe('within the spread');
    expect(verdictOf([90, 100, 110], [119, 129, 139])).toMatchObject({ verdict: 'faster' });
  });

  it('come from the slices, whatever else a file says', () => {
    const lying = device('cpu', [100], { hashrate: spreadOf([900]) });
    expect(compare(result([lying]), result([device('cpu', [100])])).pairs[0].ratio).toBe(1);
  });
});

describe('devices', () => {
  it('are matched by name and model, by model, and at last by name', () => {
    const [x, y] = ['RTX 3080', 'H200'].map((model) => ({ model }));
    const a = result([device('gpu0', [1], x), device('gpu1', [2], y), device('gpu2', [3], x), device('cpu', [4])]);
    const b = result([device('gpu0', [2], y), device('gpu2', [3], x), device('cpu', [9], { model: 'another' })]);
    const { pairs, onlyA, onlyB } = compare(a, b);
    expect(pairs.map(({ a, b }) => [a.name, b.name])).toEqual([
      ['gpu1', 'gpu0'],
      ['gpu2', 'gpu2'],
      ['cpu', 'cpu'],
    ]);
    expect(onlyA.map(({ name }) => name)).toEqual(['gpu0']);
    expect(onlyB).toEqual([]);
  });

  it('of one side alone are told', () => {
    const { pairs, onlyA, onlyB } = compare(result([device('cpu', [1])]), result([device('gpu0', [1])]));
    expect(pairs).toEqual([]);
    expect([onlyA[0].name, onlyB[0].name]).toEqual(['cpu', 'gpu0']);
  });
});

describe('hash sums', () => {
  const sum = 'fedcba9876543210';

  it('are compared over all devices of both', () => {
    const [same, other] = [result([device('cpu', [1])]), result([device('cpu', [1]), device('gpu0', [1], { sum })])];
    expect(compare(same, same).sums).toBe('equal');
    expect(compare(same, other).sums).toBe('different');
    expect(compare(other, same).sums).toBe('different');
  });

  it('say nothing of another seed or count', () => {
    const a = result([device('cpu', [1])]);
    expect(compare(a, result([device('cpu', [1], { sum })], { seed: 'other' })).sums).toBe('not comparable');
    expect(compare(a, result([device('cpu', [1], { sum })], { count: 2 ** 20 })).sums).toBe('not comparable');
    expect(compare(a, result([])).sums).toBe('not comparable');
  });
});

it('the shape admits what bench prints, and nothing that could harm', () => {
  const good = result([device('cpu', [1, 2], { threads: 2, powerW: 3, hashes_per_joule: 1, temperatureC: 60 })]);
  expect(benchResultShape.parse(JSON.parse(JSON.stringify(good)))).toEqual(good);
  const bad: object[] = [
    { format: 'pickaxe stress 1' },
    { seed: '\u001b[2J' },
    { count: 1.5 },
    { count: 2 ** 50 },
    { devices: [device('\u001b]0;x\u0007', [1])] },
    { devices: [device('cpu', [1], { model: 'a\nb' })] },
    { devices: [{ ...device('cpu', [1]), slices: [] }] },
    { devices: [{ ...device('cpu', [1]), slices: [0] }] },
    { devices: [{ ...device('cpu', [1]), slices: ['1'] }] },
    { devices: [device('cpu', [1], { sum: 'xyz' })] },
    { devices: [device('cpu', [1], { errors: ['x'.repeat(300)] })] },
    { devices: Array.from({ length: 2_000 }, () => device('cpu', [1])) },
    { devices: null },
  ];
  for (const changes of bad) expect(benchResultShape.safeParse({ ...good, ...changes }).success).toBe(false);
});

it('a result may say at length why a device was not measured', () => {
  const reason = `no GPU that vulkan can use: ${'x'.repeat(400)}\nand a second line`;
  const written = result([device('cpu', [100])], { failed: [{ name: 'gpu', reason }] });
  expect(benchResultShape.parse(JSON.parse(JSON.stringify(written)))).toEqual(written);
});
