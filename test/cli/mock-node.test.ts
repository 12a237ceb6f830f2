/** Tests `pickaxe mock-node`: what it says, and how a user tells it to be wrong. */

import { expect, it, onTestFinished, vi } from 'vitest';
import { PATIENCE, pickaxe, start } from './pickaxe.ts';

async function startMockNode(...args: string[]) {
  const run = start(['mock-node', ...args]);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const said = (pattern: RegExp) => vi.waitFor(() => expect(run.stderr).toMatch(pattern), PATIENCE);
  await said(/curl http/);
  const urlIn = (pattern: RegExp) => pattern.exec(run.stderr)![1];
  const tell = async (instruction: object) => {
    const answer = await fetch(urlIn(/curl (http\S+)/), { method: 'POST', body: JSON.stringify(instruction) });
    return { status: answer.status, json: await answer.json() };
  };
  const ask = async (side: string) => (await fetch(`${side}/ledger/0.0/development/cut`)).status;
  return { run, said, urlIn, tell, ask };
}

it('is told faults while it runs, on both of its ports', async () => {
  const { run, said, urlIn, tell, ask } = await startMockNode('--options', '{"p2p":"plain"}');
  const [url, p2pUrl] = [urlIn(/mock node at (http\S+),/), urlIn(/each other is at (http\S+)/)];
  expect([await ask(url), await ask(p2pUrl)]).toEqual([200, 200]);
  const faults = [{ endpoint: 'cut', kind: 'status', status: 404 }];
  expect(await tell({ do: 'faults', faults })).toEqual({ status: 200, json: {} });
  expect([await ask(url), await ask(p2pUrl)]).toEqual([404, 404]);
  await said(/was told: faults/);
  await said(/fault status on cut/);
  run.child.kill('SIGTERM');
  expect(await run.code).toBe(0);
});

it('has faults from the beginning, on both of its ports', async () => {
  const faults = '[{"endpoint":"cut","side":"p2p","kind":"status","status":429}]';
  const { urlIn, ask } = await startMockNode('--faults', faults, '--options', '{"p2p":"plain","dialect":"document"}');
  const statuses = [await ask(urlIn(/mock node at (http\S+),/)), await ask(urlIn(/each other is at (http\S+)/))];
  expect(statuses).toEqual([200, 429]);
});

it('ends when a port is taken, and names it', async () => {
  const { urlIn } = await startMockNode();
  const { port } = new URL(urlIn(/curl (http\S+)/));
  const { code, stderr } = await pickaxe('mock-node', '--control-port', port);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`port ${port} is in use`)]);
});

it('says what is wrong with a fault', async () => {
  const { code, stderr } = await pickaxe('mock-node', '--faults', '[{"endpoint":"cut","kind":"sleepy"}]');
  expect([code, stderr]).toEqual([2, expect.stringContaining('kind')]);
});
