import { expect, test } from 'vitest';
import { DeviceError, MissingEngine } from '#pickaxe/miner/engine/engine.js';

test('a GPU that was asked for by name and is missing has its name, and fails with the reason', async () => {
  const engine = new MissingEngine('gpu3', 'there are only two GPUs');
  expect([engine.name, engine.kind]).toEqual(['gpu3', 'gpu']);
  for (let i = 0; i < 2; i++) {
    await expect(engine.open()).rejects.toThrow(new DeviceError('missing', 'there are only two GPUs'));
    await expect(engine.open()).rejects.toMatchObject({ fault: 'missing' });
    expect(() => engine.search()).toThrow(
      expect.objectContaining({ fault: 'missing', message: 'there are only two GPUs' }),
    );
    await engine.close();
  }
});
