/** What pickaxe doctor reads of a machine's GPUs, on files that the test names. */

import { join } from 'node:path';
import { expect, it, vi } from 'vitest';

const files = [
  ['/dev/dri', ['renderD128', 'card0']],
  ['/dev', ['nvidia0', 'nvidiactl', 'nvidia-uvm', 'nvidia-uvm-tools', 'xnvidia0', 'null']],
  ['/usr/share/vulkan/icd.d', ['radeon_icd.json', 'radeon_icd.json.bak']],
  ['/etc/vulkan/icd.d', ['nvidia_icd.json', 'README']],
] as const;
const machine = vi.hoisted(() => ({ loader: '' }));

vi.mock('node:fs', async (importOriginal) => ({
  ...(await importOriginal<typeof import('node:fs')>()),
  readdirSync: (folder: string) => {
    const [, names] = files.find(([path]) => join(path) === join(folder)) ?? [];
    if (names === undefined) throw new Error(`there is no ${folder}`);
    return [...names];
  },
  existsSync: (path: string) => path === machine.loader,
  accessSync: (path: string) => {
    if (join(path) !== join('/dev/dri/renderD128')) throw new Error(`${path} may not be opened`);
  },
}));

const { readGpus } = await import('#pickaxe/app/doctor/examine-gpus.js');

it('the files of devices, drivers and the loader', () => {
  const facts = readGpus({ gpus: [] });
  expect(facts).toEqual({
    ...{ gpus: [], platform: process.platform, hasPackage: expect.any(Boolean), devices: expect.any(Array) },
    nodes: [
      { path: join('/dev/dri/renderD128'), isOpen: true },
      { path: join('/dev/nvidia0'), isOpen: false },
      { path: join('/dev/nvidiactl'), isOpen: false },
      { path: join('/dev/nvidia-uvm'), isOpen: false },
    ],
    drivers: ['nvidia_icd.json', 'radeon_icd.json'],
    hasLoader: false,
  });
  machine.loader = join('/usr/lib64', 'libvulkan.so.1');
  expect(readGpus({ gpus: [] }).hasLoader).toBe(true);
});
