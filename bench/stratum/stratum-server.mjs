// The built miner as a stratum server without devices, on a mock node in a third process.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BuiltPickaxe, HTTP_URL, STRATUM_PORT } from '../lib/built-pickaxe.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';
import { mainThreadMs, peakRssKib, rssKib } from '../lib/process-cpu.mjs';

const CHAIN = 0;
/** No client finds a block. */
const HARD = 2 ** 60;

/**
 * @param ledger lines of the share log
 * @param ofWorker whether the shares of a worker count
 * @returns the number of shares, including those without a line of their own
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
  const mine = ['mine', '--node', node.url, '--network', 'development', '--public-key', '0'.repeat(64)];
  const serve = ['--devices', 'none', '--stratum-listen', '0', '--stratum-ledger', ledger];
  const server = new BuiltPickaxe([...mine, ...serve, ...more], { files });
  const { pid, log } = server;
  const port = Number(await server.logged(STRATUM_PORT));
  return {
    port,
    node,
    pid,
    log,
    /** URL of the server's HTTP API, if it has one. */
    httpUrl: () => server.logged(HTTP_URL),
    rssMib: () => rssKib(pid) / 1024,
    rssPeakMib: () => peakRssKib(pid) / 1024,
    mainMs: () => mainThreadMs(pid),
    /** Ends the server. @returns the lines of its ledger */
    async close() {
      await server.stop();
      await node.close();
      const lines = readFileSync(ledger, 'utf8').split('\n').slice(0, -1);
      rmSync(folder, { recursive: true, force: true });
      return lines.map((line) => JSON.parse(line));
    },
  };
}
