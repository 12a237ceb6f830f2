/** `pickaxe worker` with scripted parents. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromHex, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { Folder } from '../../app/config/folder.ts';
import { job, makeHeader, targetHex } from '../../miner/source/parent/parent.ts';
import { PATIENCE } from '../../patience.ts';
import { isRunning } from '../../running.ts';
import { isolated, MAIN, pickaxe } from '../pickaxe.ts';
import { connectTo, killWorkers, startWorker } from './worker-parent.ts';

const isWindows = process.platform === 'win32';

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(async () => {
  await killWorkers();
  folder.remove();
});

/** @returns the compiled schemas of both directions, as `worker --schema` prints them */
async function schemas() {
  const { stdout } = await pickaxe('worker', '--schema');
  const schema = JSON.parse(stdout);
  const ajv = new Ajv2020({ strict: true, strictTypes: false });
  ajv.addSchema(schema, 'worker');
  return { toWorker: ajv.getSchema('worker#/$defs/toWorker')!, fromWorker: ajv.getSchema('worker#/$defs/fromWorker')! };
}

describe('on stdin and stdout', () => {
  it('has the whole dialogue, each line as the schema says', async () => {
    const { parent, code, stderr } = startWorker();
    await parent.next('ready');
    const header = makeHeader(1e12);
    const easy = job('easy', header, {
      target: targetHex(20_000),
      verdicts: true,
      nonce1: { value: 0xfeed_beef, bytes: 4 },
    });
    const sent: object[] = [easy, { type: 'rate', sharesPerSecond: 1_000 }];
    parent.say(...sent);
    const [{ share, header: solved, hash, nonce, isBlock }] = await parent.next('share');
    expect(toHex(powHash(fromHex(solved)))).toBe(hash);
    expect(meetsTarget(fromHex(hash), fromHex(targetHex(20_000)).toReversed())).toBe(true);
    expect(BigInt(nonce) & 0xffff_ffffn).toBe(0xfeed_beefn);
    expect(solved.slice(0, -16)).toBe(toHex(header).slice(0, -16));
    expect(isBlock).toBe(false);
    const more = [
      { type: 'verdict', share, outcome: 'accepted' },
      { type: 'target', id: 'easy', target: targetHex(1e9) },
      { type: 'ping', echo: 'still there?' },
      { type: 'stats' },
      job('block', makeHeader(1_000), { solutions: 'one', timeMayRoll: true, clean: true }),
    ];
    parent.say('no JSON', ...more);
    await vi.waitFor(() => expect(parent.of('share').some(({ id }) => id === 'block')).toBe(true), PATIENCE);
    const block = parent.of('share').find(({ id }) => id === 'block')!;
    expect(block).toMatchObject({ isBlock: true });
    parent.say({ type: 'cancel' }, { type: 'drain' });
    expect(await code).toBe(0);
    expect(parent.answers[0]).toMatchObject({ type: 'hello', protocol: 1, devices: [{ device: 'cpu', kind: 'cpu' }] });
    expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'drained', shares: parent.of('share').length });
    expect(parent.of('share').map(({ share }) => share)).toEqual(parent.of('share').map((_, i) => i + 1));
    expect(parent.of('pong')).toEqual([{ type: 'pong', echo: 'still there?' }]);
    expect(parent.of('stats')[0].hashes).toBeGreaterThan(0);
    expect(parent.of('error')).toMatchObject([{ code: 'not-json', line: 3 }]);
    expect(stderr()).toContain('the parent is connected');

    const { toWorker, fromWorker } = await schemas();
    for (const line of parent.lines) expect(fromWorker(JSON.parse(line)), line).toBe(true);
    for (const message of [...sent, ...more]) expect(toWorker(message), JSON.stringify(message)).toBe(true);
    expect(toWorker({ type: 'job' })).toBe(false);
    expect(fromWorker({ type: 'share' })).toBe(false);
  });

  it.each(['EOF', ...(isWindows ? [] : ['SIGTERM'])])(
    'drains at %s, and not at SIGHUP without a terminal',
    async (how) => {
      const { child, parent, code } = startWorker();
      await parent.next('ready');
      parent.say(job('a', makeHeader(), { target: targetHex(100_000) }));
      await parent.next('share', 3);
      if (!isWindows) child.kill('SIGHUP');
      await parent.next('share', 6);
      if (how === 'EOF') parent.end();
      else child.kill('SIGTERM');
      expect(await code).toBe(0);
      const reason = how === 'EOF' ? 'input-ended' : 'stopped';
      expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason, shares: parent.of('share').length });
    },
  );

  it.skipIf(isWindows)('ends when its parent is killed in the middle of a job', async () => {
    const worker = [MAIN, 'worker', '--devices', 'cpu', '--threads', '1', '--kernel', 'wasm'];
    const easy = JSON.stringify(job('a', makeHeader(), { target: targetHex(100_000) }));
    const script = `const { spawn } = require('node:child_process');
      const worker = spawn(process.execPath, ${JSON.stringify(worker)}, { stdio: ['pipe', 'pipe', 'ignore'] });
      worker.stdin.write(${JSON.stringify(easy)} + '\\n');
      console.log('pid ' + worker.pid);
      worker.stdout.on('data', (chunk) => process.stdout.write(chunk));`;
    const parent = spawn(process.execPath, ['-e', script], { ...isolated, stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    parent.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await vi.waitFor(() => expect(output).toContain('"share":2'), PATIENCE);
    const pid = Number(/pid (\d+)/.exec(output)![1]);
    expect(isRunning(pid)).toBe(true);
    parent.kill('SIGKILL');
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENCE);
  });

  it.skipIf(process.platform !== 'linux')('ends when nothing can be written to it', async () => {
    const full = openSync('/dev/full', 'w');
    const command = [MAIN, 'worker', '--devices', 'cpu', '--threads', '1', '--kernel', 'wasm'];
    const child = spawn(process.execPath, command, { ...isolated, stdio: ['pipe', full, 'pipe'] });
    closeSync(full);
    let stderr = '';
    child.stderr!.on('data', (chunk) => {
      stderr += chunk;
    });
    await once(child, 'close');
    expect(stderr).toContain('what is printed cannot be written');
  });

  it('ends with a goodbye and exit code 3 when no device can be used', async () => {
    const { parent, code } = startWorker(['--devices', 'gpu99']);
    expect(await code).toBe(3);
    expect(parent.answers.at(-1)).toMatchObject({ type: 'bye', reason: 'no-device' });
    expect(parent.of('device')).toMatchObject([{ device: 'gpu99', state: 'parked' }]);
  });
});

describe.skipIf(isWindows)('on a socket', () => {
  it('serves several parents, and mines on for the next newest when one is killed', async () => {
    const path = join(folder.path, 'worker.sock');
    const { child, code, parent: stdio } = startWorker(['--listen', `unix:${path}`]);
    const one = await connectTo(path);
    await one.next('ready');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    one.say(job('x', makeHeader(), { target: targetHex(200_000) }));
    await one.next('share');

    const script = `const s = require('node:net').connect(${JSON.stringify(path)});
      s.write(${JSON.stringify(JSON.stringify(job('x', makeHeader(), { target: targetHex(200_000) })))} + '\\n');
      s.on('data', (chunk) => process.stdout.write(chunk));`;
    const killed = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    killed.stdout.on('data', (chunk) => {
      output += chunk;
    });
    await vi.waitFor(() => expect(output).toContain('"share":2'), PATIENCE);
    killed.kill('SIGKILL');
    await once(killed, 'exit');
    const before = one.of('share').length;
    await one.next('share', before + 3);

    // The parent connects again and sends its job again.
    const again = await connectTo(path);
    again.say(job('x', makeHeader(), { target: targetHex(200_000) }));
    await again.next('share', 2);
    again.say({ type: 'drain' });
    expect(await again.next('bye')).toMatchObject([{ reason: 'drained' }]);
    await one.next('share', one.of('share').length + 2);

    child.kill('SIGTERM');
    expect(await code).toBe(0);
    expect(one.answers.at(-1)).toMatchObject({ type: 'bye', reason: 'stopped', shares: one.of('share').length });
    expect(existsSync(path)).toBe(false);
    expect(stdio.lines).toEqual([]);
  });

  it('refuses the 65th parent in words', async () => {
    const path = join(folder.path, 'worker.sock');
    startWorker(['--listen', `unix:${path}`]);
    const parents = await Promise.all(Array.from({ length: 64 }, () => connectTo(path)));
    for (const parent of parents) await parent.next('hello');
    const [error] = await (await connectTo(path)).next('error');
    expect(error).toMatchObject({ code: 'too-many-connections', line: 0 });
    parents[0].die();
    await vi.waitFor(async () => {
      const parent = await connectTo(path);
      await Promise.race([parent.next('hello'), parent.next('error')]);
      expect(parent.of('hello')).toHaveLength(1);
    }, PATIENCE);
  });

  it('replaces the socket of a killed worker, but no other’s', async () => {
    const path = join(folder.path, 'worker.sock');
    const first = startWorker(['--listen', `unix:${path}`]);
    await (await connectTo(path)).next('ready');
    const { code, stderr } = startWorker(['--listen', `unix:${path}`]);
    expect(await code).toBe(2);
    expect(stderr()).toContain(`another worker listens at ${path}: stop it, or give another path`);
    first.child.kill('SIGKILL');
    await first.code;
    expect(existsSync(path)).toBe(true);
    const second = startWorker(['--listen', `unix:${path}`]);
    const parent = await connectTo(path);
    await parent.next('ready');
    parent.say(job('a'));
    await parent.next('share');
    second.child.kill('SIGTERM');
    expect(await second.code).toBe(0);
  });

  it.each([
    ['tcp:80', 'is not the address of a Unix socket'],
    ['unix:', 'is not the address of a Unix socket'],
    [`unix:/${'x'.repeat(200)}`, 'the path of a socket has at most 103 bytes'],
    ['unix:FOLDER/file', 'exists and is no socket'],
    ['unix:FOLDER/none/worker.sock', 'does not exist: make it'],
  ])('refuses %s in words', async (address, message) => {
    writeFileSync(join(folder.path, 'file'), '');
    const { code, stderr } = startWorker(['--listen', address.replace('FOLDER', folder.path)]);
    expect(await code).toBe(2);
    expect(stderr()).toContain(message);
  });
});
