import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { resultLine } from '#pickaxe/cli/measuring/bench-report.js';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';

const folder = fileURLToPath(new URL('../../bench/results/', import.meta.url));
const machines = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(machines.map(({ name }) => name))('the results of %s can be read, and name their machine', (name) => {
  const files = readdirSync(`${folder}${name}`).filter((file) => file.endsWith('.json'));
  expect(files).not.toHaveLength(0);
  for (const file of files) {
    const result = JSON.parse(readFileSync(`${folder}${name}/${file}`, 'utf8'));
    expect(result, file).toHaveProperty('machine.cpu');
  }
  const bench = `${folder}${name}/bench.json`;
  if (existsSync(bench)) expect(() => BenchResult.parse(JSON.parse(readFileSync(bench, 'utf8')))).not.toThrow();
});

test('the table has the line of each device of each bench.json, and no other lines', () => {
  const page = readFileSync(`${folder}README.md`, 'utf8');
  const rows = page
    .split('\n')
    .flatMap((row) => /^\| `([\w-]+)` \| [^|]+ \| ([^|]+ · [^|]+) \|$/.exec(row)?.slice(1).join(' ') ?? []);
  const lines = machines.flatMap(({ name }) => {
    const file = `${folder}${name}/bench.json`;
    if (!existsSync(file)) return [];
    const result = BenchResult.parse(JSON.parse(readFileSync(file, 'utf8')));
    return result.devices.map((device) => `${name} ${resultLine(result, device)}`);
  });
  expect(rows).toEqual(lines);
  expect(lines).not.toHaveLength(0);
});
