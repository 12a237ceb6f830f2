/** Which commands are kept, and which of them a block gets. `bounds.long.test.ts` sends them to a node. */

import { describe, expect, it } from 'vitest';
import { Mempool } from '#pickaxe/mock-node/commands/mempool.js';
import type { ChainState } from '#pickaxe/mock-node/execution/chain-state.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Command, commandJson } from '#pickaxe/protocol/ledger/command/command.js';
import type { Payload } from '#pickaxe/protocol/ledger/command/command-payload.js';

const MIB = 1024 * 1024;
/** The size of a command with an empty text, in bytes. */
const EMPTY_BYTES = Buffer.byteLength(commandJson({ hash: 'a', cmd: '', sigs: [] }));

/** @param hashes the commands in blocks */
function mempool(...hashes: string[]) {
  const pool = new Mempool(seededRandom(1));
  const state = { heightOf: (hash: string) => (hashes.includes(hash) ? 3 : undefined) } as unknown as ChainState;
  /** @param bytes the size of the command, whose hash has one letter */
  const add = (hash: string, bytes = EMPTY_BYTES, meta = { creationTime: 100, ttl: 50 }, chain = 0) => {
    const command: Command = { hash, cmd: 'x'.repeat(bytes - EMPTY_BYTES), sigs: [] };
    pool.add(chain, command, { meta } as unknown as Payload);
  };
  const hashesOf = (some: readonly { command: Command }[]) => some.map(({ command }) => command.hash).join('');
  return {
    pool,
    add,
    waiting: (timeUs = 0n, chain = 0) => hashesOf(pool.waiting(chain, state, timeUs)),
    forBlock: () => hashesOf(pool.forBlock(0, state, 0n)),
  };
}

describe('of the commands of a chain', () => {
  it('ten thousand are kept, the newest', () => {
    const { pool, add } = mempool();
    for (let i = 0; i < 10_000; i++) add(`${i}`);
    expect(pool.has(0, '0')).toBe(true);
    add('new');
    add('other', undefined, undefined, 1);
    expect([0, 1, 9_999].map((each) => pool.has(0, `${each}`))).toEqual([false, true, true]);
    expect([pool.has(1, 'other'), pool.has(0, 'other')]).toEqual([true, false]);
  });

  it('eight megabytes are kept, those of a command that is sent again once', () => {
    const { add, waiting } = mempool();
    for (const hash of 'abcab') add(hash, 2 * MIB);
    add('d', 2 * MIB);
    expect(waiting()).toBe('cabd');
    add('e');
    expect(waiting()).toBe('abde');
  });

  it('none is in a block that has expired, is in a block already, or is badlisted', () => {
    const { pool, add, waiting } = mempool('b');
    for (const hash of 'abc') add(hash);
    add('d', undefined, { creationTime: 100, ttl: 51 });
    pool.badlist('c');
    expect([waiting(149_999_999n), waiting(150_000_000n), waiting(151_000_000n)]).toEqual(['ad', 'd', '']);
    expect(waiting(0n, 7)).toBe('');
    expect([pool.isBadlisted('c'), pool.isBadlisted('a')]).toEqual([true, false]);
    pool.drop(0, 'a');
    expect(waiting()).toBe('d');
  });
});

describe('a block gets', () => {
  it('a hundred commands at most', () => {
    const { add, forBlock } = mempool();
    const all = Array.from({ length: 101 }, (_, at) => String.fromCharCode(0x100 + at));
    for (const hash of all) add(hash, EMPTY_BYTES + 10);
    expect(forBlock()).toBe(all.slice(0, 100).join(''));
  });

  it('400,000 bytes at most, and passes over a command that is too large for the rest', () => {
    const { add, forBlock } = mempool();
    add('a', 399_000);
    add('b', 1_001);
    add('c', 1_000);
    add('d');
    expect(forBlock()).toBe('ac');
  });
});

it('the mark of a mempool counts the commands of all chains', () => {
  const { pool, add } = mempool();
  const { nonce, next } = pool.mark;
  add('a');
  add('a', undefined, undefined, 1);
  expect([next, pool.mark]).toEqual([0, { nonce, next: 2 }]);
});
