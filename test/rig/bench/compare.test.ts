import { describe, expect, it } from 'vitest';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { compare } from '#pickaxe/rig/bench/compare.js';
import { device, result, run } from './results.ts';

const verdictOf = (a: number[], b: number[]) =>
  compare(result([device('cpu', [a])]), result([device('cpu', [b])])).pairs[0];

/** Each run has one slice. */
const verdictOfRuns = (a: number[], b: number[]) => {
  const [left, right] = [a, b].map((rates) =>
    result([
      device(
        'cpu',
        rates.map((rate) => [rate]),
      ),
    ]),
  );
  return compare(left, right).pairs[0];
};

describe('hashrates', () => {
  it('differ when the means differ by more than the slices do', () => {
    expect(verdictOf([99, 100, 101], [109, 110, 111])).toMatchObject({ ratio: 1.1, verdict: 'faster' });
    expect(verdictOf([109, 110, 111], [99, 100, 101])).toMatchObject({ verdict: 'slower' });
  });

  it('are otherwise within the spread', () => {
    expect(verdictOf([90, 100, 110], [100, 110, 120]).verdict).toBe('within-spread');
    expect(verdictOf([100, 100], [100, 100])).toMatchObject({ ratio: 1, noise: 0, verdict: 'within-spread' });
    // Standard deviations of 10 each: 2·√200 is 28.3 % of the first mean.
    expect(verdictOf([90, 100, 110], [118, 128, 138]).verdict).toBe('within-spread');
    expect(verdictOf([90, 100, 110], [119, 129, 139])).toMatchObject({ verdict: 'faster' });
  });

  it('are computed from the slices, whatever else a file says', () => {
    const lying = { ...device('cpu', [[100]]), hashesPerSecond: 900 };
    lying.runs = [{ ...lying.runs[0], hashesPerSecond: 900 }];
    expect(compare(result([lying]), result([device('cpu', [[100]])])).pairs[0].ratio).toBe(1);
  });

  it('are medians of runs, and from three runs on, the runs show how large the noise is', () => {
    expect(verdictOfRuns([99, 100, 101], [109, 110, 111])).toMatchObject({ ratio: 1.1, verdict: 'faster' });
    expect(verdictOfRuns([90, 100, 110], [100, 110, 120])).toMatchObject({ verdict: 'within-spread' });
    expect(verdictOfRuns([1, 100, 101], [100, 100, 101]).ratio).toBe(1);
    // Slices that differ a lot do not matter if the runs differ little.
    const [a, b] = [100, 110].map((rate) => device('cpu', Array(3).fill([rate - 50, rate + 50])));
    expect(compare(result([a]), result([b])).pairs[0]).toMatchObject({ noise: 0, verdict: 'faster' });
    expect(compare(result([{ ...a, runs: a.runs.slice(1) }]), result([b])).pairs[0].verdict).toBe('within-spread');
  });
});

describe('devices', () => {
  it('are matched by name and model, then by model, then by name', () => {
    const [x, y] = ['RTX 3080', 'H200'].map((model) => ({ model }));
    const a = result([
      device('gpu0', [[1]], x),
      device('gpu1', [[2]], y),
      device('gpu2', [[3]], x),
      device('cpu', [[4]]),
    ]);
    const b = result([device('gpu0', [[2]], y), device('gpu2', [[3]], x), device('cpu', [[9]], { model: 'another' })]);
    const { pairs, onlyA, onlyB } = compare(a, b);
    expect(pairs.map(({ a, b }) => [a.name, b.name])).toEqual([
      ['gpu1', 'gpu0'],
      ['gpu2', 'gpu2'],
      ['cpu', 'cpu'],
    ]);
    expect(onlyA.map(({ name }) => name)).toEqual(['gpu0']);
    expect(onlyB).toEqual([]);
  });

  it('that only one side has are listed', () => {
    const { pairs, onlyA, onlyB } = compare(result([device('cpu', [[1]])]), result([device('gpu0', [[1]])]));
    expect(pairs).toEqual([]);
    expect([onlyA[0].name, onlyB[0].name]).toEqual(['cpu', 'gpu0']);
  });
});

describe('the hash sums', () => {
  const sum = 'fedcba9876543210';

  it('are compared over all devices of both', () => {
    const [same, other] = [
      result([device('cpu', [[1]])]),
      result([device('cpu', [[1]]), device('gpu0', [[1]], {}, { hashSum: sum })]),
    ];
    expect(compare(same, same).sums).toBe('equal');
    expect(compare(same, other).sums).toBe('different');
    expect(compare(other, same).sums).toBe('different');
  });

  it('are compared over all runs', () => {
    const good = device('cpu', [[1], [1]]);
    const flaky = { ...good, runs: [good.runs[0], { ...good.runs[1], hashSum: sum }] };
    expect(compare(result([good]), result([flaky])).sums).toBe('different');
  });

  it('are not compared if the seeds or counts differ', () => {
    const a = result([device('cpu', [[1]])]);
    expect(compare(a, result([device('cpu', [[1]], {}, { hashSum: sum })], { seed: 'other' })).sums).toBe(
      'not-comparable',
    );
    expect(compare(a, result([device('cpu', [[1]], {}, { hashSum: sum })], { count: 2 ** 20 })).sums).toBe(
      'not-comparable',
    );
    expect(compare(a, result([])).sums).toBe('not-comparable');
  });
});

it('the schema accepts what bench prints, and nothing that could do harm', () => {
  const good = result([device('cpu', [[1, 2], [3]], { powerWatts: 3, hashesPerJoule: 1 }), device('gpu0', [[1]])]);
  expect(BenchResult.parse(JSON.parse(JSON.stringify(good)))).toEqual(good);
  const cpu = device('cpu', [[1]]);
  const ofRun = (changes: object) => ({ devices: [{ ...cpu, runs: [run([1], changes)] }] });
  const bad: object[] = [
    { type: 'stress' },
    { formatVersion: 2 },
    { unknown: 1 },
    { date: 'yesterday' },
    { seed: '\u001b[2J' },
    { count: 1.5 },
    { count: 2 ** 50 },
    { repeat: 0 },
    { machine: { ...good.machine, cores: -1 } },
    { devices: [{ ...cpu, name: '\u001b]0;x\u0007' }] },
    { devices: [{ ...cpu, model: 'a\nb' }] },
    { devices: [{ ...cpu, kind: 'gpu' }] },
    { devices: [{ ...cpu, unknown: 1 }] },
    { devices: [{ ...cpu, runs: [] }] },
    ofRun({ slices: [] }),
    ofRun({ slices: [0] }),
    ofRun({ slices: ['1'] }),
    ofRun({ hashSum: 'xyz' }),
    ofRun({ errors: ['x'.repeat(513)] }),
    ofRun({ powerWatts: undefined }),
    ofRun({ unknown: 1 }),
    { devices: Array.from({ length: 2_000 }, () => cpu) },
    { devices: null },
  ];
  for (const changes of bad) {
    expect(BenchResult.safeParse({ ...good, ...changes }).success, JSON.stringify(changes).slice(0, 200)).toBe(false);
  }
});

it('a result may give a long reason why a device was not measured', () => {
  const reason = `no GPU that vulkan can use: ${'x'.repeat(400)}\nand a second line`;
  const written = result([device('cpu', [[100]])], { failed: [{ name: 'gpu', fault: 'missing', reason }] });
  expect(BenchResult.parse(JSON.parse(JSON.stringify(written)))).toEqual(written);
});
