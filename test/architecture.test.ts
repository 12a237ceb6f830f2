import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const src = fileURLToPath(new URL('../src', import.meta.url));

/** What each room of src/ may import, other than itself. A room is the longest of these paths that a file lies under. */
const ALLOWED: Record<string, string[]> = {
  chain: [],
  'clock.ts': [],
  'version.ts': [],
  'cpu-list.ts': [],
  'http-address.ts': [],
  'one-line.ts': [],
  'system-report.ts': [],
  config: [
    'cpu-list.ts',
    'http-address.ts',
    'one-line.ts',
    'quantities.ts',
    'guards/windows.ts',
    'source/node/certificate.ts',
    'source/node/url.ts',
  ],
  'cache.ts': ['version.ts'],
  events: ['telemetry.ts'],
  kernel: ['chain'],
  'source/source.ts': ['chain'],
  'source/mailbox.ts': ['source/source.ts'],
  'source/node/certificate.ts': [],
  'source/node/url.ts': [],
  'source/failover.ts': ['chain', 'clock.ts', 'events', 'source/source.ts', 'source/mailbox.ts'],
  'source/node': [
    'chain',
    'clock.ts',
    'events',
    'one-line.ts',
    'source/source.ts',
    'source/mailbox.ts',
    'source/node/certificate.ts',
    'source/node/url.ts',
  ],
  'telemetry.ts': [],
  'engine/engine.ts': ['chain', 'telemetry.ts'],
  'engine/cpu': ['chain', 'clock.ts', 'cache.ts', 'cpu-list.ts', 'system-report.ts', 'engine/engine.ts'],
  'engine/gpu': ['chain', 'clock.ts', 'cache.ts', 'engine/engine.ts', 'telemetry.ts'],
  mine: ['chain', 'clock.ts', 'events', 'source/source.ts', 'engine/engine.ts', 'telemetry.ts'],
  bench: ['chain', 'clock.ts', 'engine/engine.ts', 'mine', 'telemetry.ts'],
  'report/units.ts': ['telemetry.ts'],
  report: ['report/units.ts', 'clock.ts', 'events', 'one-line.ts', 'telemetry.ts'],
  'report/http': ['report', 'report/units.ts', 'clock.ts', 'events', 'http-address.ts', 'telemetry.ts', 'version.ts'],
  web: ['report/http', 'report/units.ts'],
  'quantities.ts': [],
  'guards/windows.ts': [],
  guards: ['clock.ts', 'events', 'guards/windows.ts'],
  notify: ['clock.ts', 'events', 'one-line.ts', 'report', 'report/units.ts'],
  'mock-node': ['chain', 'clock.ts'],
  'index.ts': ['*'],
  cli: ['*'],
};

/** Packages that only some rooms may import. */
const PACKAGES: Record<string, string[]> = {
  'cache.ts': ['zod'],
  bench: ['@noble/hashes', 'zod'],
  chain: ['@noble/hashes'],
  config: ['zod', 'smol-toml', 'fastest-levenshtein'],
  events: [],
  kernel: [],
  mine: [],
  report: ['pino'],
  'report/http': ['fastify', 'pino', 'prom-client', 'zod'],
  'report/units.ts': [],
  web: ['uplot', 'zod'],
  guards: ['pino'],
  notify: ['pino', 'undici'],
};

const rooms = Object.keys(ALLOWED).sort((a, b) => b.length - a.length);
const roomOf = (path: string) => rooms.find((room) => path === room || path.startsWith(`${room}/`));

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), 'utf8');
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map((match) => match[1]);
}

describe('imports point one way', () => {
  it('has a room for every file', () => {
    expect(files.length).toBeGreaterThan(20);
    expect(files.filter((file) => !roomOf(file))).toEqual([]);
  });

  it.each(files)('%s', (file) => {
    const room = roomOf(file)!;
    const allowed = ALLOWED[room];
    for (const path of importsOf(file)) {
      if (path.startsWith('.')) {
        const target = roomOf(relative(src, join(src, dirname(file), path)));
        expect(target, `${file} imports ${path}, which is in no room`).toBeDefined();
        const fine = target === room || allowed.includes('*') || allowed.includes(target!);
        expect(fine, `${file} (${room}) imports ${path} (${target})`).toBe(true);
      } else if (!path.startsWith('node:') && PACKAGES[room]) {
        const fine = PACKAGES[room].some((name) => path === name || path.startsWith(`${name}/`));
        expect(fine, `${file} imports the package ${path}`).toBe(true);
      }
    }
  });

  it('gives the page nothing of the server but types', () => {
    const types = /^import type [^;]+ from '(?:[^']*\/report\/http\/[^']+|zod)';$/gm;
    for (const file of files.filter((file) => roomOf(file) === 'web')) {
      const rest = readFileSync(join(src, file), 'utf8').replaceAll(types, '');
      expect(rest, file).not.toMatch(/from '([^']*\/report\/http\/[^']+|zod|node:[^']+)'/);
    }
  });

  it('keeps the pure rooms free of I/O', () => {
    for (const file of files.filter((file) => roomOf(file) === 'chain')) {
      expect(importsOf(file).filter((path) => path.startsWith('node:'))).toEqual([]);
    }
  });
});
