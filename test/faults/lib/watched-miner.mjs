// The built miner with one CPU thread in a process of its own, without the user's settings, and its HTTP API to look at
// it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const AGAIN_MS = 100;
const ANSWER_MS = 5_000;

/**
 * @param args what it mines on
 * @param user `freshUser()`
 * @returns once it serves HTTP; `lines` are those of its log so far
 */
export async function startWatchedMiner(args, user) {
  const cli = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
  const devices = ['--devices', 'cpu', '--threads', '1', '--cpu-priority', '0', '--http', '127.0.0.1:0'];
  const child = spawn(process.execPath, [cli, 'mine', ...args, ...devices], {
    ...user,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const lines = [];
  const port = await new Promise((found, ended) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (port) found(Number(port));
    });
    child.once('exit', (code) => ended(new Error(`the miner ended with exit code ${code}: ${lines.at(-1)}`)));
  });
  return {
    pid: child.pid,
    port,
    lines,
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      process.off('exit', kill);
    },
  };
}

/** @returns its status, as soon as it can be had */
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
