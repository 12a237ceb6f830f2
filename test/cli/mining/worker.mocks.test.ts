/** What `pickaxe worker` tells its parents of its devices, and when it ends, with engines that the test makes. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { chooseEngines } from '#pickaxe/app/composition/choose-engines.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { FakeEngine } from '../../fakes.ts';
import { job, makeHeader } from '../../miner/source/parent/parent.ts';
import { PATIENCE } from '../../patience.ts';
import { folder, inNewFolders } from '../in-folder.ts';
import { rigOf } from './rig-in-process.ts';
import { connectTo, WorkerParent } from './worker-parent.ts';

vi.mock('#pickaxe/app/composition/choose-engines.js', async (original) => ({
  ...(await original()),
  chooseEngines: vi.fn(),
}));

inNewFolders();

/** Starts a worker, which ends with the test. */
function start(engines: readonly FakeEngine[], args: string[] = []) {
  const { stdin, stdout, log, run } = rigOf(engines);
  const code = run(folder.path, ['worker', '--rig-name', 'elm', ...args]);
  const parent = new WorkerParent(stdin, stdout);
  onTestFinished(async () => {
    process.emit('SIGTERM');
    await code.catch(() => {});
  });
  return { parent, log, code: code.then((ended) => ended.code), said: code.then((ended) => ended.stderr) };
}

/** @returns an engine whose opening waits for `open` or fails with `park` */
function slowEngine(name: string) {
  const engine = new FakeEngine(name);
  let open = () => {};
  engine.opening = new Promise((resolve) => {
    open = resolve;
  });
  const park = (why: string) => {
    engine.openFaults.push(new DeviceError('missing', why));
    open();
  };
  return { engine, open: () => open(), park };
}

describe('a worker on stdin and stdout', () => {
  it('answers with its devices, shares and figures, and ends when the parent asks for that', async () => {
    const { parent, log, code } = start([new FakeEngine()]);
    await parent.next('ready');
    parent.say(job('easy', makeHeader(1_000), { solutions: 'one' }));
    await parent.next('share');
    parent.say({ type: 'stats' });
    const [{ type: _, ...stats }] = await parent.next('stats');
    parent.say({ type: 'drain' });
    expect(await code).toBe(0);
    expect(parent.answers.slice(0, 3)).toMatchObject([
      { type: 'hello', protocol: 1, rig: 'elm', devices: [{ device: 'cpu', kind: 'cpu' }] },
      { type: 'device', device: 'cpu', kind: 'cpu', state: 'ready', description: expect.stringContaining('fake') },
      { type: 'ready', devices: ['cpu'] },
    ]);
    expect(parent.of('device')[0]).not.toHaveProperty('reason');
    const cpu = { kind: 'cpu', state: 'ready', hashesPerSecond: expect.any(Number), hashes: expect.any(Number) };
    const rates = { uptimeSeconds: expect.any(Number), hashesPerSecond: expect.any(Number) };
    const counts = { hashes: stats.devices.cpu.hashes, hardwareErrors: 0, jobs: 0, shares: 1, unreadShares: 0 };
    expect(stats).toEqual({ ...rates, ...counts, devices: { cpu } });
    expect(stats.hashes).toBeGreaterThan(0);
    expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'drained', shares: parent.of('share').length });
    expect(log()).toContain('the parent is connected');
    expect(vi.mocked(chooseEngines).mock.calls[0][2]).toEqual({ mayBeNone: false, minesAtOnce: true });
  });

  it('ends when its input ends', async () => {
    const { parent, code } = start([new FakeEngine()]);
    await parent.next('ready');
    parent.end();
    expect(await code).toBe(0);
    expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'input-ended', shares: 0 });
  });

  it('is ready with its first device, and says so again with each further one, but not twice the same', async () => {
    const [one, two] = [slowEngine('cpu'), slowEngine('gpu0')];
    const { parent } = start([one.engine, two.engine]);
    await parent.next('hello');
    two.open();
    await parent.next('ready', 1);
    one.open();
    await parent.next('ready', 2);
    expect(parent.of('ready').map(({ devices }) => devices)).toEqual([['gpu0'], ['gpu0', 'cpu']]);
    expect(parent.of('paused')).toEqual([]);
  });

  it('is paused once no device can work, says why, and ends if none will', async () => {
    const [one, two] = [slowEngine('gpu0'), slowEngine('gpu1')];
    const { parent, code } = start([one.engine, two.engine]);
    one.park('it was pulled out');
    await parent.next('device');
    expect(parent.of('paused')).toEqual([]);
    two.park('it melted');
    expect(await code).toBe(3);
    const [{ reason }] = parent.of('paused').slice(-1);
    expect(reason).toBe('gpu0: it was pulled out; gpu1: it melted');
    expect(parent.of('device').at(-1)).toMatchObject({ device: 'gpu1', state: 'parked', reason: 'it melted' });
    expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'no-device', shares: 0 });
  });

  it('without devices is ready at once if another program hashes, and writes only the protocol', async () => {
    folder.write('pickaxe.toml', 'run.json = true\n');
    const { parent, code } = start([], ['--devices', 'none', '--external-worker', 'none']);
    const [ready] = await parent.next('ready');
    expect(ready.devices).toEqual([]);
    expect(vi.mocked(chooseEngines).mock.calls[0][2]).toMatchObject({ mayBeNone: true });
    parent.say({ type: 'drain' });
    expect(await code).toBe(0);
    expect(parent.answers.map(({ type }) => type)).toEqual(['hello', 'ready', 'bye']);
  });
});

describe.skipIf(process.platform === 'win32')('a worker on a socket', () => {
  it('serves at most 64 parents, of which each leaves without the others', async () => {
    const path = join(folder.path, 'worker.sock');
    const { code, parent: stdio } = start([new FakeEngine()], ['--listen', `unix:${path}`]);
    const parents = [await connectTo(path)];
    await parents[0].next('ready');
    while (parents.length < 64) parents.push(await connectTo(path));
    for (const parent of parents) await parent.next('hello');
    const late = await connectTo(path);
    expect(await late.next('error')).toEqual([
      {
        type: 'error',
        code: 'too-many-connections',
        message: '64 parents are connected already: end one of them first',
        line: 0,
      },
    ]);
    await late.ended;
    parents[1].say({ type: 'drain' });
    expect(await parents[1].next('bye')).toEqual([{ type: 'bye', reason: 'drained', shares: 0 }]);
    parents[2].say({ type: 'ping', echo: 'still there?' });
    expect(await parents[2].next('pong')).toHaveLength(1);
    for (const parent of [late, ...parents.slice(1)]) parent.die();
    process.emit('SIGTERM');
    expect(await code).toBe(0);
    expect(await parents[0].next('bye')).toEqual([{ type: 'bye', reason: 'stopped', shares: 0 }]);
    expect(existsSync(path)).toBe(false);
    expect(stdio.lines).toEqual([]);
  });

  it('waits for other parents once all have left', async () => {
    const path = join(folder.path, 'worker.sock');
    const { log } = start([new FakeEngine()], ['--listen', `unix:${path}`]);
    for (const left of [1, 2]) {
      const parent = await connectTo(path);
      await parent.next('ready');
      parent.say({ type: 'ping' });
      await parent.next('pong');
      parent.die();
      await vi.waitFor(() => expect(log().split('the last one has disconnected')).toHaveLength(1 + left), PATIENCE);
    }
  });

  it.each([
    ['tcp:80', 'error: “tcp:80” is not the address of a Unix socket'],
    ['unix:taken', 'exists and is no socket'],
  ])('refuses %s in words', async (address, message) => {
    folder.write('taken', '');
    const { code, said } = start([new FakeEngine()], ['--listen', address]);
    expect(await code).toBe(2);
    expect(await said).toContain(message);
  });
});

it('a worker prints the schema of both directions, and reads nothing', async () => {
  const { run } = rigOf([]);
  const { code, stdout } = await run(folder.path, ['worker', '--schema']);
  expect(code).toBe(0);
  const { $defs, anyOf, ...schema } = JSON.parse(stdout);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  expect(Object.keys($defs)).toEqual(['toWorker', 'fromWorker']);
  expect(anyOf).toEqual([{ $ref: '#/$defs/toWorker' }, { $ref: '#/$defs/fromWorker' }]);
  expect($defs.toWorker).not.toHaveProperty('$schema');
  expect(stdout).toContain('\n  "$defs"');
});
