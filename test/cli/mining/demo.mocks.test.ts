/** What `pickaxe demo` mines and says, with an engine of the test in place of this machine's devices. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chooseEngines } from '#pickaxe/app/composition/choose-engines.js';
import { retarget } from '#pickaxe/cli/mining/demo.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { FakeEngine } from '../../fakes.ts';
import { folder, inNewFolders } from '../in-folder.ts';
import { rigOf } from './rig-in-process.ts';

vi.mock('#pickaxe/app/composition/choose-engines.js', async (original) => ({
  ...(await original()),
  chooseEngines: vi.fn(),
}));

inNewFolders();

async function demo(engines: readonly FakeEngine[], args: string[]) {
  const { log, run } = rigOf(engines);
  const ended = await run(folder.path, ['demo', '--rig-name', 'elm', ...args]);
  // Without the time and the level.
  return {
    ...ended,
    lines: log()
      .trim()
      .split('\n')
      .map((line) => line.replace(/^.*?: /, '')),
  };
}

/** A server of a webhook. @returns its address, and the paths and types of the notices that came */
async function webhook() {
  const came: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    came.push(`${request.url} ${JSON.parse(text).type}`);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, came };
}

const BEGINNING =
  /^demo {2}mock node at http:\/\/127\.0\.0\.1:\d+: its blocks are worth nothing\. To mine on a real node: pickaxe init$/;
const ENDING =
  'demo  on a real node, pickaxe blocks lists what became of each block, and pickaxe balance what you have on each chain';

it('a demo mines blocks on a mock node, whose rewards it proves, and the account has exactly those', async () => {
  const { code, lines } = await demo([new FakeEngine()], ['--blocks', '1']);
  expect(code).toBe(0);
  expect(lines).toContain(`miner mines on development for k:${'0'.repeat(64)}`);
  expect(lines).toContainEqual(expect.stringMatching(BEGINNING));
  const [blocks, earned, account, last] = lines.slice(-4);
  expect(blocks).toMatch(
    /^demo {2}(\d+) accepted = \1 won \(0 settled\) \+ 0 orphaned \+ 0 pending, orphan rate 0\.0 %$/,
  );
  const [, coins] = /^demo {2}earned ([\d.]+) coins, each reward proven against the header of its block$/.exec(earned)!;
  expect(Number(coins)).toBeGreaterThan(0);
  expect(account).toBe(`demo  the account has ${coins} coins on the mock node, exactly what its blocks have earned`);
  expect(last).toBe(ENDING);
  expect(vi.mocked(chooseEngines).mock.calls[0][2]).toEqual({ mayBeNone: false, minesAtOnce: true });
});

it('a demo without devices ends at once, and what can be done on a real node is said', async () => {
  const { code, lines } = await demo([], ['--blocks', '1']);
  expect(code).toBe(3);
  expect(lines.slice(-2)).toEqual([
    'demo  no block was accepted, so there is nothing to say of what blocks earn',
    ENDING,
  ]);
});

it('a demo leaves nothing behind: its log is whole, and its node and its timer have ended', async () => {
  const [set, cleared] = [vi.spyOn(globalThis, 'setInterval'), vi.spyOn(globalThis, 'clearInterval')];
  onTestFinished(() => void vi.restoreAllMocks());
  const file = join(folder.path, 'demo.log');
  const { lines } = await demo([], ['--blocks', '1', '--log-file', file]);
  const url = /http:\S+\d(?=:)/.exec(lines.find((line) => BEGINNING.test(line))!)![0];
  await expect(fetch(url)).rejects.toThrow();
  const timer = set.mock.results[set.mock.calls.findIndex(([, ms]) => ms === 250)].value;
  expect(cleared).toHaveBeenCalledWith(timer);
  expect(readFileSync(file, 'utf8')).toContain(ENDING.replace('demo  ', ''));
});

describe('notices', () => {
  it('of the user’s own files are for real blocks, and a demo sends none', async () => {
    const { url, came } = await webhook();
    folder.write('pickaxe/config.toml', `webhook.url = "${url}/file"\n`);
    await demo([], ['--blocks', '1']);
    expect(came).toEqual([]);
  });

  it('that the command line asks for are sent, all of them', async () => {
    const { url, came } = await webhook();
    folder.write('pickaxe/config.toml', `webhook.url = "${url}/file"\nwebhook.events = ["block"]\n`);
    await demo([], ['--blocks', '1', '--webhook', `${url}/flag`]);
    expect(came).toEqual(['/flag start', '/flag stop']);
  });
});

describe('the difficulty', () => {
  it('follows the rate of the machine, so that a block takes a second', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const ledger = { difficulty: 1_000_000 };
    const events = new Events();
    const hash = (hashes: number) => events.emit({ type: 'hashes', device: 'cpu', hashes, difficulty: 1 });
    const stop = retarget({ ledger }, events);
    const after = (hashes: number) => {
      hash(hashes / 2);
      events.emit({ type: 'lost', reason: 'no hashes' } as never);
      hash(hashes / 2);
      vi.advanceTimersByTime(250);
      return ledger.difficulty;
    };
    vi.advanceTimersByTime(250);
    expect(ledger.difficulty).toBe(1_000_000);
    expect(after(250)).toBe(1_000);
    expect(after(500)).toBe(1_100);
    // A pause of the devices is no rate.
    expect(after(0)).toBe(1_100);
    expect(after(0.02)).toBeCloseTo(990.008, 6);
    stop();
    expect(after(4_000)).toBeCloseTo(990.008, 6);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is never below that which every hash meets', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const ledger = { difficulty: 100 };
    const events = new Events();
    const stop = retarget({ ledger }, events);
    events.emit({ type: 'hashes', device: 'cpu', hashes: 0.1, difficulty: 1 });
    vi.advanceTimersByTime(250);
    expect(ledger.difficulty).toBe(1);
    stop();
  });
});
