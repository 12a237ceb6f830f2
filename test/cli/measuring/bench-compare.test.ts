import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { device, hybrid, result } from '../../rig/bench/results.ts';
import { pickaxe } from '../in-process.ts';
import { home, write } from './bench-runs.ts';

describe('pickaxe bench compare', () => {
  const compare = (...files: string[]) => pickaxe('bench', 'compare', ...files);

  it.each([
    ['nothing', '', 'not JSON'],
    ['text that is not JSON', '\u001b[2Jhello', 'not JSON'],
    ['a list', '[]', 'expected object'],
    ['another object', '{"type":"x"}', 'expected "bench", at type'],
    ['a later format', '{"type":"bench","formatVersion":2}', 'expected 1, at formatVersion'],
    ['half a result', '{"type":"bench","formatVersion":1}', 'at date'],
    ['deep nesting', '['.repeat(100_000), 'not'],
    ['a prototype', '{"__proto__":{"type":"bench"}}', 'at type'],
  ])('refuses a file that contains %s', async (name, text, message) => {
    const file = write(`${name}.json`, text);
    const { code, stdout, stderr } = await compare(file, file);
    expect(stderr).toContain(message);
    expect(stderr).toContain(`${file} is not a result of pickaxe bench --json`);
    expect(stderr).not.toContain('\u001b');
    expect(stdout).toBe('');
    expect(code).toBe(2);
  });

  /** Compares two results. */
  const comparing = (a: object, b: object) =>
    compare(write('compared-a.json', JSON.stringify(a)), write('compared-b.json', JSON.stringify(b)));
  const SUM = '0123456789abcdef';
  const OTHER_SUM = 'fedcba9876543210';
  const MACHINE = 'pickaxe 0.1.0 on c, O, o, Node.js v20';

  it('shows hashrates, their ratio, efficiencies and hash sums', async () => {
    const a = device('gpu0', [[100e6, 102e6]], { powerWatts: 100, hashesPerJoule: 1.01e6 });
    const b = device('gpu0', [[150e6, 152e6]], { powerWatts: 100, hashesPerJoule: 1.51e6 });
    const { code, stdout, stderr } = await comparing(result([a]), result([b], { together: true }));
    expect(stderr).toBe('');
    expect(code).toBe(0);
    expect(stdout).toBe(`A: ${MACHINE}; 2026-11-22T07:33:25.000Z, 10 s on each device
B: ${MACHINE}; 2026-11-22T07:33:25.000Z, 10 s, all devices at once
gpu0   model of gpu0; k 128×16, batches of 8 ms; NVIDIA: 550.54.14
  hashrate      101.0 MH/s ± 1.4 % → 151.0 MH/s ± 0.9 %
  B / A         1.495: B is faster
  efficiency    1.010 MH/J → 1.510 MH/J
Hash sums are equal: ${SUM}.`);
  });

  it('explains a difference within the spread, and tells where the efficiency is not known', async () => {
    const [a, b] = [device('cpu', [[100e6, 110e6]]), device('cpu', [[99e6, 109e6]], { hashesPerJoule: 1e6 })];
    const { stdout } = await comparing(result([a]), result([b]));
    expect(stdout).toContain(
      '  B / A         0.990: within the spread (±19.0 %)\n  efficiency    n/a → 1.000 MH/J\nWithin the',
    );
    const slower = await comparing(result([a]), result([device('cpu', [[50e6, 50e6]])]));
    expect(slower.stdout).toContain('B is slower\n  efficiency    n/a\nHash sums');
    // What only one of two pairs needs is explained, too.
    const both = await comparing(
      result([a, device('gpu0', [[1e9]])]),
      result([b, device('gpu0', [[2e9]], { model: 'model of gpu0' })]),
    );
    expect(both.stdout).toMatch(/B is faster\n.*\nWithin the spread: runs of the same device, /);
  });

  it('shows both headings of a device that is described in another way, and devices without a partner', async () => {
    const a = [device('gpu0', [[1e9]], { driver: 'NVIDIA: 1' }), device('cpu', [[2e6]])];
    const b = [device('gpu0', [[1e9]], { driver: null, batchSeconds: null }), device('gpu7', [[3e6]], { model: 'x' })];
    const { stdout } = await comparing(result(a), result(b));
    expect(stdout).toContain(
      'gpu0   model of gpu0; k 128×16, batches of 8 ms; NVIDIA: 1\ngpu0   model of gpu0; k 128×16\n  hashrate ',
    );
    expect(stdout).toContain('cpu    model of cpu; k, 2 threads\n  only in A     2.000 MH/s ± 0.0 %\n');
    expect(stdout).toMatch(/\ngpu7 {3}x; k 128×16, .*\n {2}only in B {5}3\.000 MH\/s ± 0\.0 %\n/);
  });

  it('ends with exit code 6 if hash sums differ, and lists them', async () => {
    const b = device('cpu', [[1e6], [1e6]], {}, { hashSum: OTHER_SUM });
    const { code, stdout } = await comparing(result([device('cpu', [[1e6]])]), result([b], { repeat: 2 }));
    expect(code).toBe(6);
    expect(stdout.split('\n').slice(-4)).toEqual([
      'ERROR: HASH SUMS DIFFER for the same seed and count: a device computes wrong hashes, or a file was changed.',
      `  A cpu    ${SUM}`,
      `  B cpu run 1 ${OTHER_SUM}`,
      `  B cpu run 2 ${OTHER_SUM}`,
    ]);
  });

  it.each(['a', 'b'])('ends with exit code 6 if a run of %s had errors, whatever the sums are', async (side) => {
    const good = result([device('cpu', [[1e6]])]);
    const faulty = result([device('cpu', [[1e6]], {}, { errors: ['it is broken'] })], { seed: 'mine' });
    const { code, stdout } = await (side === 'a' ? comparing(faulty, good) : comparing(good, faulty));
    expect(code).toBe(6);
    const [left, right] = ['seed “pickaxe”, 134217728 nonces', 'seed “mine”, 134217728 nonces'];
    const seeds = side === 'a' ? `A has ${right}, B ${left}` : `A has ${left}, B ${right}`;
    expect(stdout.split('\n').slice(-2)).toEqual([
      `ERROR: ${side.toUpperCase()} cpu: it is broken`,
      `Hash sums cannot be compared: ${seeds}.`,
    ]);
  });

  it('cannot compare the hash sums of a result without devices', async () => {
    const { code, stdout } = await comparing(result([device('cpu', [[1e6]])]), result([]));
    expect(code).toBe(0);
    expect(stdout).toMatch(/\nHash sums cannot be compared: a result has no devices\.$/);
  });

  it('shows the kinds of a hybrid CPU’s cores apart, where both results have them', async () => {
    const faster = { ...hybrid, performanceCoresHashesPerSecond: 246e6, efficiencyCoresHashesPerSecond: null };
    const [a, b] = [
      write('hybrid-a.json', JSON.stringify(result([hybrid]))),
      write('hybrid-b.json', JSON.stringify(result([faster]))),
    ];
    const { stdout, stderr } = await compare(a, b);
    expect(stderr).toBe('');
    expect(stdout).toContain('    performance 205.0 MH/s → 246.0 MH/s (B / A 1.200)\n');
    expect(stdout).not.toContain('    efficiency ');
  });

  it.each([
    ['does not exist', join(home, 'missing.json'), /missing\.json cannot be read: there is no such file\.\n/],
    ['is a folder', home, /cannot be read: it is a directory\.\n/],
    ...(process.platform === 'linux'
      ? [['does not end', '/dev/zero', /it has more than 67108864 bytes\.\n/] as const]
      : []),
  ] as const)('refuses a file that %s', async (_, file, message) => {
    const { code, stderr } = await compare(file, file);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
