/** The list of GPUs, from the answers of pretended child processes. */

import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Environment } from '#pickaxe/miner/engine/gpu/gpu-process.js';
import type { DisplayDevice } from '#pickaxe/miner/engine/gpu/pci.js';
import type { Adapter, ToParent } from '#pickaxe/miner/engine/gpu/protocol.js';
import { pretendPlatform } from '../../../platform.ts';

/** What the pretended system has. */
const system = vi.hoisted(() => ({
  devices: [] as readonly unknown[],
  /** The processes that were started, in order. */
  started: [] as { readonly connected: boolean; readonly isReferenced: boolean }[],
  /** @returns the answer of a process to `list`, after its output @param environment its variables */
  answer: (_environment: Readonly<Record<string, string>>): { output?: string; message: unknown } => {
    throw new Error('no answer');
  },
}));

vi.mock('node:child_process', async (load) => {
  const { FakeChild } = await import('./fake-child.ts');
  const fork = (path: string, args: readonly string[], options: { readonly env: Record<string, string> }) => {
    const child = FakeChild.fork(path, args, options);
    system.started.push(child);
    vi.spyOn(child, 'send').mockImplementation(() => {
      const { output = '', message } = system.answer(options.env);
      child.stderr.write(output);
      queueMicrotask(() => child.says(message as ToParent));
    });
    return child;
  };
  return { ...(await load<object>()), fork };
});

vi.mock('#pickaxe/miner/engine/gpu/pci.js', async (load) => ({
  ...(await load<object>()),
  displayDevices: () => system.devices as readonly DisplayDevice[],
}));

beforeEach(() => {
  vi.resetModules();
  system.started = [];
  system.devices = [];
});

/** @returns the GPUs as they are listed on another system */
async function listOn(platform: string, options = {}) {
  pretendPlatform(platform);
  const { listGpus } = await import('#pickaxe/miner/engine/gpu/list-gpus.js');
  return listGpus(options);
}

const listed = (...adapters: Adapter[]): ToParent => ({ type: 'listed', adapters });
const adapter = (model: string, vendor: string, software = false): Adapter => ({
  model,
  backend: 'vulkan',
  info: { vendor, driver: `driver of ${vendor}`, software },
});

const answerWith = (...adapters: Adapter[]) => {
  system.answer = () => ({ message: listed(...adapters) });
};

describe('the list of GPUs', () => {
  test('has hardware first, with the address that the system knows, and says why each is usable', async () => {
    answerWith(adapter('llvmpipe', 'mesa', true), adapter('Arc', 'intel'), adapter('RTX', 'nvidia'));
    system.devices = [{ bus: '0000:65:00.0', vendor: 'nvidia' }];
    expect(await listOn('linux')).toEqual([
      {
        name: 'gpu0',
        model: 'Arc',
        backend: 'vulkan',
        vendor: 'intel',
        driver: 'driver of intel',
        software: false,
        usable: true,
        why: 'hardware',
      },
      expect.objectContaining({ name: 'gpu1', model: 'RTX', bus: '0000:65:00.0', usable: true, why: 'hardware' }),
      expect.objectContaining({
        name: 'gpu2',
        model: 'llvmpipe',
        usable: false,
        why: 'runs on the CPU; --software-gpu would use it',
      }),
    ]);
    expect(system.started.map(({ connected }) => connected)).toEqual([false]);
  });

  test('has software as usable if it was asked for', async () => {
    answerWith(adapter('llvmpipe', 'mesa', true));
    expect(await listOn('linux', { softwareGpu: true })).toMatchObject([{ usable: true, why: 'runs on the CPU' }]);
  });

  test('has a GPU that cannot be opened as unusable, with the reason', async () => {
    answerWith({ model: 'RTX', backend: 'vulkan', fault: 'the driver is too old' });
    expect(await listOn('linux', { softwareGpu: true })).toMatchObject([
      { usable: false, why: 'the driver is too old' },
    ]);
  });

  const BUSES = ['0000:65:00.0', '0000:17:00.0'];
  const tableOf = (...rows: readonly (readonly [model: string, bus: string])[]) =>
    `selectable devices:\n${rows.map(([model, bus], i) => `  GPU ${i}: 10de:2206 "${model}" discrete GPU ${bus}\n`).join('')}`;

  test('tells equal cards apart by processes that see one of them each, in the order of their addresses', async () => {
    const environments: Environment[] = [];
    system.answer = (environment) => {
      const { DRI_PRIME, MESA_VK_DEVICE_SELECT, MESA_VK_DEVICE_SELECT_DEBUG, OURS } = environment;
      environments.push({ DRI_PRIME, MESA_VK_DEVICE_SELECT, MESA_VK_DEVICE_SELECT_DEBUG, OURS });
      if (DRI_PRIME) return { message: listed(adapter('RTX', 'nvidia')) };
      const output = tableOf(...BUSES.map((bus) => ['RTX', bus] as const));
      return { output, message: listed(adapter('RTX', 'nvidia'), { model: 'RTX', backend: 'vulkan' }) };
    };
    const gpus = await listOn('linux', { environment: { OURS: 'x' } });
    const why = 'hardware, identified by its PCI address';
    expect(gpus.map(({ name, bus, usable, why }) => [name, bus, usable, why])).toEqual([
      ['gpu0', BUSES[1], true, why],
      ['gpu1', BUSES[0], true, why],
    ]);
    expect(environments).toEqual([
      { MESA_VK_DEVICE_SELECT_DEBUG: '1', OURS: 'x' },
      { DRI_PRIME: 'pci-0000_65_00_0!', MESA_VK_DEVICE_SELECT: '', OURS: 'x' },
      { DRI_PRIME: 'pci-0000_17_00_0!', MESA_VK_DEVICE_SELECT: '', OURS: 'x' },
    ]);
  });

  test('has a second driver of a card as unusable, and says which GPU is the same card', async () => {
    system.answer = () => ({
      output: tableOf(['Arc', BUSES[0]], ['RADV', BUSES[1]], ['AMDVLK', BUSES[1]]),
      message: listed(adapter('Arc', 'intel'), adapter('RADV', 'amd'), adapter('AMDVLK', 'amd')),
    });
    const gpus = await listOn('linux', { softwareGpu: true });
    expect(gpus.map(({ model, usable }) => [model, usable])).toEqual([
      ['RADV', true],
      ['AMDVLK', false],
      ['Arc', true],
    ]);
    expect(gpus[1].why).toMatch(/^the same card as gpu0, through another driver; to use this driver instead, name /);
  });

  test('says which GPU is the same card, also if that comes later', async () => {
    system.answer = () => ({
      output: tableOf(['Arc', BUSES[1]], ['RADV', BUSES[0]], ['AMDVLK', BUSES[0]]),
      message: listed(
        adapter('Arc', 'intel'),
        { model: 'RADV', backend: 'vulkan', fault: 'refused' },
        adapter('AMDVLK', 'amd'),
      ),
    });
    const gpus = await listOn('linux');
    expect(gpus.map(({ model, usable }) => [model, usable])).toEqual([
      ['Arc', true],
      ['RADV', false],
      ['AMDVLK', true],
    ]);
    expect(gpus[1].why).toMatch(/^the same card as gpu2, through another driver; /);
  });

  test('does not say which GPU is the same card where no address is certain', async () => {
    const models = ['RADV', 'RADV', 'AMDVLK', 'AMDVLK'];
    const all = models.map((model, i) => (i % 2 === 0 ? adapter(model, 'amd') : { model, backend: 'vulkan' }));
    // The layer is too old: every process sees all cards.
    const output = tableOf(...models.map((model, i) => [model, BUSES[i % 2]] as const));
    system.answer = () => ({ output, message: listed(...all) });
    const gpus = await listOn('linux');
    expect(gpus.map(({ usable }) => usable).filter(Boolean)).toHaveLength(1);
    const doubles = gpus.filter(({ why }) => why.startsWith('the same card as '));
    expect(doubles.length).toBeGreaterThan(0);
    for (const { why } of doubles) expect(why).toMatch(/^the same card as another, through another driver; /);
  });

  test.each([
    ['linux', /is missing or too old \(install mesa-.*; to mine on both, run one pickaxe for each GPU in a container/],
    ['win32', /, and nothing on this system tells them apart; only the first of them is used \(see docs/],
  ])('on %s uses only the first of equal cards where nothing tells them apart', async (platform, why) => {
    answerWith(adapter('RTX', 'nvidia'), { model: 'RTX', backend: 'vulkan' });
    const gpus = await listOn(platform);
    expect(gpus.map(({ usable }) => usable)).toEqual([true, false]);
    expect(gpus[1].why).toMatch(why);
  });

  test('is asked for again when a driver was lost, but not when there is no GPU', async () => {
    let asked = 0;
    const failFirst = (fault: 'lost' | 'missing') => {
      asked = 0;
      system.answer = () => ({
        message: asked++ === 0 ? { type: 'failed', fault, message: 'no' } : listed(adapter('RTX', 'nvidia')),
      });
    };
    failFirst('lost');
    expect(await listOn('linux')).toMatchObject([{ model: 'RTX' }]);
    expect(asked).toBe(2);
    failFirst('missing');
    await expect(listOn('linux')).rejects.toMatchObject({ fault: 'missing', message: 'no' });
    expect(asked).toBe(1);
    expect(system.started.map(({ isReferenced }) => isReferenced)).toEqual([false, false, false]);
  });

  test('asks a process that sees one card again when it was lost', async () => {
    let isFirst = true;
    system.answer = ({ DRI_PRIME }) => {
      const output = tableOf(...BUSES.map((bus) => ['RTX', bus] as const));
      if (!DRI_PRIME) return { output, message: listed(adapter('RTX', 'nvidia'), { model: 'RTX', backend: 'vulkan' }) };
      if (!isFirst) return { message: listed(adapter('RTX', 'nvidia')) };
      isFirst = false;
      return { message: { type: 'failed', fault: 'lost', message: 'no' } };
    };
    expect((await listOn('linux')).map(({ usable }) => usable)).toEqual([true, true]);
    expect(system.started).toHaveLength(4);
  });
});
