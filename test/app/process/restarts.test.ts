/** Restarts within the process: the configuration is read again, and the limits are those of all runs together. */

import { expect, it } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import type { Config } from '#pickaxe/app/config/settings.js';
import { type Restart, withRestarts } from '#pickaxe/app/process/restarts.js';
import { isolated } from '../../cli/pickaxe.ts';
import { FakeClock } from '../../rig/status/fakes.ts';

const loadedWith = (flags: Record<string, string>) =>
  loadConfig({ flags: new Map(Object.entries(flags)), environment: {}, cwd: isolated.cwd });

/** @param acts called in each run in turn; further runs end without a request to begin again */
async function runs(
  limits: Record<string, string>,
  ...acts: ((restart: Restart, clock: FakeClock) => void)[]
): Promise<Config['run'][]> {
  const clock = new FakeClock();
  const seen: Config['run'][] = [];
  const mine = async (_: unknown, run: Config['run'], restart: Restart) => {
    acts[seen.length]?.(restart, clock);
    seen.push(run);
    return seen.length;
  };
  const code = await withRestarts(loadedWith(limits), async () => loadedWith(limits), mine, clock);
  expect(code).toBe(seen.length);
  return seen;
}

it('mines once, unless it is asked to begin again', async () => {
  expect(await runs({})).toHaveLength(1);
  const ask = (restart: Restart) => restart.ask();
  expect(await runs({}, ask)).toHaveLength(2);
  expect(await runs({}, ask, ask)).toHaveLength(3);
});

it('does not begin again once mining was stopped for good', async () => {
  const stopped = (restart: Restart) => {
    restart.ask();
    restart.cancel();
  };
  expect(await runs({}, stopped)).toHaveLength(1);
});

it('gives the next run what is left of the time and the blocks', async () => {
  const seen = await runs({ 'run.duration': '100', 'run.blocks': '5' }, (restart, clock) => {
    clock.advance(30_000);
    restart.accepted = 2;
    restart.ask();
  });
  expect(seen).toMatchObject([
    { duration: 100, blocks: 5 },
    { duration: 70, blocks: 3 },
  ]);
});

it.each([
  ['time', { 'run.duration': '100' }],
  ['blocks', { 'run.blocks': '5' }],
])('ends when the %s of all runs is over', async (_, limits) => {
  const act = (restart: Restart, clock: FakeClock) => {
    clock.advance(50_000);
    restart.accepted = 3;
    restart.ask();
  };
  expect(await runs(limits, act, act, act)).toHaveLength(2);
});

it('reads the configuration before each further run', async () => {
  const files: string[][] = [];
  const mine = async ({ files: read }: { readonly files: readonly string[] }, _: unknown, restart: Restart) => {
    files.push([...read]);
    if (files.length === 1) restart.ask();
    return 0;
  };
  const reload = async () => ({ ...loadedWith({}), files: ['changed.toml'] });
  await withRestarts(loadedWith({}), reload, mine);
  expect(files).toEqual([[], ['changed.toml']]);
});
