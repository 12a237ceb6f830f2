import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { solveAt, solveHere } from '#pickaxe/cli/mining/external-worker.js';
import { listenAt } from '#pickaxe/miner/source/parent/connection.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf, withNonce } from '#pickaxe/protocol/chain/work.js';
import { Folder } from '../../app/config/folder.ts';
import { FakeEngine } from '../../fakes.ts';
import { makeHeader } from '../../miner/source/parent/parent.ts';
import { listeningLog } from '../../rig/pauses/fakes.ts';

const HELLO = { type: 'hello', protocol: 1, version: '99.0.0', capabilities: ['nonce1', 'telepathy'], devices: 'many' };

/** Asks a worker that greets with a line and answers each line with others. */
async function ask(header: Uint8Array, greeting: object, answersTo: (type: string) => object[]) {
  const folder = new Folder();
  const path = join(folder.path, 'socket');
  const end = await listenAt(path, (socket) => {
    const say = (answer: object) => socket.write(`${JSON.stringify(answer)}\n`);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      for (const line of chunk.toString().split('\n').slice(0, -1)) answersTo(JSON.parse(line).type).forEach(say);
    });
    say(greeting);
  });
  try {
    return await solveAt(path, header);
  } finally {
    await end();
    folder.remove();
  }
}

function solve(header: Uint8Array): bigint {
  let nonce = 0n;
  while (!meetsTarget(powHash(withNonce(header, nonce)), headerTargetOf(header))) nonce++;
  return nonce;
}

it('the devices of this machine give a nonce that solves the header, and their rate in hashes a second', async () => {
  const header = makeHeader(20_000);
  const beganMs = performance.now();
  const options = { log: pino({ level: 'silent' }), temperatureLimits: () => undefined };
  const solved = await solveHere(header, { engines: [[new FakeEngine()]], ...options });
  const seconds = (performance.now() - beganMs) / 1000;
  expect(meetsTarget(powHash(withNonce(header, solved!.nonce)), headerTargetOf(header))).toBe(true);
  // The devices cannot have hashed for longer than all of this took.
  expect(solved!.hashesPerSecond).toBeGreaterThanOrEqual(solved!.hashes / seconds);
});

it('the log tells of the devices and of their wrong hashes, and of nothing else', async () => {
  const { log, said } = listeningLog();
  const header = makeHeader(1_000);
  const nonce = solve(header);
  const engine = new FakeEngine();
  engine.reported = () => (engine.searched.length > 1 ? [nonce] : []);
  engine.wrong = [nonce + 1n];
  const solved = await solveHere(header, { engines: [[engine]], log, temperatureLimits: () => undefined });
  expect(solved?.nonce).toBe(nonce);
  expect(said).toEqual([
    { level: 'info', msg: 'fake: kernel reference (it is a test)' },
    { level: 'error', msg: `hardware error: the candidate with nonce ${nonce + 1n} is wrong` },
  ]);
});

it('the rate counts from when the first device is ready, however long it opens and whenever others follow', async () => {
  vi.useFakeTimers({ toFake: ['hrtime'] });
  onTestFinished(() => void vi.useRealTimers());
  const header = makeHeader(1_000);
  const nonce = solve(header);
  const [cpu, late] = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
  cpu.opening = Promise.resolve().then(() => void vi.advanceTimersByTime(10_000));
  let opensLate = () => {};
  late.opening = new Promise((resolve) => {
    opensLate = resolve;
  });
  late.reported = () => [];
  // Each range takes a second.
  cpu.reported = () => {
    vi.advanceTimersByTime(1_000);
    if (cpu.searched.length === 3) opensLate();
    return late.searched.length > 0 && cpu.searched.length > 9 ? [nonce] : [];
  };
  const options = { log: pino({ level: 'silent' }), temperatureLimits: () => undefined };
  const solved = await solveHere(header, { engines: [[cpu], [late]], ...options });
  expect(solved!.nonce).toBe(nonce);
  expect(solved!.hashesPerSecond).toBe(solved!.hashes / cpu.searched.length);
});

describe.skipIf(process.platform === 'win32')('a warm worker of a later version', () => {
  it('is understood as far as it speaks the same protocol', async () => {
    const header = makeHeader(100);
    const nonce = solve(header);
    const stats = { type: 'stats', hashes: 7, hashesPerSecond: 3, moods: [] };
    const answers: Record<string, object[]> = { job: [{ type: 'share', nonce: `${nonce}`, id: 1 }], stats: [stats] };
    expect(await ask(header, HELLO, (type) => answers[type])).toEqual({ nonce, hashes: 0, hashesPerSecond: 3 });
  });

  it('has searched what its count has grown by since the question', async () => {
    const header = makeHeader(100);
    const nonce = solve(header);
    const counts = [7_000, 7_250];
    const answersTo = (type: string) =>
      type === 'job'
        ? [{ type: 'share', nonce: `${nonce}`, id: 1 }]
        : [{ type: 'stats', hashes: counts.shift(), hashesPerSecond: 3 }];
    expect(await ask(header, HELLO, answersTo)).toEqual({ nonce, hashes: 250, hashesPerSecond: 3 });
  });

  it('that gives a wrong nonce is not believed', async () => {
    const stats = { type: 'stats', hashes: 7, hashesPerSecond: 3 };
    const answers: Record<string, object[]> = { job: [{ type: 'share', nonce: '7' }], stats: [stats] };
    const asked = ask(makeHeader(1e30), HELLO, (type) => answers[type]);
    await expect(asked).rejects.toThrow('gave a nonce that does not solve the header');
  });

  it('refuses for reasons that are not known yet', async () => {
    const refusal = { type: 'error', code: 'tired', message: 'come back tomorrow' };
    await expect(ask(makeHeader(), HELLO, () => [refusal])).rejects.toThrow('refuses: come back tomorrow');
  });

  it('that speaks another protocol is given up', async () => {
    await expect(ask(makeHeader(), { type: 'hello', protocol: 2 }, () => [])).rejects.toThrow('another protocol');
  });
});
