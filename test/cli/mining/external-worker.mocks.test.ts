/** What `pickaxe external-worker` reads and prints, with the engines of the test in place of this machine's devices. */

import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { chooseInTurn } from '#pickaxe/app/composition/choose-engines.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { listenAt } from '#pickaxe/miner/source/parent/connection.js';
import { toHex } from '#pickaxe/protocol/chain/bytes.js';
import { meetsTarget, targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf, withNonce } from '#pickaxe/protocol/chain/work.js';
import { FakeEngine } from '../../fakes.ts';
import { makeHeader } from '../../miner/source/parent/parent.ts';
import { folder, inNewFolders } from '../in-folder.ts';
import { rigOf } from './rig-in-process.ts';

vi.mock('#pickaxe/app/composition/choose-engines.js', async (original) => ({
  ...(await original()),
  chooseEngines: vi.fn(),
  chooseInTurn: vi.fn(),
}));

inNewFolders();

/** Runs it with these bytes on standard input, in pieces as a pipe gives them. */
async function ask(args: string[], pieces: readonly Uint8Array[], engine = new FakeEngine()) {
  vi.mocked(chooseInTurn)
    .mockReset()
    .mockReturnValue([[engine]]);
  const { stdin, log, run } = rigOf([]);
  const ended = run(folder.path, ['external-worker', ...args]);
  for (const piece of pieces) stdin.write(piece);
  stdin.end();
  return { ...(await ended), log: log() };
}

const targetOf = (header: Uint8Array) => toHex(headerTargetOf(header));

describe('a header on standard input', () => {
  it('is solved in its own words, whatever pieces it comes in, and nothing is measured before', async () => {
    const header = makeHeader(1_000);
    const pieces = [header.subarray(0, 100), header.subarray(100)];
    const { code, stdout, log } = await ask([targetOf(header)], pieces);
    expect(code).toBe(0);
    const [, digits, hashes, rate] = /^([\da-f]{16}) (\d+) (\d+)$/.exec(stdout)!;
    expect(meetsTarget(powHash(withNonce(header, BigInt(`0x${digits}`))), headerTargetOf(header))).toBe(true);
    expect(Number(hashes)).toBeGreaterThan(0);
    expect(Number(rate)).toBeGreaterThan(0);
    expect(log).toContain('fake');
    expect(log).not.toContain('WARN');
    expect(vi.mocked(chooseInTurn).mock.calls[0][2]).toEqual({ hurried: true, minesAtOnce: true });
  });

  it('counts with its own target where the argument is another, which is said', async () => {
    const header = makeHeader(1_000);
    const { code, stdout, log } = await ask([toHex(targetForDifficulty(1e30))], [header]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^[\da-f]{16} /)]);
    expect(log).toContain(`worker the argument is another target than the header’s, which counts: ${targetOf(header)}`);
  });

  it('is not solved without a device', async () => {
    const engine = new FakeEngine();
    engine.openFaults.push(new DeviceError('missing', 'it was pulled out'));
    const header = makeHeader(1_000);
    const { code, stdout, log } = await ask([targetOf(header)], [header], engine);
    expect([code, stdout]).toEqual([3, '']);
    expect(log).toContain('it was pulled out');
  });

  const hex = Buffer.from('ab'.repeat(286));
  it.each([
    ['a byte too few', [new Uint8Array(285)], '285 bytes, which are no header'],
    ['a byte too many', [new Uint8Array(287)], '287 bytes, which are no header'],
    ['nothing', [], '0 bytes, which are no header'],
    ['a work record', [new Uint8Array(322)], '322 bytes, which are a whole work record'],
    ['hex digits', [hex], '572 bytes, which are hex digits'],
    [
      'a work record in hex digits and a line’s end',
      [Buffer.from(`${'AB'.repeat(321)}\r\n`)],
      '644 bytes, which are hex',
    ],
    ['hex digits of less than a header', [hex.subarray(0, 285)], '285 bytes, which are no header'],
    ['hex digits and more', [Buffer.from(`${'ab'.repeat(286)}g`)], '573 bytes, which are no header'],
    ['more than two records', [hex, hex], '1144 bytes, which are no header'],
  ])('that is none is refused: %s', async (_, pieces, what) => {
    const { code, stdout, stderr } = await ask([targetOf(makeHeader())], pieces);
    expect([code, stdout]).toEqual([2, '']);
    const advice = 'write the header’s 286 bytes, raw, and close stdin.';
    expect(stderr).toMatch(new RegExp(`^error: stdin has ${what}.*: ${advice}\n$`));
  });

  it('is not even read for an argument that is no target', async () => {
    const { code, stderr } = await ask(['xyz'], [makeHeader()]);
    expect([code, stderr]).toEqual([
      2,
      'error: The target is 64 hex digits, and the 286 bytes of the header come on stdin.\n',
    ]);
  });
});

describe.skipIf(process.platform === 'win32')('a warm worker', () => {
  const HELLO = { type: 'hello', protocol: 1 };

  /** Asks a worker that greets with these lines and then leaves. */
  async function askWarm(...lines: object[]) {
    const path = join(folder.path, 'socket');
    const end = await listenAt(path, (socket) => {
      socket.on('error', () => {});
      socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    });
    const header = makeHeader(1e30);
    try {
      return (await ask([targetOf(header), '--connect', `unix:${path}`], [header])).stderr.replace(path, 'PATH');
    } finally {
      await end();
    }
  }

  it.each([
    ['refuses', [{ type: 'error', message: 'too hot' }], 'the worker at PATH refuses: too hot'],
    ['leaves', [HELLO], 'the worker at PATH ended before it found a nonce'],
    [
      'leaves after its figures',
      [HELLO, { type: 'stats', hashes: 1, hashesPerSecond: 1 }],
      'the worker at PATH ended before it found a nonce',
    ],
    ['speaks another protocol', [{ type: 'hello', protocol: 2 }], 'the worker at PATH speaks another protocol'],
    [
      'answers wrongly',
      [HELLO, { type: 'share', nonce: '7' }],
      'the worker at PATH gave a nonce that does not solve the header (target at byte 158)',
    ],
    [
      'answers with no number',
      [HELLO, { type: 'share', nonce: '7x' }],
      'the worker at PATH ended before it found a nonce',
    ],
  ])('that %s is no internal error', async (_, lines, why) => {
    expect(await askWarm(...lines)).toBe(`error: ${why}.\n`);
  });

  it('that does not run is to be started', async () => {
    const path = join(folder.path, 'none');
    const header = makeHeader();
    const { code, stderr } = await ask([targetOf(header), '--connect', `unix:${path}`], [header]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `error: No worker listens at ${path} (ENOENT): start one with pickaxe worker --listen unix:${path}\n`,
    );
  });

  it('has an address of its own kind', async () => {
    const { code, stderr } = await ask([targetOf(makeHeader()), '--connect', 'tcp:80'], []);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: --connect: “tcp:80” is not the address of a Unix socket.*[^.]\.\n$/);
  });
});
