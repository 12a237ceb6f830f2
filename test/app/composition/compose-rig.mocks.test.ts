/** What the watch of the nodes of a composed rig gets, and whose findings it passes on. */

import { beforeEach, expect, it, vi } from 'vitest';
import { composeRig, type Parts } from '#pickaxe/app/composition/compose-rig.js';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { LiveConfig } from '#pickaxe/app/composition/reload.js';
import { nodes } from '#pickaxe/app/composition/sidecars.js';
import { type Config, DEFAULTS } from '#pickaxe/app/config/settings.js';
import { Restart } from '#pickaxe/app/process/restarts.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { listeningLog } from '../../rig/pauses/fakes.ts';

vi.mock('#pickaxe/app/composition/sidecars.js');
beforeEach(() => void vi.mocked(nodes).mockReset());

/** Composes a rig on two nodes. */
async function watched(part: Partial<Config>) {
  const config = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: ['http://a', 'http://b'] }, ...part };
  const loaded = { config, origins: new Map(), files: [] };
  const judged: unknown[][] = [];
  const judge = (...found: unknown[]) => void judged.push(found);
  const chosen = { nodes: ['a', 'b'], source: { name: 'nodes', judge }, prepare: () => () => {} };
  const reload = async () => loaded;
  await composeRig({
    chosen: chosen as never,
    live: new LiveConfig(loaded, reload),
    events: new Events(),
    context: systemContext,
    log: listeningLog().log,
    temperatureLimits: () => undefined,
    restart: new Restart(),
    reload,
    blockLog: () => undefined,
  } satisfies Parts);
  const [[options, loadsFirst]] = vi.mocked(nodes).mock.calls;
  return { chosen, options, loadsFirst, judged };
}

it('a rig that serves stratum clients loads the watch first, because their connections take files', async () => {
  const listen = { host: '127.0.0.1', port: 1 };
  const stratum = { ...DEFAULTS.stratum, listen };
  expect((await watched({ stratum })).loadsFirst).toBe(true);
  vi.mocked(nodes).mockReset();
  expect((await watched({})).loadsFirst).toBe(false);
});

it('the findings about a node go to its rank, and those about a node that is not used any more nowhere', async () => {
  const { chosen, options, judged } = await watched({});
  options.source.judge(1, 'it lags');
  chosen.nodes = ['b'];
  options.source.judge(0, 'it lags');
  options.source.judge(1, undefined);
  expect(judged).toEqual([
    [1, 'it lags'],
    [0, undefined],
  ]);
});
