/** Which transactions of another node's block a node refuses when it replays them. */

import { describe, expect, it } from 'vitest';
import { Mempool } from '#pickaxe/mock-node/commands/mempool.js';
import { BlockRunner } from '#pickaxe/mock-node/execution/block-runner.js';
import { seededRandom } from '#pickaxe/mock-node/random.js';
import { type Command, commandJson } from '#pickaxe/protocol/ledger/command/command.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import type { OtherOptions } from '../node.ts';
import { ALICE, banksOf, coins } from './bank.ts';
import { codeOn } from './deployed.ts';

const startBank = banksOf('chainweb');

const BLOCK_LIMIT = 150_000;

/** @returns a function that replays commands as those of another node's block */
async function startReplay(options: OtherOptions = {}) {
  const { node } = await startBank(options);
  const runner = new BlockRunner(new Mempool(seededRandom(1)), node.commands.settings, (fault) =>
    expect.unreachable(String(fault)),
  );
  const parent = node.ledger.chains.tip(0);
  const miner = { account: `k:${ALICE.publicKey}`, predicate: 'keys-all', publicKeys: [ALICE.publicKey] };
  return (...commands: Command[]) => {
    const state = parent.payload.state.next();
    const transactions = commands.map((command) => new TextEncoder().encode(commandJson(command)));
    return runner.replay({ chain: 0, parent, miner, hasAncestor: () => true, state }, transactions);
  };
}

const gasOf = (output: Uint8Array) => JSON.parse(Buffer.from(output).toString()).gas;

describe('a transaction of another block is refused', () => {
  it.each([
    [5, '(+ 1', "Pact parse error: Expected: [')']"],
    [5, '(let)', "Pact parse error: Expected: ['(']"],
    [4, '(+ 1', 'Pact parse error: Failed reading: mzero'],
    [4, '(let)', 'Transaction compilation failed: <interactive>:0:0: Failure: Syntax error: '],
  ] as const)('in dialect %i if its code is %s', async (contractDialect, code, reason) => {
    const replay = await startReplay({ contractDialect });
    const replayed = () => replay(codeOn(0, '(+ 1 2)'), codeOn(0, code));
    expect(replayed).toThrow(LedgerFormatError);
    expect(replayed).toThrow(`transaction 1: ${reason}`);
  });

  it('if nobody can pay for it', async () => {
    const replay = await startReplay();
    const poor = codeOn(0, '(+ 1 2)', { meta: { gasPrice: coins('1.0') } });
    expect(() => replay(poor)).toThrow(/^transaction 0: .*Insufficient funds$/);
  });

  it('if the block then takes more gas than it may have', async () => {
    const replay = await startReplay();
    const failing = (gasLimit: number) => codeOn(0, '(enforce false "no")', { meta: { gasLimit } });
    expect(replay(failing(100_000), failing(50_000)).map(gasOf)).toEqual([100_000, 50_000]);
    const tooMuch = () => replay(failing(100_000), failing(50_001));
    expect(tooMuch).toThrow(LedgerFormatError);
    expect(tooMuch).toThrow(`transaction 1: the block takes more gas than ${BLOCK_LIMIT}`);
    // The used gas counts, not the gas limit.
    const cheap = codeOn(0, '(+ 1 2)', { meta: { gasLimit: BLOCK_LIMIT } });
    expect(replay(failing(100_000), cheap, failing(40_000))).toHaveLength(3);
  });
});
