import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { boundOf, operationsOf } from '../../../native/compilers/bounds.mjs';
import { ceilingOf, expectedRates, lookInto, predictionsOf } from '../../../native/compilers/chips.mjs';
import { documentTables } from '../../../native/compilers/document.mjs';
import { grouped, recorded, worseThan } from '../../../native/compilers/instructions.mjs';
import { commonPath } from '../../../native/compilers/loop.mjs';

describe('the bounds of native/compilers/count.mjs', () => {
  it('are those of the operations, one comparison and the next counter', () => {
    const operations = operationsOf(3);
    expect(operations).toHaveLength(888);
    expect(boundOf('rdna')).toBe(888 + 2);
    // Its one exclusive or of three operands becomes two instructions.
    expect(boundOf('vega')).toBe(891);
  });

  it('are higher where nothing takes three operands, or rotates take three instructions', () => {
    const pairs = operationsOf(2);
    expect(boundOf('gcn')).toBe(pairs.length + 3);
    expect(boundOf('gen9')).toBe(boundOf('gen12') + 2 * pairs.filter(({ op }) => op === 'rotr').length);
  });

  it('are those of the busiest pipe on NVIDIA: exclusive ors, rotates and the comparison', () => {
    const others = operationsOf(2).filter(({ op }) => op !== 'add');
    expect(boundOf('nvidia')).toBe(others.length + 1);
  });
});

describe('the common path of a disassembly', () => {
  const many = (count: number) => Array.from({ length: count }, () => ({ op: 'xor' }));
  const hit = [{ op: 'atomic', memory: true }, { op: 'add' }];

  it('is the loop without what only hits run', () => {
    const head = { op: 'add', label: 'LOOP' };
    const back = [
      { op: 'add', label: 'NEXT' },
      { op: 'branch', target: 'LOOP' },
    ];
    const program = [
      { op: 'load', memory: true },
      head,
      ...many(600),
      { op: 'branch', target: 'NEXT' },
      ...hit,
      ...back,
    ];
    expect(commonPath(program)).toHaveLength(1 + 600 + 1 + 2);
  });

  it('needs a loop that is long enough for a hash', () => {
    const short = [{ op: 'add', label: 'LOOP' }, ...many(100), { op: 'branch', target: 'LOOP' }];
    expect(() => commonPath(short)).toThrow('the disassembly of 102 instructions shows no loop over nonces');
  });
});

describe('the recorded counts', () => {
  const at098 = (family: string) =>
    recorded().some(
      (row: { families: string[]; ofBound: number }) => row.families.includes(family) && row.ofBound >= 0.98,
    );

  it('spill nothing', () => {
    for (const { spills } of recorded()) expect(spills).toBe(0);
  });

  it.each([
    'polaris10',
    'vega10',
    'navi10',
    'navi31',
    'gfx1201',
    'sm_61',
    'sm_75',
    'sm_86',
    'sm_90',
    'sm_120',
    'skl',
    'tgllp',
  ])('have a variant at 0.98 of the bound of %s', (family) => expect(at098(family)).toBe(true));

  it('are compared by family, variant and version of the compiler', () => {
    const row = { family: 'a', compiler: 'C 1', variant: 'v', set: 'rdna', instructionsPerNonce: 900, spills: 0 };
    const record = grouped([row, { ...row, family: 'b' }]);
    expect(record).toMatchObject([{ families: ['a', 'b'] }]);
    const more = { ...row, instructionsPerNonce: 901 };
    expect(worseThan(record, [more, { ...row, family: 'b', spills: 2 }], ['a', 'b'])).toEqual([
      'v for a (C 1) takes 901 instructions a nonce, and took 900',
      'v for b (C 1) spills 2',
    ]);
    expect(worseThan(record, [more], ['a', 'b'])).toContain('v for b (C 1) was recorded and is not compiled now');
    expect(worseThan(record, [{ ...more, compiler: 'C 2' }], ['a', 'b'])).toEqual([]);
  });
});

describe('the ceilings of bench/gpu/rate.mjs', () => {
  it('are those of the recorded counts, best first', () => {
    const { kernels, hashesPerSecond, aim } = ceilingOf('NVIDIA H200', 1980)!;
    expect(kernels[0]).toMatchObject({ variant: 'wgsl-multiplied-adds', hashesPerSecond });
    expect(hashesPerSecond / 1e9).toBeCloseTo(28, 1);
    expect(aim).toBe(22e9);
    const counts = kernels.map(({ instructions }) => instructions);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
  });

  it('name the kernel that a slow card’s rate belongs to', () => {
    const ceiling = ceilingOf('AMD Radeon RX 7900 XTX (RADV NAVI31)', 2500)!;
    // wgsl-added-zeros is between them, and is nearly as fast as the best.
    const slow = ceiling.kernels.find(({ variant }: { variant: string }) => variant === 'wgsl').hashesPerSecond * 0.97;
    expect(lookInto(slow, { ...ceiling, aim: ceiling.hashesPerSecond }, [])).toEqual([
      expect.stringMatching(/^the rate is that of: wgsl by RADV .*: look why wgsl-uniform-rotates is not faster$/),
    ]);
  });

  it('are not known of other cards', () => expect(ceilingOf('Voodoo 2', 90)).toBeUndefined());
});

it('the tables of the README are those of the recorded counts', () => {
  const text = readFileSync(new URL('../../../native/compilers/README.md', import.meta.url), 'utf8');
  for (const table of documentTables(recorded())) expect(text).toContain(`${table}\n`);
});

it('docs/devices.md expects of cards what their counts yield', () => {
  const text = readFileSync(new URL('../../../docs/devices.md', import.meta.url), 'utf8');
  const [, listed] = /expects in GH\/s: ([\s\S]*?)\.\n/.exec(text)!;
  const named = [...listed.replaceAll('\n', ' ').matchAll(/([^,;]+) (\d+\.\d)/g)].map(([, name, rate]) => [
    name.trim(),
    rate,
  ]);
  expect(named.length).toBeGreaterThan(10);
  const rates = expectedRates(recorded());
  for (const [name, rate] of named) {
    const card = rates.find((each) => each.name === name || each.name.endsWith(` ${name}`))!;
    expect(card, name).toBeDefined();
    expect(rate, name).toBe((card.best.hashesPerSecond / 1e9).toFixed(1));
  }
});

it('a rate confirms a row of the README, or refutes it as slower or faster', () => {
  const ceiling = ceilingOf('NVIDIA H200', 1980)!;
  const expected = (shader: string) => ceiling.kernels.find(({ variant }) => variant === shader)!.hashesPerSecond;
  const row = (shader: string, factor: number) => ({ variant: { shader }, hashesPerSecond: factor * expected(shader) });
  const predictions = predictionsOf(ceiling, [
    row('wgsl', 0.5),
    row('wgsl', 0.97),
    row('wgsl-multiplied-adds', 0.8),
    row('wgsl-uniform-rotates', 1.2),
  ]);
  expect(
    Object.fromEntries(
      predictions.map(({ shader, verdict }: { shader: string; verdict: string }) => [shader, verdict]),
    ),
  ).toEqual({
    wgsl: 'confirmed',
    'wgsl-multiplied-adds': 'refuted: slower',
    'wgsl-uniform-rotates': 'refuted: faster',
  });
  expect(predictionsOf(ceiling, [{ variant: { shader: 'wgsl' }, fault: 'it does not compile' }])).toEqual([]);
});
