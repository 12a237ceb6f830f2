import { expect, test, vi } from 'vitest';
import { nodes } from '#pickaxe/app/sidecars/nodes.js';
import { DEFAULTS } from '#pickaxe/config/settings.js';
import { idleMiner } from './fakes.ts';

const PACE = { everyMs: 1, doubtMs: 1 };
const watched = (node: Partial<typeof DEFAULTS.node>) => {
  const settings = { ...DEFAULTS, node: { ...DEFAULTS.node, network: 'development', ...node } };
  return { settings, configured: 2, source: { judge: vi.fn() }, pace: PACE };
};

test('nothing is asked while the rig starts, and a rig that ends before has nothing to wait for', async () => {
  const { running, said } = idleMiner();
  const end = await nodes(watched({ urls: ['http://127.0.0.1:9', 'http://127.0.0.1:9'] }))(running);
  await end();
  expect(said).toEqual([]);
});

test('a survey that fails is a warning once, and is tried again', async () => {
  const { running, said } = idleMiner();
  const options = watched({ urls: ['https://a.example', 'https://b.example'] });
  let reads = 0;
  Object.defineProperty(options.settings.node, 'urls', {
    get: () => {
      reads++;
      throw new Error('no memory');
    },
  });
  const end = await nodes(options, 0)(running);
  await vi.waitFor(() => expect(reads).toBeGreaterThan(5), { timeout: 60_000 });
  await end();
  expect(said).toEqual([
    { level: 'warn', msg: 'whether the nodes are healthy cannot be found out, which is tried again: no memory' },
  ]);
  expect(options.source.judge).not.toHaveBeenCalled();
});
