/** Tests the N-API exports of the kernels in Node.js, with sanitizers. */

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { sanitizedByGcc, whyMissing } from './driver.ts';
import { buildAddon, makeFreshCopy } from './fresh-copy.ts';

const copy = mkdtempSync(join(tmpdir(), 'pickaxe-addon-'));
afterAll(() => rmSync(copy, { recursive: true, force: true }));

const { compiler, flags, debianPackages } = sanitizedByGcc;
const missing = process.platform === 'linux' ? whyMissing(sanitizedByGcc, copy) : new Error('made for Linux');

test.skipIf(missing !== undefined && !process.env.CI)(
  `the addon is free of faults that sanitizers find${missing ? `; not tried: it takes Linux, and the Debian packages ${debianPackages}` : ''}`,
  () => {
    if (missing) throw missing;
    makeFreshCopy(copy, ['node-api-headers', '@noble']);
    const built = buildAddon(copy, { CC: [compiler, ...flags].join(' ') });
    expect(built).toMatchObject({ status: 0 });

    cpSync(fileURLToPath(new URL('./use-addon.mjs', import.meta.url)), join(copy, 'use-addon.mjs'));
    // Node is built without sanitizers: their library must be loaded before Node starts, and leaks of Node itself do
    // not count.
    const library = spawnSync(compiler, ['-print-file-name=libasan.so'], { encoding: 'utf8' }).stdout.trim();
    const env = { PATH: process.env.PATH, LD_PRELOAD: library, ASAN_OPTIONS: 'detect_leaks=0' };
    const used = spawnSync(process.execPath, ['use-addon.mjs'], { cwd: copy, env, encoding: 'utf8' });
    expect(used).toMatchObject({ stderr: '', status: 0 });

    const { supported, right, cores, faults } = JSON.parse(used.stdout);
    expect(supported).toContain('portable');
    expect(right).toEqual(supported);
    expect(cores).toEqual([]);
    expect(faults).toEqual([
      'none: 1',
      'search takes the index of a supported kernel and three arrays',
      'search takes the index of a supported kernel and three arrays',
      'search takes the index of a supported kernel and three arrays',
      'a search is a Uint32Array of 31 words',
      'a search is a Uint32Array of 31 words',
      'the current run is an Int32Array of one word',
      'hits are a Uint32Array of 513 words',
      'a row has 1 to 512 counters',
      'a row has 1 to 512 counters',
      'pinThread takes a Uint32Array of CPUs, at least one',
      'pinThread takes a Uint32Array of CPUs, at least one',
      'pinThread takes a Uint32Array of CPUs, at least one',
      'Invalid argument',
      'setThreadPriority takes a niceness from 0 to 19',
      'setThreadPriority takes a niceness from 0 to 19',
      'setThreadPriority takes a niceness from 0 to 19',
      'Function not implemented',
    ]);
  },
);
