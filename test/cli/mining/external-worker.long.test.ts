/** `pickaxe external-worker`, asked as the reference mining client asks its external workers. */

import { type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf, withNonce } from '#pickaxe/protocol/chain/work.js';
import { Folder } from '../../app/config/folder.ts';
import { makeHeader } from '../../miner/source/parent/parent.ts';
import { isolated, MAIN } from '../pickaxe.ts';
import { connectTo, killWorkers, startWorker } from './worker-parent.ts';

const CPU = ['--devices', 'cpu', '--threads', '1'];

/** The reference client's spelling of a target. */
function broken(target: Uint8Array): string {
  return toHex(Uint8Array.from(target, (_, i) => target[i - (i % 8) + 7 - (i % 8)]));
}

function startExternal(args: string[], stdin: Uint8Array | undefined, options: SpawnOptions = {}) {
  const child = spawn(process.execPath, [MAIN, 'external-worker', ...args], { ...isolated, ...options });
  const output = { stdout: '', stderr: '' };
  child.stdout!.on('data', (chunk) => {
    output.stdout += chunk;
  });
  child.stderr!.on('data', (chunk) => {
    output.stderr += chunk;
  });
  if (stdin) child.stdin!.end(stdin);
  return { child, output, ended: once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]> };
}

/** A machine on which pickaxe has never measured anything. */
const unmeasured = { env: { ...isolated.env, XDG_CACHE_HOME: join(isolated.cwd, 'empty') } };

async function ask(args: string[], stdin: Uint8Array, options: SpawnOptions = {}) {
  const { output, ended } = startExternal(args, stdin, options);
  const [code] = await ended;
  return { code, ...output };
}

function nonceIn(stdout: string): bigint {
  const [, digits] = /^([\da-f]{16}) \d+ \d+\n$/.exec(stdout) ?? [];
  expect(digits, stdout).toBeDefined();
  return BigInt(`0x${digits}`);
}

afterEach(killWorkers);

describe('external-worker', () => {
  it.each([
    ['in the reference client’s order', broken],
    ['little-endian', toHex],
  ])('solves the header, with a target %s', async (_, spell) => {
    const header = makeHeader(10_000);
    const { code, stdout, stderr } = await ask([spell(headerTargetOf(header)), ...CPU], header, unmeasured);
    expect(code).toBe(0);
    expect(meetsTarget(powHash(withNonce(header, nonceIn(stdout))), headerTargetOf(header))).toBe(true);
    expect(stderr).not.toContain('WARN');
    expect(stderr).toContain('usually the fastest, not measured');
  });

  it('trusts the header’s target where the argument is another one, and says so', async () => {
    const header = makeHeader(10_000);
    const { code, stdout, stderr } = await ask([toHex(targetForDifficulty(1e30)), ...CPU], header);
    expect(code).toBe(0);
    expect(meetsTarget(powHash(withNonce(header, nonceIn(stdout))), headerTargetOf(header))).toBe(true);
    expect(stderr).toContain('the argument is another target than the header’s');
  });

  it.each([
    ['too few bytes', new Uint8Array(285), 'stdin has 285 bytes, which are no header: write the header’s 286 bytes'],
    ['nothing', new Uint8Array(0), 'stdin has 0 bytes'],
    ['a work record', new Uint8Array(322), 'stdin has 322 bytes, which are a whole work record'],
    ['hex digits', Buffer.from('ab'.repeat(286)), 'stdin has 572 bytes, which are hex digits'],
    ['a megabyte', new Uint8Array(2 ** 20), 'stdin has 1048576 bytes'],
  ])('refuses %s in words', async (_, stdin, message) => {
    const { code, stdout, stderr } = await ask([toHex(targetForDifficulty(1)), ...CPU], stdin);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('refuses an argument that is no target', async () => {
    const { code, stderr } = await ask(['xyz', ...CPU], makeHeader());
    expect(code).toBe(2);
    expect(stderr).toContain('The target is 64 hex digits');
  });

  it.skipIf(process.platform === 'win32')('ends at once when it is killed, before and while it searches', async () => {
    const header = makeHeader(1e30);
    const searching = startExternal([toHex(headerTargetOf(header)), ...CPU], header);
    await once(searching.child.stderr!, 'data');
    const waiting = startExternal([toHex(headerTargetOf(header)), ...CPU], undefined);
    for (const { child, ended, output } of [searching, waiting]) {
      child.kill('SIGTERM');
      expect(await ended).toEqual([null, 'SIGTERM']);
      expect(output.stdout).toBe('');
    }
  });
});

describe.skipIf(process.platform === 'win32')('external-worker --connect', () => {
  it('lets a warm worker do it', async () => {
    const folder = new Folder();
    const path = join(folder.path, 'worker.sock');
    startWorker(['--listen', `unix:${path}`]);
    await (await connectTo(path)).next('ready');
    const header = makeHeader(10_000);
    const { code, stdout } = await ask([broken(headerTargetOf(header)), '--connect', `unix:${path}`], header);
    expect(code).toBe(0);
    expect(meetsTarget(powHash(withNonce(header, nonceIn(stdout))), headerTargetOf(header))).toBe(true);
    expect(Number(stdout.split(' ')[1])).toBeGreaterThan(0);
    await killWorkers();
    folder.remove();
  });

  it('says what to start where no worker listens', async () => {
    const { code, stderr } = await ask(
      [toHex(targetForDifficulty(1)), '--connect', 'unix:/nowhere.sock'],
      makeHeader(),
    );
    expect(code).toBe(2);
    expect(stderr).toContain('start one with pickaxe worker --listen unix:/nowhere.sock');
  });
});
