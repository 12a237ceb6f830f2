import { expect, test } from 'vitest';
import { parseNames, pickedBy } from '#pickaxe/miner/engine/gpu/child/gpu-device.js';

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
