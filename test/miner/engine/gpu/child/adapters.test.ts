import { expect, test } from 'vitest';
import { isSoftware, modelOf, parseNames, pickedBy } from '#pickaxe/miner/engine/gpu/child/gpu-device.js';

test('reads the names in Dawn’s error', () => {
  const message = `no adapter with backend 'vulkan' and name 'x' found
Available adapters:
 * backend: 'vulkan', name: 'NVIDIA GeForce RTX 4090'
 * backend: 'vulkan', name: 'Somebody's GPU, (LLVM 15.0.6, 256 bits)'`;
  expect(parseNames(message)).toEqual(['NVIDIA GeForce RTX 4090', "Somebody's GPU, (LLVM 15.0.6, 256 bits)"]);
  expect(parseNames('something else went wrong')).toEqual([]);
});

test('finds the GPU that Dawn gives for a name', () => {
  const names = ['RTX 4090 D', 'RTX 4090', 'RTX 3060', 'RTX 3060'];
  expect(names.map((name) => pickedBy(name, names))).toEqual([0, 0, 2, 2]);
});

const NAMELESS = { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false };
const adapterOf = (info: Partial<typeof NAMELESS>) => ({ info: { ...NAMELESS, ...info } }) as GPUAdapter;

test('a GPU has the best name that its driver tells', () => {
  const all = { description: 'NVIDIA 570.1', device: 'RTX 4090', architecture: 'ada', vendor: 'nvidia' };
  const names = Object.keys(all).map((_, i) => modelOf(adapterOf(Object.fromEntries(Object.entries(all).slice(i)))));
  expect(names).toEqual(['NVIDIA 570.1', 'RTX 4090', 'ada', 'nvidia']);
  expect(modelOf(adapterOf({}))).toBe('unknown GPU');
});

test.each<[Partial<typeof NAMELESS>, boolean]>([
  [{ isFallbackAdapter: true }, true],
  [{ architecture: 'Software' }, true],
  [{ device: 'llvmpipe (LLVM 15.0.6, 256 bits)' }, true],
  [{ description: 'SwiftShader driver' }, true],
  [{ device: 'Microsoft Basic Render Driver' }, true],
  [{ vendor: 'nvidia', architecture: 'ada', device: 'RTX 4090', description: 'NVIDIA 570.1' }, false],
  [{}, false],
])('whether %j is software that runs on the CPU: %s', (info, expected) => {
  expect(isSoftware(adapterOf(info))).toBe(expected);
});
