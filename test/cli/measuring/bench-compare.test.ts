import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hybrid, result } from '../../rig/bench/results.ts';
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
    ...(process.platform === 'linux' ? [['does not end', '/dev/zero', /more than \d+ bytes/] as const] : []),
  ] as const)('refuses a file that %s', async (_, file, message) => {
    const { code, stderr } = await compare(file, file);
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
  });
});
