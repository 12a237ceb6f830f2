// The built miner as a stratum server without devices, on a mock node in a third process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freshUser } from './fresh-user.mjs';
import { startMockProcess } from './mock-process.mjs';

const CHAIN = 0;
/** No client finds a block. */
const HARD = 2 ** 60;

/**
 * @param ledger its lines
 * @param ofWorker whether the shares of a worker are asked for
 * @returns how many shares it has, those without a line of their own included
 */
export function sharesIn(ledger, ofWorker = () => true) {
  const own = ledger.filter(({ worker }) => worker !== undefined && ofWorker(worker));
  return own.reduce((sum, { type, lines }) => sum + (type === 'share' ? 1 : type === 'left-out' ? lines : 0), 0);
}

/** @param more further options of the miner @param files how many files it may have open */
export async function startStratumServer(more = [], { files } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-stratum-'));
  const ledger = join(folder, 'shares.jsonl');
  const node = await startMockProcess({ difficulty: HARD, seed: 1 }, CHAIN);
  const cli = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
  const mine = ['mine', '--node', node.url, '--network', 'development', '--public-key', '0'.repeat(64)];
  const serve = ['--devices', 'none', '--stratum-listen', '0', '--stratum-ledger', ledger];
  const command = [process.execPath, cli, ...mine, ...serve, ...more];
  const [program, ...args] = files ? ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`, ...command] : command;
  const child = spawn(program, args, {
    ...freshUser(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  const log = [];
  const port = await new Promise((found, ended) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.push(line);
      const [, port] = /listening at stratum\+\w+:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? [];
      if (port) found(Number(port));
    });
    child.once('exit', (code) => ended(new Error(`the server ended with exit code ${code}: ${log.join('\n')}`)));
  });
  const memory = (field) =>
    Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;
  return {
    port,
    node,
    pid: child.pid,
    log,
    /** Where its HTTP API is, if it has one. */
    async httpUrl() {
      for (;;) {
        const [, url] = log.map((line) => /listening at (http:\S+?),? /.exec(line)).find(Boolean) ?? [];
        if (url) return url;
        await sleep(10);
      }
    },
    rssMib: () => memory('VmRSS'),
    rssPeakMib: () => memory('VmHWM'),
    /** The processor time of the main thread, in ms. */
    mainMs: () => Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6,
    /** Ends the server. @returns the lines of its ledger */
    async close() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      process.off('exit', kill);
      await node.close();
      const lines = readFileSync(ledger, 'utf8').split('\n').slice(0, -1);
      rmSync(folder, { recursive: true, force: true });
      return lines.map((line) => JSON.parse(line));
    },
  };
}
