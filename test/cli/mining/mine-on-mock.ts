/** Runs `pickaxe mine` against a new mock node. Both end with the test. */

import { onTestFinished } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockNode } from '../../mock-node/node.ts';
import { start } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);

/** Mines until three blocks are accepted, for a minute at most. */
export async function mine(
  dialect: Dialect,
  devices: string[],
  env: Record<string, string> = {},
  difficulty = 100_000,
) {
  const mock = new MockNode({ dialect, difficulty });
  onTestFinished(() => mock.close());
  const { url } = await mock.start();
  const options = ['--node', url, '--network', 'development', '--public-key', KEY, '--json', '--duration', '60'];
  const run = start(['mine', ...options, '--blocks', '3', ...devices], env);
  onTestFinished(async () => {
    run.child.kill('SIGKILL');
    await run.code;
  });
  return { run, mock };
}
