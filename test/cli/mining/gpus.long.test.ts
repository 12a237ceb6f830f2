import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { expectShape } from '../../expect-shape.ts';
import { openersOf, pretend, whyNoCards, withCrashes } from '../../miner/engine/gpu/pretend-driver.ts';
import { MockNode } from '../../mock-node/node.ts';
import { type Run, start } from '../pickaxe.ts';
import { rememberGpu } from '../remember-gpu.ts';

const model = 'GeForce RTX 3080';
/** Far more time than a CPU that emulates two GPUs needs to find their fastest kernels at once. */
const TUNED_MS = 120_000;

let run: Run | undefined;
afterAll(() => run?.child.kill('SIGKILL'));

describe.skipIf(whyNoCards)(`a rig of three identical GPUs${whyNoCards ? ` (${whyNoCards})` : ''}`, () => {
  const cards = [0x17, 0x65, 0xb3].map((bus) => ({ model, driver: `at ${bus.toString(16)}`, bus }));
  const rig = whyNoCards ? undefined : pretend(cards);
  const environment = rig?.environment ?? {};
  afterAll(() => rig && rmSync(rig.folder, { recursive: true }));

  it('is listed with everything that is known of each GPU', async () => {
    const listing = start(['devices', '--json', '--threads', '1'], environment);
    expect(await listing.code).toBe(0);
    const report = JSON.parse(listing.lines[0]);
    expectShape(DevicesReport, report);
    const { gpus } = report;
    for (const gpu of gpus) rememberGpu(gpu);
    expect(gpus).toHaveLength(3);
    expect(gpus[1]).toEqual({
      name: 'gpu1',
      model,
      backend: 'vulkan',
      vendor: 'nvidia',
      driver: expect.stringContaining('at 65'),
      bus: '0000:65:00.0',
      software: false,
      usable: true,
      why: expect.stringMatching(/./),
      environment: { DRI_PRIME: 'pci-0000_65_00_0!', MESA_VK_DEVICE_SELECT: '' },
    });
  });

  it('is listed for people, with the GPUs that are not used and why', async () => {
    const listing = start(['devices', '--threads', '1'], { ...environment, NODEVICE_SELECT: '1' });
    expect(await listing.code).toBe(0);
    const text = listing.lines.slice(listing.lines.findIndex((line) => line.startsWith('gpu0'))).join('\n');
    expect(text).toMatch(/^gpu0 {2}GeForce RTX 3080\n {6}vulkan, .*, bus not known\n {6}\+ used: hardware\n/);
    expect(text).toMatch(/gpu1 {2}GeForce RTX 3080\n.*\n {6}- not used: another GPU has the same name/);
  });

  it(
    'mines with the GPUs asked for, and names those that exist when one is missing',
    async () => {
      const mock = new MockNode({ dialect: 'chainweb', difficulty: 2 ** 50 });
      const { url } = await mock.start();
      const node = ['--node', url, '--network', 'development', '--public-key', 'a1'.repeat(32), '--json'];
      run = start(['mine', ...node, '--devices', 'gpu0,gpu2,gpu9'], environment);
      const bothHash = () => {
        const devices = (run?.events('hashrate').at(-1)?.devices ?? {}) as Record<string, { hashesPerSecond: number }>;
        expect(devices.gpu0?.hashesPerSecond).toBeGreaterThan(0);
        expect(devices.gpu2?.hashesPerSecond).toBeGreaterThan(0);
      };
      await vi.waitFor(bothHash, { timeout: TUNED_MS, interval: 100 });
      run.child.kill('SIGTERM');
      expect(await run.code).toBe(0);
      await mock.close();
      // Listing the GPUs opens none of them.
      expect(cards.map(({ driver }) => openersOf(driver, rig!).length)).toEqual([1, 0, 1]);
      const all = ['gpu0', 'gpu1', 'gpu2'].map((name) => `${name} (${model})`).join(', ');
      const absent = run.events('device').find(({ device }) => device === 'gpu9');
      expect(absent?.reason).toContain(all);
    },
    TUNED_MS,
  );
});

describe.skipIf(whyNoCards)(`a driver that crashes${whyNoCards ? ` (${whyNoCards})` : ''}`, () => {
  it('causes a warning, and the CPU mines', async () => {
    const rig = withCrashes(pretend([]), 2);
    const demo = ['demo', '--threads', '1', '--blocks', '1', '--duration', '60', '--log-format', 'json'];
    run = start(demo, rig.environment);
    expect(await run.code).toBe(0);
    rmSync(rig.folder, { recursive: true });
    const lines = run.stderr.trim().split('\n');
    const warning = lines.map((line) => JSON.parse(line)).find(({ tag }) => tag === 'gpu');
    expect(warning).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/^no GPU is used: .*SIGKILL.*docs\/devices\.md/),
    });
  });
});
