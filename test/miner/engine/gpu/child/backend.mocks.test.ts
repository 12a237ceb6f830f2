import { beforeEach, expect, test, vi } from 'vitest';
import { pretendPlatform } from '../../../../platform.ts';

beforeEach(() => void vi.resetModules());

/** @returns the module that opens GPUs, as it is on another system */
async function deviceOn(platform: string) {
  pretendPlatform(platform);
  return import('#pickaxe/miner/engine/gpu/child/gpu-device.js');
}

test.each([
  ['linux', 'vulkan', /vulkan can use: install .*mesa-vulkan-drivers/],
  ['win32', 'd3d12', /d3d12 can use: install the GPU maker’s driver for Windows$/],
  ['darwin', 'metal', /metal can use$/],
  ['freebsd', 'vulkan', /vulkan can use$/],
])('on %s a GPU is opened through %s only, and without one the error says what to install', async (...row) => {
  const [platform, backend, why] = row;
  const { openAdapter } = await deviceOn(platform);
  const flags: (readonly string[])[] = [];
  const adapters: (object | null)[] = [{ info: {} }, { info: {} }, null, null];
  const create = (wanted: readonly string[]) => {
    flags.push(wanted);
    return { requestAdapter: async () => adapters.shift() };
  };
  const open = (name?: string) => openAdapter(create as unknown as Parameters<typeof openAdapter>[0], name);
  expect((await open()).adapter).toEqual({ info: {} });
  await open('RTX 3080');
  expect(flags).toEqual([[`backend=${backend}`], [`backend=${backend}`, 'adapter=RTX 3080']]);
  await expect(open()).rejects.toMatchObject({ fault: 'missing', message: expect.stringMatching(why) });
  await expect(open('Voodoo 2')).rejects.toThrow("there is no GPU 'Voodoo 2': `pickaxe devices` lists the GPUs");
});
