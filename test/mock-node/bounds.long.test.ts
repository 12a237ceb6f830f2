/** The bounds on the commands that others can make the mock node keep. */

import { describe, expect, it } from 'vitest';
import { readCommand } from '#pickaxe/mock-node/commands/command-checks.js';
import { Mempool } from '#pickaxe/mock-node/commands/mempool.js';
import { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { parseCommand } from '#pickaxe/protocol/ledger/command/command.js';
import { encodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { arrival, banksOf, commandOf, toBob } from './execution/bank.ts';

const startBank = banksOf('chainweb');

const { payload } = readCommand({ ...commandOf(0, toBob('1.0')) } as never);
const NOBODY = new ChainState();

/** A command of about this number of bytes. Only its size matters to a mempool. */
function sized(number: number, bytes: number) {
  const hash = encodeBase64url(Buffer.alloc(32, number));
  return parseCommand({ cmd: 'x'.repeat(bytes), hash, sigs: [] });
}

describe('the commands that wait on a chain', () => {
  it('have a number of bytes at most, and the oldest is forgotten first', () => {
    const mempool = new Mempool(seededRandom(1));
    const add = (number: number) => mempool.add(3, sized(number, 1_000_000), payload);
    const has = (number: number) => mempool.has(3, sized(number, 1).hash);
    for (let number = 1; number <= 8; number++) add(number);
    expect([1, 8].map(has)).toEqual([true, true]);
    // The same command again takes no more room.
    for (let i = 0; i < 5; i++) add(1);
    expect([1, 2, 8].map(has)).toEqual([true, true, true]);
    add(9);
    expect([2, 3, 1, 9].map(has)).toEqual([false, true, true, true]);
    // Dropping a command makes room.
    mempool.drop(3, sized(3, 1).hash);
    add(10);
    expect([4, 10].map(has)).toEqual([true, true]);
    mempool.add(4, sized(1, 1_000_000), payload);
    expect(has(4)).toBe(true);
  });

  it('are ten thousand at most', () => {
    const mempool = new Mempool(seededRandom(1));
    const hashOf = (number: number) => encodeBase64url(Buffer.from(String(number).padStart(32, '0')));
    for (let number = 0; number < 10_010; number++) {
      mempool.add(0, { cmd: '', hash: hashOf(number), sigs: [] }, payload);
    }
    expect([9, 10, 10_009].map((number) => mempool.has(0, hashOf(number)))).toEqual([false, true, true]);
  });

  it('are so many in a block that their bytes have a bound, too', () => {
    const mempool = new Mempool(seededRandom(1));
    const sizes = [150_000, 150_000, 150_000, 1_000, 350_000, 2_000];
    for (const [number, bytes] of sizes.entries()) mempool.add(0, sized(number, bytes), payload);
    const block = mempool.forBlock(0, NOBODY, 0n).map(({ command }) => command.cmd.length);
    expect(block).toEqual([150_000, 150_000, 1_000, 2_000]);
    for (let number = 10; number < 130; number++) mempool.add(1, sized(number, 10), payload);
    expect(mempool.forBlock(1, NOBODY, 0n)).toHaveLength(100);
  });

  it('are each no larger than their gas allows', async () => {
    const { send } = await startBank();
    const withData = (bytes: number, gasLimit: number) => {
      const message = { exec: { code: '(coin.details "x")', data: { x: 'x'.repeat(bytes) } } };
      return commandOf(0, { message, capabilities: [] }, { meta: { gasLimit } });
    };
    const tooBig = /Failed to purchas gas: tx too big for gas limit$/;
    expect((await send(0, withData(100_000, 1_000))).text).toMatch(tooBig);
    expect((await send(0, withData(100_000, 1_200))).status).toBe(200);
    expect((await send(0, withData(300_000, 150_000))).text).toMatch(tooBig);
    // Proofs cost no gas for their size, but their size has a bound.
    const withProof = (bytes: number) => commandOf(0, arrival('A'.repeat(43), 'A'.repeat(bytes)));
    expect((await send(0, withProof(250_000))).status).toBe(200);
    expect((await send(0, withProof(300_000))).text).toMatch(tooBig);
  });
});
