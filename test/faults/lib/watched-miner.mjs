// The built miner with one CPU thread, and its HTTP API to look at it.

import { setTimeout as sleep } from 'node:timers/promises';
import { BuiltPickaxe, HTTP_URL } from '../../../bench/lib/built-pickaxe.mjs';

const AGAIN_MS = 100;
const ANSWER_MS = 5_000;

/**
 * @param args what it mines on
 * @param user `freshUser()`
 * @returns once it serves HTTP: the running program, with `port`
 */
export async function startWatchedMiner(args, user) {
  const devices = ['--devices', 'cpu', '--threads', '1', '--cpu-priority', '0', '--http', '127.0.0.1:0'];
  const miner = new BuiltPickaxe(['mine', ...args, ...devices], { user });
  const { port } = new URL(await miner.logged(HTTP_URL));
  return Object.assign(miner, { port: Number(port) });
}

/** @returns the miner's status, as soon as the miner answers */
export async function statusOf({ port }) {
  for (;;) {
    try {
      const signal = AbortSignal.timeout(ANSWER_MS);
      return await (await fetch(`http://127.0.0.1:${port}/api/v1/status`, { signal })).json();
    } catch {
      await sleep(AGAIN_MS);
    }
  }
}
