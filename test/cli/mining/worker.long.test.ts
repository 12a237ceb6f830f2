/** Parents of `pickaxe worker` that make its time limits expire. */

import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Folder } from '../../app/config/folder.ts';
import { PATIENCE } from '../pickaxe.ts';
import { connectTo, killWorkers, startWorker } from './worker-parent.ts';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(async () => {
  await killWorkers();
  folder.remove();
});

it.skipIf(process.platform === 'win32')('deaf parents that end their side give up their places', async () => {
  const path = join(folder.path, 'worker.sock');
  startWorker(['--listen', `unix:${path}`]);
  const ping = { type: 'ping', echo: 'x'.repeat(250) };
  for (let i = 0; i < 64; i++) {
    const deaf = await connectTo(path, false);
    // The answers are larger than a system's buffer.
    deaf.say(...Array<object>(2_500).fill(ping));
    deaf.end();
  }
  await vi.waitFor(async () => {
    const parent = await connectTo(path);
    await Promise.race([parent.next('hello'), parent.next('error')]);
    expect(parent.of('hello')).toHaveLength(1);
  }, PATIENCE);
});
