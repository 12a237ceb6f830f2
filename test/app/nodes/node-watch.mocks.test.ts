/** What the watch of the nodes tells the source and the log, and with what it is made. */

import { expect, it, vi } from 'vitest';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { runNodeWatch } from '#pickaxe/app/nodes/node-watch.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { NodeApi } from '#pickaxe/node/client/node-api.js';
import { survey } from '#pickaxe/rig/survey/comparison.js';
import { watchNodes } from '#pickaxe/rig/survey/node-health.js';
import { listeningLog } from '../../rig/pauses/fakes.ts';

vi.mock('#pickaxe/node/client/node-api.js');
vi.mock('#pickaxe/rig/survey/comparison.js');
vi.mock('#pickaxe/rig/survey/node-health.js');

const URLS = ['http://one.example', 'http://two.example'];
const settings = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: URLS, network: 'development' } };

it('findings go to the source in one line each, and the log tells when they are missing, and when they are back', async () => {
  const { log, said } = listeningLog();
  const judged: unknown[][] = [];
  let closed = 0;
  vi.mocked(NodeApi).mockImplementation(function pretended() {
    return { network: 'development', close: async () => void closed++ };
  } as never);
  vi.mocked(watchNodes).mockImplementation(async ({ changed, failing, survey: look, ...rest }, stop) => {
    expect(rest).toStrictEqual({ clock: systemClock, random: Math.random });
    expect(stop).toBe(NEVER);
    changed(0, `it\n${'x'.repeat(400)}`);
    changed(1, undefined);
    failing('no\nmemory');
    failing(undefined);
    for (let i = 0; i < 2; i++) await look(stop);
    expect(closed).toBe(0);
  });
  await runNodeWatch({ settings, source: { judge: (...found) => void judged.push(found) } }, log, NEVER);
  expect(judged).toEqual([
    [0, `it ${'x'.repeat(296)}…`],
    [1, undefined],
  ]);
  expect(said).toEqual([
    { level: 'warn', msg: 'the health of the nodes cannot be found out; trying again: no memory' },
    { level: 'info', msg: 'the health of the nodes is known again' },
  ]);
  // The clients are made once, and closed at the end.
  expect(closed).toBe(2);
  const limits = { mostAnswerBytes: 4_194_304, attempts: 1, answerTimeoutMs: 10_000 };
  expect(vi.mocked(NodeApi).mock.calls.map(([, context]) => context)).toEqual([{ limits }, { limits }]);
  const [candidates, network, clock, signal] = vi.mocked(survey).mock.calls[1];
  expect(candidates).toStrictEqual(URLS.map((name) => ({ name, api: expect.objectContaining({ network }) })));
  expect([network, clock, signal]).toEqual(['development', systemClock, NEVER]);
});

it('the clock, the random numbers and the pace are those that are given', async () => {
  const { log } = listeningLog();
  const [clock, random] = [{ ...systemClock }, () => 0.5];
  const pace = { everyMs: 1, doubtMs: 2 };
  vi.mocked(watchNodes).mockReset().mockResolvedValue();
  await runNodeWatch({ settings, source: { judge: () => {} }, pace, context: { clock, random } }, log, NEVER);
  expect(vi.mocked(watchNodes).mock.calls[0][0]).toMatchObject({ clock, random, pace });
});
