/** When the watch of the nodes runs, and what becomes of its findings when it fails. */

import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { nodes } from '#pickaxe/app/composition/sidecars.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { type NodeWatchOptions, runNodeWatch } from '#pickaxe/app/nodes/node-watch.js';
import { aborted } from '#pickaxe/base/system/abort.js';
import { idleMiner } from './fakes.ts';

vi.mock('#pickaxe/app/nodes/node-watch.js');

const judged: unknown[][] = [];
const options: NodeWatchOptions = {
  settings: DEFAULTS,
  source: { judge: (...found) => void judged.push(found) },
};

beforeEach(() => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  judged.length = 0;
  vi.mocked(runNodeWatch).mockReset();
});

/** Starts the watch beside a miner. @param times its first wait, and the wait after a failure */
async function watching(...times: Parameters<typeof nodes>[2][]) {
  const { running, said } = idleMiner();
  const end = await nodes(options, true, ...times)(running);
  const runs = () => vi.mocked(runNodeWatch).mock.calls.length;
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    return runs();
  };
  return { end, said, after };
}

it('the watch begins after ten seconds, gets all options, and ends with the miner', async () => {
  vi.mocked(runNodeWatch).mockImplementation(async (_options, _log, stop) => void (await aborted(stop)));
  const { end, after, said } = await watching();
  expect([await after(9_999), await after(1), await after(600_000)]).toEqual([0, 1, 1]);
  const [given, , stop] = vi.mocked(runNodeWatch).mock.calls[0];
  expect([given.settings, stop.aborted]).toEqual([DEFAULTS, false]);
  given.source.judge(1, 'it lags');
  given.source.judge(1, undefined);
  expect(judged).toEqual([
    [1, 'it lags'],
    [1, undefined],
  ]);
  await end();
  expect([stop.aborted, await after(600_000), said, judged.length]).toEqual([true, 1, [], 2]);
});

it('a watch that fails takes back what it has found, is told once for each reason, and begins again', async () => {
  const reasons = ['no memory', 'no memory', 'no files', 'no memory'];
  vi.mocked(runNodeWatch).mockImplementation(async ({ source }) => {
    source.judge(0, 'it lags');
    source.judge(1, 'it stands still');
    source.judge(2, 'it lags');
    source.judge(1, undefined);
    throw new Error(reasons[vi.mocked(runNodeWatch).mock.calls.length - 1]);
  });
  const { end, after, said } = await watching();
  expect([await after(10_000), judged.slice(4)]).toEqual([
    1,
    [
      [0, undefined],
      [2, undefined],
    ],
  ]);
  expect([await after(59_999), await after(1), await after(60_000), await after(60_000)]).toEqual([1, 2, 3, 4]);
  expect(judged).toHaveLength(24);
  const told = (reason: string) => ({
    level: 'error',
    msg: expect.stringMatching(
      new RegExp(`^nodes are not watched, which is tried again; please report it: Error: ${reason}\n`),
    ),
  });
  expect(said).toEqual([told('no memory'), told('no files'), told('no memory')]);
  await end();
  expect(await after(600_000)).toBe(4);
});
