import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { listGpus } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { jobOf, searchVectors } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { gpuEngine } from './adapter.ts';
import { openersOf, pretend, type Rig, twoLavapipes, whyNoCards, withCrashes } from './pretend-driver.ts';

// Tests that cannot run on this machine are skipped and say why, but in CI they fail.
if (whyNoCards && process.platform === 'linux' && process.env.CI) {
  throw new Error(`CI must tell cards apart (${whyNoCards})`);
}

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** @returns the environment of a rig, whose files are removed after the test */
function rigOf({ environment, folder }: Rig): Record<string, string> {
  folders.push(folder);
  return environment;
}

describe.skipIf(whyNoCards)(`a rig of pretended cards${whyNoCards ? ` (${whyNoCards})` : ''}`, () => {
  const model = 'GeForce RTX 3080';
  const alike = [0xb3, 0x17, 0x65].map((bus) => ({ model, driver: `at ${bus.toString(16)}`, bus }));

  test('lists three equal cards in the order of their addresses, each with a process that sees no other', async () => {
    const gpus = await listGpus({ environment: rigOf(pretend(alike)) });
    expect(gpus).toEqual(
      ['17', '65', 'b3'].map((bus, i) => ({
        name: `gpu${i}`,
        model,
        backend: 'vulkan',
        vendor: 'nvidia',
        driver: expect.stringContaining(`at ${bus}`),
        software: false,
        bus: `0000:${bus}:00.0`,
        environment: { DRI_PRIME: `pci-0000_${bus}_00_0!`, MESA_VK_DEVICE_SELECT: '' },
        usable: true,
        why: expect.stringContaining('identified by its PCI address'),
      })),
    );
  });

  test('mines on two equal cards, each in its own process', async () => {
    const rig = pretend(alike.slice(0, 2));
    const environment = rigOf(rig);
    const gpus = await listGpus({ environment });
    const { headerHex, targetHex, lane, page, counter, start, nonce } = searchVectors.first[0];
    const range = { lane, step: 1, page, pages: 1, counter: start, counters: counter - start + 1 };
    const engines = gpus.map((gpu) =>
      gpuEngine({ name: gpu.name, adapter: gpu.model, environment: { ...environment, ...gpu.environment } }),
    );
    await Promise.all(engines.map((engine) => engine.open()));
    expect(openersOf('at 17', rig)).toEqual([engines[0].pid]);
    expect(openersOf('at b3', rig)).toEqual([engines[1].pid]);
    const search = async (engine: GpuEngine) => {
      const candidates: bigint[] = [];
      const reports = engine.search(jobOf(headerHex, targetHex), new Rectangle(range), new AbortController().signal);
      for await (const report of reports) candidates.push(...report.candidates);
      await engine.close();
      return candidates;
    };
    expect(await Promise.all(engines.map(search))).toEqual([[BigInt(nonce)], [BigInt(nonce)]]);
  });

  test('distinguishes a card from one whose name is longer, whichever comes first', async () => {
    const longer = { model: `${model} Ti`, driver: 'the longer', bus: 1 };
    const gpus = await listGpus({ environment: rigOf(pretend([longer, alike[0]])) });
    expect(gpus).toMatchObject([
      { model: longer.model, driver: expect.stringContaining('the longer'), bus: '0000:01:00.0', usable: true },
      { model, driver: expect.stringContaining('at b3'), bus: '0000:b3:00.0', usable: true },
    ]);
    expect(gpus.map(({ environment }) => environment?.DRI_PRIME)).toEqual([undefined, 'pci-0000_b3_00_0!']);
  });

  test('mines on the first of two equal cards without the layer, and says what to install', async () => {
    const gpus = await listGpus({ environment: { ...rigOf(pretend(alike)), NODEVICE_SELECT: '1' } });
    expect(gpus.map(({ usable }) => usable)).toEqual([true, false, false]);
    expect(gpus.map(({ bus, environment }) => bus ?? environment)).toEqual([undefined, undefined, undefined]);
    expect(gpus[1].why).toMatch(/mesa-vulkan-drivers.*docs\/devices\.md/);
  });

  test('mines on the first of two equal cards whose driver reports no address', async () => {
    const silent = alike.map(({ driver }) => ({ model, driver }));
    const gpus = await listGpus({ environment: rigOf(pretend(silent)) });
    expect(gpus.map(({ usable }) => usable)).toEqual([true, false, false]);
    expect(gpus[2].why).toMatch(/PCI address/);
  });

  test('uses a card with two drivers once', async () => {
    const drivers = ['RX 7900 XTX (RADV NAVI31)', 'RX 7900 XTX'].map((model) => ({ model, driver: model, bus: 0x17 }));
    const gpus = await listGpus({ environment: rigOf(pretend(drivers)) });
    // The Vulkan loader decides which of them is the first.
    expect(gpus.map(({ model }) => model).sort()).toEqual(drivers.map(({ model }) => model).sort());
    expect(gpus).toMatchObject([
      { name: 'gpu0', bus: '0000:17:00.0', usable: true },
      { name: 'gpu1', bus: '0000:17:00.0', usable: false },
    ]);
    expect(gpus[1].why).toMatch(/^the same card as gpu0, through another driver; .*VK_DRIVER_FILES/);
    expect(gpus[1]).not.toHaveProperty('double');
  });

  test('uses each of two equal cards with two drivers once', async () => {
    const names = ['RX 7900 XTX (RADV NAVI31)', 'RX 7900 XTX'];
    const drivers = names.flatMap((model) => [0x17, 0x65].map((bus) => ({ model, driver: `${model} at ${bus}`, bus })));
    const gpus = await listGpus({ environment: rigOf(pretend(drivers)) });
    const used = gpus.filter(({ usable }) => usable);
    expect(used.map(({ bus }) => bus)).toEqual(['0000:17:00.0', '0000:65:00.0']);
    expect(used.map(({ environment }) => environment?.DRI_PRIME)).toEqual(['pci-0000_17_00_0!', 'pci-0000_65_00_0!']);
    for (const { bus, why } of gpus.filter(({ usable }) => !usable)) {
      expect(why).toContain(`the same card as ${used.find((each) => each.bus === bus)!.name},`);
    }
    expect(gpus).toHaveLength(4);
  });

  test('is listed at the second attempt when a process crashes', async () => {
    const gpus = await listGpus({ environment: rigOf(withCrashes(pretend(alike.slice(0, 1)), 1)) });
    expect(gpus).toMatchObject([{ name: 'gpu0', model, usable: true }]);
  });

  test('is looked at no more than twice', async () => {
    const rig = withCrashes(pretend(alike.slice(0, 1)), 9);
    const crash = { fault: 'lost', message: expect.stringContaining('ended with SIGKILL') };
    await expect(listGpus({ environment: rigOf(rig) })).rejects.toMatchObject(crash);
    expect(readFileSync(join(rig.folder, 'loaded'), 'utf8')).toBe('!!');
  });

  test('with two equal software renderers offers the first one', async () => {
    const environment = rigOf(twoLavapipes());
    const gpus = await listGpus({ environment, softwareGpu: true });
    expect(gpus).toMatchObject([
      { name: 'gpu0', vendor: 'mesa', software: true, usable: true },
      { name: 'gpu1', vendor: 'mesa', software: true, usable: false, why: expect.stringContaining('PCI address') },
    ]);
    expect((await listGpus({ environment })).map(({ usable }) => usable)).toEqual([false, false]);
    // The layer can also hide GPUs by maker and device. pickaxe does not use that, but its child processes obey it.
    const one = await listGpus({ environment: { ...environment, MESA_VK_DEVICE_SELECT: '10005:0!' } });
    expect(one).toHaveLength(1);
  });
});
