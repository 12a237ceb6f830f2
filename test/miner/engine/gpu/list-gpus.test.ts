import { describe, expect, test, vi } from 'vitest';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import type { Found } from '#pickaxe/miner/engine/gpu/disambiguate.js';
import { inOrder, placeOnBus, twiceIfLost } from '#pickaxe/miner/engine/gpu/list-gpus.js';

describe('a question that fails with a lost device', () => {
  const lost = new DeviceError('lost', 'the GPU was lost: it did not answer within 60 s');

  test('is asked a second time', async () => {
    const ask = vi.fn(async () => 'a GPU').mockRejectedValueOnce(lost);
    expect(await twiceIfLost(ask)).toBe('a GPU');
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test.each([
    [new DeviceError('missing', 'no Vulkan driver'), 1],
    [new TypeError('a fault of our own'), 1],
    [lost, 2],
  ])('does not hide %s', async (error, times) => {
    const ask = vi.fn(() => Promise.reject(error));
    await expect(twiceIfLost(ask)).rejects.toBe(error);
    expect(ask).toHaveBeenCalledTimes(times);
  });
});

describe('the order of GPUs', () => {
  const gpu = (bus?: string, software = false): Found => {
    const words = { model: bus ?? 'x', backend: 'vulkan', vendor: 'amd', driver: '' };
    return { ...words, software, ...(bus && { bus }) };
  };

  test('is that of their addresses, with software renderers last', () => {
    const found = [gpu(undefined, true), gpu('10000:02:00.0'), gpu('0000:b3:00.0'), gpu('0000:17:00.0')];
    expect(inOrder(found).map(({ bus }) => bus)).toEqual(['0000:17:00.0', '0000:b3:00.0', '10000:02:00.0', undefined]);
  });

  test('is Dawn’s for equal addresses', () => {
    const found = ['b', 'a', 'c'].map((model) => ({ ...gpu('0000:17:00.0'), model }));
    expect(inOrder([gpu('0000:b3:00.0'), ...found]).map(({ model }) => model)).toEqual(['b', 'a', 'c', '0000:b3:00.0']);
  });

  test('is Dawn’s when one has no address', () => {
    const found = [gpu('0000:b3:00.0'), gpu(undefined, true), gpu(), gpu('0000:17:00.0')];
    expect(inOrder(found).map(({ bus }) => bus)).toEqual(['0000:b3:00.0', undefined, '0000:17:00.0', undefined]);
    expect(inOrder(found).map(({ software }) => software)).toEqual([false, false, false, true]);
  });
});

describe('the address that the system knows', () => {
  const gpu = (vendor: string) => ({ model: vendor, backend: 'vulkan', vendor, driver: '', software: false });
  const amd = { bus: '0000:03:00.0', vendor: 'amd' } as const;
  const nvidia = { bus: '0000:01:00.0', vendor: 'nvidia' } as const;

  test('is used for the only GPU of a maker', () => {
    const buses = placeOnBus([gpu('nvidia'), gpu('amd'), gpu('intel')], [amd, nvidia]).map(({ bus }) => bus);
    expect(buses).toEqual([nvidia.bus, amd.bus, undefined]);
  });

  test('is not guessed', () => {
    expect(placeOnBus([gpu('amd'), gpu('amd')], [amd])[0].bus).toBeUndefined();
    expect(placeOnBus([gpu('amd')], [amd, { ...amd, bus: '0000:04:00.0' }])[0].bus).toBeUndefined();
    expect(placeOnBus([{ ...gpu('amd'), bus: '0000:09:00.0' }], [amd])[0].bus).toBe('0000:09:00.0');
  });
});
