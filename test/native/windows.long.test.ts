/** The addon for Windows as it is shipped, in Windows' Node.js under Wine, with its effects on Windows' threads. */

import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packSearch } from '#pickaxe/miner/engine/cpu/kernels/kernel.js';
import { loadAddon } from '#pickaxe/miner/engine/cpu/kernels/native-kernels.js';
import { KERNEL_NAMES } from '#pickaxe/miner/engine/device.js';
import { word6Of } from '#pickaxe/protocol/chain/nonce.js';
import { addonSources, compileAddon, nodeApiHeaders } from '../../scripts/compile-addon.mjs';
import { windowsNode } from '../foreign/programs.mjs';
import { nativeIsBuilt } from '../miner/engine/cpu/loadable-kernels.ts';
import { COMPILER, noCompiler, whyNoCompiler } from '../wine/mingw.ts';
import { noWine, Windows, type WineRun, why, windowsPath } from '../wine/wine.ts';
import { type Answer, addonsFolder } from './driver.ts';
import { makeFreshCopy } from './fresh-copy.ts';
import { cornerQuestions, expected, rowQuestions, vectorQuestions } from './questions.ts';

const questions = [...vectorQuestions, ...rowQuestions, ...cornerQuestions];

/** The output of answer.mjs. */
interface Answers {
  readonly kernels: readonly { name: string; supported: boolean }[];
  readonly answers: Record<string, Answer[]>;
  readonly [other: string]: unknown;
}

describe.skipIf(noWine)(`Windows under Wine${why}`, () => {
  let windows: Windows;
  /** The package, in a path like those of users. */
  let copy: string;

  beforeAll(async () => {
    windows = Windows.open();
    copy = join(windows.folder, 'Jörg Müller');
    makeFreshCopy(copy, ['node-api-headers', '@noble']);
    rmSync(join(copy, 'native/addons'), { recursive: true, force: true });
    cpSync(addonsFolder(), join(copy, 'native/addons'), { recursive: true });
    for (const name of ['answer.mjs', 'answer-thread.mjs']) {
      copyFileSync(fileURLToPath(new URL(`./${name}`, import.meta.url)), join(copy, name));
    }
    const asked = questions.map(({ puzzle, range, run, currentRun }) => ({
      packed: [...packSearch(puzzle, run, range)],
      currentRun,
    }));
    writeFileSync(join(copy, 'questions.json'), JSON.stringify(asked));
  });
  afterAll(() => windows?.close());

  const answersOf = async (program: string): Promise<Answers> => {
    const paths = [join(copy, 'answer.mjs'), join(copy, 'questions.json')];
    const { code, stdout, stderr } = await windows.run(program, paths.map(windowsPath));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(stdout);
  };

  test('the addon has the kernels that the chip can run, and each of them and of the others gives the right answers', async () => {
    const { kernels, unusable, answers, origin } = await answersOf(windowsNode);
    expect(origin).toBe('prebuilt');
    const names = ['avx512x2', 'avx512', 'avx512vlx2', 'avx512vl', 'avx2x2long', 'avx2x2', 'avx2', 'sse41', 'portable'];
    expect(kernels.map(({ name }) => name)).toEqual(names);
    if (nativeIsBuilt) expect(kernels).toEqual(loadAddon().kernels);
    const supported = kernels.filter(({ supported }) => supported).map(({ name }) => name);
    const usable = [...supported, 'wasm-simdx2', 'wasm-simd', 'wasm'];
    expect(Object.keys(answers)).toEqual(usable);
    expect((unusable as string[][]).map(([name]) => name)).toEqual(
      KERNEL_NAMES.filter((name) => !usable.includes(name)),
    );
    const right = questions.map(expected).map(({ pages, hits }) => ({
      pages,
      hits: hits.map((hit) => ({ page: hit.page, word6: word6Of(hit) })),
    }));
    for (const name of usable) expect(answers[name]).toEqual(right);
  });

  test('the addon loads in a program that is not called node.exe, and does what Windows offers for threads', async () => {
    const renamed = join(windows.folder, 'renamed.exe');
    copyFileSync(windowsNode, renamed);
    const found = await answersOf(renamed);
    expect(found.program).toBe(windowsPath(renamed));
    expect(found).not.toHaveProperty('pinFault');
    expect(found).not.toHaveProperty('priorityFault');
    expect(found.cores).toContainEqual({ cpus: expect.arrayContaining([0]), efficiencyClass: 0 });
    // Wine 8 does not count a thread's cycles.
    expect(['number', 'undefined']).toContain(found.threadCpuMs);
    expect(found.thread).toEqual({
      pinned: 'none',
      missing: 'a thread cannot be pinned to CPU 1984: Invalid parameter',
      groups:
        'a thread cannot be pinned to CPU 1,65: Windows puts CPUs into groups of 64, and confines a thread to CPUs of one group',
      priority: 'none',
      wrongPriority: 'setThreadPriority takes a niceness from 0 to 19',
    });
  });

  test('without a compiler, the native build says what is missing and what is slower, and goes on', async () => {
    const script = [windowsPath(join(copy, 'scripts/build-native.mjs'))];
    const { code, stderr } = await windows.node(script);
    expect(stderr).toMatch(/^Warning: the native CPU kernels were not built: no C compiler of MinGW-w64 /);
    expect(stderr).toContain('clang: not found\ncc: not found\ngcc: not found\nMining works without them');
    expect(code).toBe(0);
    expect((await windows.node(script, { env: { REQUIRE_NATIVE: '1' } })).code).toBe(1);
  });

  test.skipIf(noCompiler)(
    `an addon that gcc of MinGW-w64 builds is used, and has the same kernels${whyNoCompiler}`,
    async () => {
      const carried = await answersOf(windowsNode);
      const [built, output] = [join(copy, 'native/build'), join(copy, 'native/build/pickaxe.node')];
      mkdirSync(built, { recursive: true });
      const failure = compileAddon({
        compiler: COMPILER,
        platform: 'win32',
        sources: await addonSources(),
        include: nodeApiHeaders(),
        linkFlags: [],
        folder: built,
        output,
      });
      expect(failure).toBeUndefined();
      const own = await answersOf(windowsNode);
      rmSync(built, { recursive: true });
      expect(own).toEqual({ ...carried, origin: 'built-here' });
    },
  );

  describe.skipIf(noCompiler)(`its threads${whyNoCompiler}`, () => {
    let program: string;
    beforeAll(() => {
      program = join(windows.folder, 'threads.exe');
      const native = fileURLToPath(new URL('../../native/', import.meta.url));
      const sources = [fileURLToPath(new URL('./threads.c', import.meta.url)), `${native}thread-windows.c`];
      const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-I', native, '-o', program];
      const { status, stderr } = spawnSync(COMPILER, [...flags, ...sources], { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });
    const linesOf = ({ stdout }: WineRun) => stdout.trimEnd().split(/\r?\n/);

    test('have the priorities that docs/devices.md says', async () => {
      const lines = linesOf(await windows.run(program, []));
      const priorities = lines.filter((line) => line.startsWith('niceness'));
      const NORMAL = 0;
      const BELOW_NORMAL = -1;
      const LOWEST = -2;
      const IDLE = -15;
      const levels = [NORMAL, ...Array(9).fill(BELOW_NORMAL), ...Array(9).fill(LOWEST), IDLE];
      expect(priorities).toEqual(levels.map((level, niceness) => `niceness ${niceness}: ${level}`));
    });

    test('run on the CPUs that they are pinned to, of those that the process may use', async () => {
      const all = linesOf(await windows.run(program, []));
      expect(all).toContain('pin to 0: group 0, mask 1');
      for (const cpu of [1984, 64000000]) expect(all).toContain(`pin to ${cpu}: fault: Invalid parameter`);
      const several =
        all
          .filter((line) => line.startsWith('core'))
          .join()
          .match(/ \d+/g)!.length > 1;
      if (several)
        expect(all).toEqual(expect.arrayContaining(['pin to 0 and 1: group 0, mask 3', 'pin to 1: group 0, mask 2']));

      const confined = linesOf(await windows.run(program, ['first']));
      expect(confined.filter((line) => line.startsWith('core'))).toEqual(['core of class 0: 0']);
      expect(confined).toContain('pin to 0: group 0, mask 1');
      expect(confined).toContain('pin to 0 and 1: fault: Invalid parameter');
    });
  });
});
