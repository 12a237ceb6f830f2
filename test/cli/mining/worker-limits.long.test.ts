/** Parents of `pickaxe worker` that make its time limits expire. */

import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Folder } from '../../app/config/folder.ts';
import { job, makeHeader, targetHex } from '../../miner/source/parent/parent.ts';
import { PATIENCE } from '../../patience.ts';
import { connectTo, killWorkers, startWorker } from './worker-parent.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(async () => {
  await killWorkers();
  folder.remove();
});

it.skipIf(process.platform === 'win32')(
  'parents that read nothing and end their side give up their places',
  async () => {
    const path = join(folder.path, 'worker.sock');
    startWorker(['--listen', `unix:${path}`]);
    const ping = { type: 'ping', echo: 'x'.repeat(250) };
    for (let i = 0; i < 64; i++) {
      const unreading = await connectTo(path, false);
      // The answers are larger than a system's buffer.
      unreading.say(...Array<object>(2_500).fill(ping));
      unreading.end();
    }
    await vi.waitFor(async () => {
      const parent = await connectTo(path);
      await Promise.race([parent.next('hello'), parent.next('error')]);
      expect(parent.of('hello')).toHaveLength(1);
    }, PATIENCE);
  },
);

it.skipIf(process.platform === 'win32')('pauses while its parent does not read, and loses no share', async () => {
  const { parent, code, stderr } = startWorker([], false);
  parent.say(job('a', makeHeader(), { target: targetHex(10) }));
  await vi.waitFor(() => expect(stderr()).toContain('the parent does not read'), PATIENCE);
  await vi.waitFor(() => expect(stderr()).toMatch(/cpu +paused: the parent does not answer/), PATIENCE);
  parent.read();
  const shares = await parent.next('share', 1_000);
  expect(shares.map(({ share }) => share)).toEqual(shares.map((_, i) => i + 1));
  await parent.next('paused');
  parent.end();
  expect(await code).toBe(0);
  await vi.waitFor(() => expect(parent.of('bye')).toMatchObject([{ shares: parent.of('share').length }]), PATIENCE);
  expect(new Set(parent.of('share').map(({ nonce }) => nonce)).size).toBe(parent.of('share').length);
});
