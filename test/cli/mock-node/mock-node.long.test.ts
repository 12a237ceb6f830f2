/** Tests `pickaxe mock-node`: what it says, and how a user tells it to be wrong. */

import { afterAll, expect, it, onTestFinished, vi } from 'vitest';
import { basePathOf } from '#pickaxe/node/http/url.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { Folder } from '../../app/config/folder.ts';
import { mockNodeArgs, type OtherOptions } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { MAIN, start } from '../pickaxe.ts';

const folder = new Folder();
afterAll(() => folder.remove());

async function startMockNode(dialect: Dialect, args: readonly string[] = [], options: OtherOptions = {}) {
  const run = start(mockNodeArgs(dialect, args, options), {}, MAIN, folder.path);
  onTestFinished(() => void run.child.kill('SIGKILL'));
  const said = (pattern: RegExp) => vi.waitFor(() => expect(run.stderr).toMatch(pattern), PATIENCE);
  await said(/curl http/);
  const urlIn = (pattern: RegExp) => pattern.exec(run.stderr)![1];
  const tell = async (instruction: object) => {
    const answer = await fetch(urlIn(/curl (http\S+)/), { method: 'POST', body: JSON.stringify(instruction) });
    return { status: answer.status, json: await answer.json() };
  };
  const ask = async (side: string) => (await fetch(`${side}${basePathOf(dialect, 'development')}/cut`)).status;
  return { run, said, urlIn, tell, ask };
}

it('is told faults while it runs, on both of its ports, and goes on at SIGHUP without a terminal', async () => {
  const { run, said, urlIn, tell, ask } = await startMockNode('chainweb', [], { p2p: 'plain' });
  const [url, p2pUrl] = [urlIn(/mock node at (http\S+),/), urlIn(/each other is at (http\S+)/)];
  expect([await ask(url), await ask(p2pUrl)]).toEqual([200, 200]);
  if (process.platform !== 'win32') run.child.kill('SIGHUP');
  const faults = [{ endpoint: 'cut', kind: 'status', status: 404 }];
  expect(await tell({ do: 'faults', faults })).toEqual({ status: 200, json: {} });
  expect([await ask(url), await ask(p2pUrl)]).toEqual([404, 404]);
  await said(/was told: faults/);
  await said(/fault status on cut/);
  run.child.kill('SIGTERM');
  expect(await run.code).toBe(0);
});
