/** What the watch of the nodes finds goes to the source, by each node's place in it. */

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { mine } from '#pickaxe/app/composition/rig.js';
import { runMiner } from '#pickaxe/app/composition/run-miner.js';
import { nodes } from '#pickaxe/app/composition/sidecars.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';

vi.mock('#pickaxe/app/composition/run-miner.js');
vi.mock('#pickaxe/app/composition/sidecars.js');

const KEY = 'a'.repeat(64);
const [one, two] = ['http://one.example:1848', 'http://two.example:1848'];

const configOf = (part: Partial<Config>): Config => ({
  ...DEFAULTS,
  log: { ...DEFAULTS.log, level: 'silent' },
  devices: { ...DEFAULTS.devices, use: ['cpu'] },
  miner: { ...DEFAULTS.miner, publicKeys: [KEY] },
  node: { ...DEFAULTS.node, urls: [one, two], network: 'development' },
  ...part,
});

/** @returns the judge that the watch was given, and the source's own; undefined if nodes are not watched */
async function watched(part: Partial<Config> = {}) {
  vi.stubEnv('NOTIFY_SOCKET', undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.mocked(nodes).mockReset();
  vi.mocked(runMiner).mockReset().mockResolvedValue(0);
  const loaded = { config: configOf(part), origins: new Map(), files: [] };
  expect(await mine(loaded, async () => loaded, { tries: false })).toBe(0);
  const [[rig]] = vi.mocked(runMiner).mock.calls;
  const judge = vi.spyOn(rig.source as unknown as { judge(rank: number, fault?: string): void }, 'judge');
  return { given: vi.mocked(nodes).mock.calls[0]?.[0].source, judge };
}

describe('the health of', () => {
  it.each([
    [0, 'it is behind'],
    [1, 'it mines for another account'],
    [0, undefined],
  ])('node %i changes that of its place', async (at, fault) => {
    const { given, judge } = await watched();
    given!.judge(at, fault);
    expect(judge.mock.calls).toEqual([[at, fault]]);
  });

  it('a node that there is not changes nothing', async () => {
    const { given, judge } = await watched();
    given!.judge(2, 'it is behind');
    expect(judge).not.toHaveBeenCalled();
  });

  it('nodes is not watched on a pool', async () => {
    const pool = { ...DEFAULTS.pool, urls: ['stratum+tcp://127.0.0.1:1'], user: 'me' };
    expect((await watched({ pool, node: DEFAULTS.node })).given).toBeUndefined();
  });
});
