import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { pretendPlatform } from '../../../../platform.ts';

beforeEach(() => void vi.resetModules());

/** @returns the place of NVIDIA's library on a system, with Windows' separators on Windows */
async function libraryOn(platform: string, root: string | undefined): Promise<string> {
  pretendPlatform(platform);
  vi.stubEnv('SystemRoot', root);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { NVML_LIBRARY } = await import('#pickaxe/miner/engine/gpu/nvml.js');
  return platform === 'win32' ? NVML_LIBRARY.replaceAll('/', '\\') : NVML_LIBRARY;
}

test.each([
  ['linux', 'D:\\WINNT', 'libnvidia-ml.so.1'],
  ['win32', 'D:\\WINNT', 'D:\\WINNT\\System32\\nvml.dll'],
  ['win32', undefined, 'C:\\Windows\\System32\\nvml.dll'],
])('on %s, whose root is %s, NVIDIA’s library is %s', async (platform, root, library) => {
  expect(await libraryOn(platform, root)).toBe(library);
});
