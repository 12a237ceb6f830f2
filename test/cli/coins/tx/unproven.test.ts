/** What `tx poll` concludes from results without blocks, from nodes without blocks, and where blocks take no work. */

import { describe, expect, it, vi } from 'vitest';
import type { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { proverOf } from '#pickaxe/cli/coins/tx/outcomes.js';
import type { ShownResult } from '#pickaxe/cli/coins/tx/results.js';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import type { Command } from '#pickaxe/protocol/ledger/command/command.js';
import { NEVER } from '../../../node/sweep/world.ts';

const KEY = 'k'.repeat(43);

const shown = (changes: Partial<ShownResult> = {}): ShownResult => ({
  requestKey: KEY,
  status: 'success',
  provenBy: null,
  doubt: null,
  data: 1,
  error: null,
  gas: 7,
  block: { hash: null, height: 5, timeMillis: null },
  events: [],
  continuation: null,
  ...changes,
});
const PENDING = shown({ status: 'pending', data: null, block: null });

/** Nodes that are asked for nothing. */
const unasked = { ask: () => expect.unreachable(), askOne: () => expect.unreachable() } as unknown as NodesInTurn;
const known = () => vi.fn(async () => new KnownWork({ table: () => 1n }));
type Given = { network?: string | null; commands?: Command[] };

function prove(
  results: ShownResult[],
  { network = 'mainnet01', ...more }: Given = {},
  trusts = false,
  nodes = unasked,
) {
  return proverOf(known(), trusts)({ chain: 0, network, results, ...more }, nodes, NEVER);
}

it('pending results stay pending, and nothing is asked', async () => {
  const loads = known();
  const results = [PENDING, { ...PENDING, requestKey: null }];
  const proven = await proverOf(loads, false)({ chain: 0, network: null, results }, unasked, NEVER);
  expect(proven).toEqual(results);
  expect(loads).not.toHaveBeenCalled();
});

describe('where blocks take no work', () => {
  const byNode = shown({ provenBy: 'node' });

  it('results are the word of a node, except for pending ones', async () => {
    expect(await prove([PENDING, shown()], { network: 'development' })).toEqual([PENDING, byNode]);
  });

  it('this follows from the network of the node, if none is named', async () => {
    const nodes = { ask: async (act: (api: object) => unknown) => act({ network: 'development' }) };
    expect(await prove([shown()], { network: null }, false, nodes as unknown as NodesInTurn)).toEqual([byNode]);
  });
});

describe('a result that cannot be looked for', () => {
  const doubted = (claim: string, why: string) => ({
    ...shown({ status: 'pending', data: null }),
    doubt: `by the word of the node ${claim}, but that is not proven: ${why}`,
  });

  it('is pending if the node names no block', async () => {
    for (const block of [null, { hash: null, height: null, timeMillis: null }]) {
      const [result] = await prove([shown({ block })]);
      expect(result).toEqual({ ...doubted('it has succeeded', 'the node names no block that has it'), block });
    }
    const [failed] = await prove([shown({ block: null, status: 'failure', data: null, error: 'no' })]);
    expect(failed.doubt).toContain('it has failed, but that is not proven: the node names no block');
    expect(failed.error).toBeNull();
  });

  it.each<[string, Command[]]>([
    ['no command is given', []],
    ['another command is given', [{ hash: 'another', cmd: '{}', sigs: [] }]],
    ['the command cannot be read', [{ hash: KEY, cmd: '{}', sigs: [] }]],
  ])('is pending if its time to live is over, and %s', async (_, commands) => {
    const [result] = await prove([shown({ status: 'expired', data: null, block: null })], { commands }, true);
    expect(result).toEqual({ ...doubted('no block has it', 'its time to live is not known'), block: null });
  });

  it('stays as it is if the server does not tell its request key', async () => {
    const result = shown({ requestKey: null });
    expect(await prove([result])).toEqual([result]);
  });

  it('does not keep others from being proven, and what is known is loaded once', async () => {
    const loads = known();
    const prover = proverOf(loads, false);
    for (const results of [[shown({ block: null }), PENDING], [shown({ block: null })]]) {
      const proven = await prover({ chain: 0, network: 'mainnet01', results }, unasked, NEVER);
      expect(proven.map(({ status }) => status)).toEqual(results.map(() => 'pending'));
    }
    expect(loads).toHaveBeenCalledTimes(1);
  });
});

describe('a node that gives no blocks', () => {
  const failing = (fault: Error) => {
    const fail = async () => {
      throw fault;
    };
    return { ask: fail, askOne: fail } as unknown as NodesInTurn;
  };
  const down = () => failing(new NodeError('unreachable', 'http://a does not answer.'));

  it('is believed only by a user who trusts the nodes', async () => {
    expect(await prove([shown()], {}, true, down())).toEqual([shown({ provenBy: 'node' })]);
    const [result] = await prove([shown()], {}, false, down());
    expect(result).toMatchObject({ status: 'pending', provenBy: null });
    expect(result.doubt).toContain('it has succeeded, but that is not proven: http://a does not answer.');
  });

  it('does not hide a fault of the program', async () => {
    await expect(prove([shown()], {}, true, failing(new TypeError('a fault')))).rejects.toThrow('a fault');
  });
});
