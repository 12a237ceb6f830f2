import { expect, it, vi } from 'vitest';
import { aborted } from '#pickaxe/base/system/abort.js';
import { type AskRig, askRigs } from '#pickaxe/fleet/operator/ask-rigs.js';

it('asks a hundred rigs at once, without a warning about listeners', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
  let asked = 0;
  let resolveAll = () => {};
  const all = new Promise<void>((resolve) => {
    resolveAll = resolve;
  });
  const ask: AskRig = async (rig, _request, stop) => {
    void aborted(stop);
    if (++asked === 100) resolveAll();
    await all;
    return { done: true, message: rig };
  };
  const targets = Array.from({ length: 100 }, (_, i) => ({ name: `rig-${i}` }));
  const { done, failed } = await askRigs(targets, { command: 'pause' }, ask, new AbortController().signal);
  expect({ done, failed, calls: warn.mock.calls }).toEqual({ done: 100, failed: 0, calls: [] });
  warn.mockRestore();
});
