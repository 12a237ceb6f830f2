import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));

it('the files of tests that are started first exist', () => {
  const files = Object.keys(JSON.parse(readFileSync(join(root, 'test/seconds.json'), 'utf8')));
  expect(files.length).toBeGreaterThan(50);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

it('their list is written from a report of vitest, the longest first', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-seconds-'));
  const [report, list] = ['report.json', 'seconds.json'].map((name) => join(folder, name));
  const file = (name: string, seconds: number) => ({
    name: join(root, 'test', name),
    startTime: 1_000,
    endTime: 1_000 + 1_000 * seconds,
  });
  writeFileSync(report, JSON.stringify({ testResults: [file('a.ts', 4.4), file('b.ts', 2.4), file('c.ts', 90)] }));
  try {
    execFileSync(process.execPath, [join(root, 'scripts/test-seconds.mjs'), report, list]);
    expect(readFileSync(list, 'utf8')).toBe('{\n  "test/c.ts": 90,\n  "test/a.ts": 4\n}\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
