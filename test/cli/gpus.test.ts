import { rmSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { pretend, whyNoCards } from '../engine/gpu/pretend-driver.ts';
import { start } from './pickaxe.ts';

const model = 'GeForce RTX 3080';

describe.skipIf(whyNoCards)(`a rig of three GPUs alike${whyNoCards ? ` (${whyNoCards})` : ''}`, () => {
  const { environment, folder } = whyNoCards
    ? { environment: {}, folder: undefined }
    : pretend([0x17, 0x65, 0xb3].map((bus) => ({ model, driver: `at ${bus.toString(16)}`, bus })));
  afterAll(() => folder && rmSync(folder, { recursive: true }));

  it('is listed with all that is known of each', async () => {
    const listing = start(['devices', '--json', '--threads', '1'], environment);
    expect(await listing.code).toBe(0);
    const { gpus } = JSON.parse(listing.lines[0]);
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

  it('is listed for people, and says which are not used and why', async () => {
    const listing = start(['devices', '--threads', '1'], { ...environment, NODEVICE_SELECT: '1' });
    expect(await listing.code).toBe(0);
    const text = listing.lines.slice(listing.lines.findIndex((line) => line.startsWith('gpu0'))).join('\n');
    expect(text).toMatch(/^gpu0 {2}GeForce RTX 3080\n {6}vulkan, .*, bus not known\n {6}\+ used: hardware\n/);
    expect(text).toMatch(/gpu1 {2}GeForce RTX 3080\n.*\n {6}- not used: another GPU answers to its name/);
  });

  it('mines with those asked for, and says which there are of one that there is not', async () => {
    const mock = new MockNode({ difficulty: 100_000 });
    const { url } = await mock.start();
    const node = ['--node', url, '--network', 'development', '--public-key', 'ab'.repeat(32)];
    const bounds = ['--blocks', '6', '--duration', '120', '--json'];
    const run = start(['mine', ...node, ...bounds, '--devices', 'gpu0,gpu2,gpu9'], environment);
    expect(await run.code).toBe(0);
    await mock.close();
    expect(mock.books).toMatchObject({ rejected: 0, duplicates: 0 });
    const devices = run.events('device');
    const ready = devices.filter(({ state }) => state === 'ready');
    expect(ready.map(({ device }) => device).sort()).toEqual(['gpu0', 'gpu2']);
    for (const { device, description } of ready) {
      expect(description).toContain(device === 'gpu0' ? 'at 17' : 'at b3');
    }
    const all = ['gpu0', 'gpu1', 'gpu2'].map((name) => `${name} (${model})`).join(', ');
    expect(devices.find(({ device }) => device === 'gpu9')?.reason).toContain(all);
  });
});
