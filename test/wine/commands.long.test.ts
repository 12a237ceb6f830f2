/** The whole command line, run by Windows' node.exe. */

import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { version } from '#pickaxe/base/system/version.js';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { BenchResult } from '#pickaxe/rig/bench/bench-result.js';
import { loadableKernels } from '../miner/engine/cpu/loadable-kernels.ts';
import { addonsFolder } from '../native/driver.ts';
import { GOLDEN } from '../rig/bench/golden.ts';
import { headers, negativeHeaders } from '../vectors.ts';
import { noWine, Windows, type WineRun, why, windowsPath } from './wine.ts';

const [golden] = GOLDEN;
/** Short measurements of one thread. */
const QUICK = ['--devices', 'cpu', '--threads', '1'];

describe.skipIf(noWine)(`on Windows${why}`, () => {
  let windows: Windows;
  beforeAll(async () => {
    windows = Windows.open(addonsFolder());
  });
  afterAll(() => windows?.close());
  const pickaxe = (...args: string[]) => windows.pickaxe(args);
  const jsonOf = ({ code, stdout, stderr }: WineRun) => {
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    return JSON.parse(stdout);
  };

  test('it says its version and what it can do', async () => {
    expect(await pickaxe('--version')).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
    const { code, stdout } = await pickaxe('help', 'mine');
    expect(code).toBe(0);
    expect(stdout).toContain('--http <address>');
  });

  test('devices says what the machine is, and how fast each kernel is', async () => {
    const { machine, cpu, noGpu, gpus } = DevicesReport.parse(
      jsonOf(await pickaxe('devices', '--json', '--threads', '1')),
    );
    expect(machine).toMatchObject({
      os: expect.stringMatching(/^win32 10\./),
      osName: expect.stringContaining('Windows'),
    });
    expect(cpu.native).toBe('prebuilt');
    expect(cpu.kernels.filter(({ usable }) => usable).map(({ name }) => name)).toEqual(loadableKernels);
    for (const { usable, hashesPerSecond } of cpu.kernels) if (usable) expect(hashesPerSecond).toBeGreaterThan(0);
    // Wine has no Direct3D 12 here: the reason is said, and the CPU is not affected.
    expect(gpus).toEqual([]);
    expect(noGpu).toMatch(/d3d12|GPU/);
  });

  test('each kernel has the hash sum that Linux has', async () => {
    const script = join(windows.installed, 'hash-sums.mjs');
    copyFileSync(new URL('./hash-sums.mjs', import.meta.url), script);
    const args = [windowsPath(script), 'pickaxe', String(golden.count), ...loadableKernels];
    const sums = jsonOf(await windows.node(args));
    expect(sums).toEqual(Object.fromEntries(loadableKernels.map((kernel) => [kernel, [golden.sum]])));
  });

  test.each(['portable', 'wasm-simd'])('bench with the kernel %s has the hash sum that Linux has', async (kernel) => {
    const args = ['--json', ...QUICK, '--kernel', kernel, '--seconds', '0.2', '--count', String(golden.count)];
    const { devices } = BenchResult.parse(jsonOf(await pickaxe('bench', ...args)));
    expect(devices[0]).toMatchObject({ kernel, runs: [{ hashSum: golden.sum, errors: [] }] });
  });

  test('verify knows what is solved', async () => {
    const solved = await pickaxe('verify', headers[0].headerHex);
    expect(solved).toMatchObject({ code: 0, stdout: expect.stringContaining(headers[0].nonce) });
    const notSolved = negativeHeaders.find(({ powOk }) => !powOk)!;
    expect((await pickaxe('verify', notSolved.headerHex)).code).toBe(1);
  });

  test('tune measures the CPU and remembers the fastest kernel', async () => {
    const run = await pickaxe('bench', '--tune', '--json', ...QUICK);
    const { kernel, kernels } = jsonOf(run);
    expect(kernels.find(({ chosen }: { chosen: boolean }) => chosen).name).toBe(kernel);
    // On a busy machine nothing may be remembered.
    if (run.stderr.includes('agree within')) return;
    const { stdout } = await windows.node(['-p', "fs.readdirSync(process.env.LOCALAPPDATA + '/pickaxe').length"]);
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  test('bench compare reads what PowerShell 5 has written, which is UTF-16', async () => {
    const args = ['--json', ...QUICK, '--seconds', '0.2', '--count', String(golden.count)];
    const { stdout } = await pickaxe('bench', ...args);
    writeFileSync(join(windows.drive, 'ä.json'), `\ufeff${stdout}`, 'utf16le');
    const compared = await pickaxe('bench', 'compare', 'C:\\ä.json', 'C:\\ä.json');
    expect(compared).toMatchObject({ code: 0, stdout: expect.stringContaining(`sums are equal: ${golden.sum}`) });
  });

  test('doctor examines this Windows and says what is missing', async () => {
    const { code, stdout } = await pickaxe('doctor');
    expect(stdout).toMatch(/^ok +system +win32 x64$/m);
    expect(stdout).toMatch(/^ok +cache +C:\\users\\.+\\AppData\\Local\\pickaxe can be written to$/m);
    expect(stdout).toMatch(/^fault +node /m);
    expect(code).toBe(1);
  });

  it.each([
    [['nonsense'], /unknown command "nonsense"/],
    [['mine'], /No node is configured/],
    [['init'], /there is no terminal here/],
    [['bench', '--threads', 'x'], /--threads/],
    [['demo', '--pause-on-battery', ...QUICK], /battery/],
    [
      ['service', 'install'],
      /only Linux has\..* Task Scheduler .*docs\/platforms\.md.* "Z:\\.*node\.exe" "C:\\Program Files.*main\.js" mine/,
    ],
    [['service', 'print'], /only Linux has/],
  ])('wrong usage ends with exit code 2 and says what to do: %j', async (args, says) => {
    const { code, stdout, stderr } = await pickaxe(...args);
    expect(stderr).toMatch(says);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });

  test('the demo mines blocks and ends with exit code 0', async () => {
    const { code, stdout, stderr } = await pickaxe('demo', ...QUICK, '--blocks', '2', '--duration', '90', '--json');
    const summary = stdout.split('\n').find((line) => line.includes('"type":"summary"'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    const { accepted, hardwareErrors } = JSON.parse(summary!);
    // A block whose answer was under way at the end counts, too.
    expect(accepted).toBeGreaterThanOrEqual(2);
    expect(hardwareErrors).toBe(0);
  });
});
