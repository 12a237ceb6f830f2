import { expect, test, vi } from 'vitest';
import { nodes } from '#pickaxe/app/composition/sidecars.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { PATIENCE } from '../../../patience.ts';
import { idleMiner } from './fakes.ts';

const PACE = { everyMs: 1, doubtMs: 1 };
const watched = (node: Partial<typeof DEFAULTS.node>) => {
  const settings = { ...DEFAULTS, node: { ...DEFAULTS.node, network: 'development', ...node } };
  return { settings, configured: 2, source: { judge: vi.fn() }, pace: PACE };
};

test('nothing is asked while the rig starts, and a rig that ends before has nothing to wait for', async () => {
  const { running, said } = idleMiner();
  const end = await nodes(watched({ urls: ['http://127.0.0.1:9', 'http://127.0.0.1:9'] }), true)(running);
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
  const end = await nodes(options, false, { firstMs: 0 })(running);
  await vi.waitFor(() => expect(reads).toBeGreaterThan(5), PATIENCE);
  await end();
  expect(said).toEqual([
    { level: 'warn', msg: 'the health of the nodes cannot be found out; trying again: no memory' },
  ]);
  expect(options.source.judge).not.toHaveBeenCalled();
});

test('a watch that fails is an error once, and is tried again', async () => {
  const { running, said } = idleMiner();
  const options = watched({ urls: ['https://a.example'] });
  Object.defineProperty(options.settings.node, 'urls', {
    get: () => {
      throw new Error('no memory');
    },
  });
  let failures = 0;
  // The log line about the failing survey cannot be written.
  running.log.warn = () => {
    failures++;
    throw new Error('EMFILE: too many open files');
  };
  const end = await nodes(options, false, { firstMs: 0, againMs: 1 })(running);
  await vi.waitFor(() => expect(failures).toBeGreaterThan(3), PATIENCE);
  await end();
  const msg = expect.stringMatching(/^nodes are not watched, which is tried again; please report it: Error: EMFILE/);
  expect(said).toEqual([{ level: 'error', msg }]);
});
