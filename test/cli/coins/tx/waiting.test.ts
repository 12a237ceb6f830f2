/** How long `tx poll` and `tx spv` wait, to the millisecond, and what they say meanwhile. */

import { describe, expect, it } from 'vitest';
import type { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { runTxPoll, runTxSpv, waitForResults } from '#pickaxe/cli/coins/tx/poll.js';
import { type ShownResult, without } from '#pickaxe/cli/coins/tx/results.js';
import { ProofRefusedError } from '#pickaxe/node/client/commands.js';
import { NodeError } from '#pickaxe/node/http/node-error.js';
import { type CommandResult, parseCommandResult } from '#pickaxe/protocol/ledger/command/results.js';
import { parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { pretendedIo } from '../../pretended-io.ts';

const [ONE, TWO] = ['A'.repeat(43), `${'B'.repeat(42)}A`];
const NOW = 1_800_000_000_000;
/** Time in ms after a command's end at which no block can have it any more. */
const GRACE_MS = 600_000;

function found(key: string, blockHeight?: number): [string, CommandResult] {
  const metaData = blockHeight === undefined ? null : { blockHeight };
  const result = { status: 'success', data: 1 };
  const json = { reqKey: key, result, gas: 1, txId: null, logs: null, metaData, continuation: null };
  return [key, parseCommandResult(parseExactJson(JSON.stringify(json)))];
}

type Poll = (keys: readonly string[], depth: number | undefined) => [string, CommandResult][];

/** Nodes that answer so, and an `io` whose time passes with each look at the clock. */
function world(poll: Poll, times: readonly number[] = []) {
  const io = pretendedIo();
  const left = [...times];
  let now = NOW;
  io.now = () => {
    now = left.length > 0 ? NOW + left.shift()! : now;
    return now;
  };
  const asked: (number | undefined)[] = [];
  const api = {
    poll: async (_: number, keys: readonly string[], { confirmationDepth: depth }: { confirmationDepth?: number }) => {
      asked.push(depth);
      return new Map(poll(keys, depth));
    },
  };
  const nodes = { ask: (act: (it: typeof api) => unknown) => act(api) } as unknown as NodesInTurn;
  const subject = { name: 'x', network: null, chain: 3, requestKeys: [ONE, TWO], endsMs: undefined };
  const wait = (more: object) =>
    waitForResults({ ...subject, nodes, depth: 0, timeoutMs: 1_000, pauseMs: 1, io, ...more });
  return { io, asked, nodes, wait };
}

const statuses = (results: readonly ShownResult[]) => results.map(({ status }) => status);

describe('results are waited for', () => {
  it('until each command has one', async () => {
    let calls = 0;
    const { wait, asked } = world(() => (calls++ < 2 ? [found(ONE)] : [found(ONE), found(TWO)]));
    expect(statuses(await wait({}))).toEqual(['success', 'success']);
    expect(asked).toEqual([undefined, undefined, undefined]);
  });

  it.each([
    ['the next pause ends with the time', [0, 0, 999], 2],
    ['the next pause would end after the time', [0, 0, 1_000], 1],
  ])('once more if %s', async (_, times, looks) => {
    const { wait, asked } = world(() => [], [times[0], times[2], 2_000]);
    expect(statuses(await wait({}))).toEqual(['pending', 'pending']);
    expect(asked).toHaveLength(looks);
  });

  it('once if there is no time', async () => {
    const { wait, asked, io } = world(() => []);
    expect(statuses(await wait({ timeoutMs: 0, pauseMs: 0 }))).toEqual(['pending', 'pending']);
    expect([asked.length, io.stderr]).toEqual([1, '']);
  });

  it('not after the time to live, except for what is in a block', async () => {
    const { wait } = world((_, depth) => (depth === undefined ? [found(ONE, 7)] : []));
    const ended = async (afterMs: number) =>
      statuses(await wait({ timeoutMs: 0, depth: 3, endsMs: NOW - GRACE_MS - afterMs }));
    expect(await ended(0)).toEqual(['pending', 'pending']);
    expect(await ended(1)).toEqual(['pending', 'expired']);
  });

  it('with a line whenever something changes', async () => {
    const seen = [
      [],
      [],
      [found(ONE)],
      [found(ONE, 7)],
      [found(ONE, 7), found(TWO, 7)],
      [found(ONE, 8), found(TWO, 9)],
    ];
    let round = 0;
    const { wait, io, asked } = world((keys, depth) => {
      if (depth === undefined) return seen[round++];
      return round === seen.length ? keys.map((key) => found(key, 1)) : [];
    });
    await wait({ depth: 3 });
    expect(io.stderr.split('\n')).toEqual([
      'Waiting for a block with the command.',
      'In a block (1 of 2). Waiting for 3 blocks above it.',
      'In a block at height 7 (1 of 2). Waiting for 3 blocks above it.',
      'In a block at height 7 (2 of 2). Waiting for 3 blocks above it.',
      'In a block at height 8, 9 (2 of 2). Waiting for 3 blocks above it.',
      '',
    ]);
    expect(asked.slice(0, 4)).toEqual([3, undefined, 3, undefined]);
  });

  it('with the number of one command left out', async () => {
    let round = 0;
    const { wait, io } = world((_, depth) => (depth === undefined || round++ > 0 ? [found(ONE, 7)] : []));
    await wait({ depth: 1, requestKeys: [ONE] });
    expect(io.stderr).toBe('In a block at height 7. Waiting for 1 blocks above it.\n');
  });
});

const POLL = { chain: 3, confirmationDepth: 0, once: false, timeoutMs: 90_000, pauseMs: 1, json: false };

describe('tx poll', () => {
  const doubtful = { ...without(ONE, 'pending'), doubt: 'because' };
  const poll = async (proofs: ShownResult[], options: object = {}, times: readonly number[] = []) => {
    const { io, nodes, asked } = world(() => [found(ONE)], times);
    let calls = 0;
    const prove = async () => [proofs[Math.min(calls++, proofs.length - 1)]];
    const code = await runTxPoll(ONE, { ...POLL, prove, ...options }, nodes, io);
    return [code, asked.length, io.stderr];
  };

  it('asks again while a result is in doubt, and not after that', async () => {
    const right = { ...without(ONE, 'success'), provenBy: 'work' as const };
    expect(await poll([doubtful, doubtful, right])).toEqual([0, 3, '']);
    const late = 'There is no result after 1 min 30 s. Ask again, and do not build the command again.\n';
    expect(await poll([doubtful], {}, [0, 0, 0, 0, 89_999, 90_000, 90_000, 90_000, 90_000])).toEqual([4, 2, late]);
    expect(await poll([doubtful], {}, [0, 0, 0, 0, 90_000])).toEqual([4, 1, late]);
    const once = 'There is no result yet. Ask again, or leave --once out to wait for it.\n';
    expect(await poll([doubtful], { once: true })).toEqual([4, 1, once]);
  });

  it('needs a chain', async () => {
    await expect(poll([doubtful], { chain: null })).rejects.toThrow(
      'A request key does not name its chain: add --chain N.',
    );
  });
});

describe('tx spv', () => {
  const refusal = (text: string) =>
    new ProofRefusedError(new NodeError('refused', 'It is refused.', { status: 400, text }));
  const SOON = 'SPV target not reachable: target chain not reachable. Chain instance too young';
  const SPV = { ...POLL, targetChain: 5 };

  const spv = async (options: object, times: readonly number[] = [], what = ONE) => {
    const { io } = world(() => [], times);
    let asked = 0;
    const api = { proof: async () => Promise.reject(refusal(`${SOON} ${asked++ < 2 ? 'a' : 'b'}`)) };
    const nodes = { ask: (act: (it: typeof api) => unknown) => act(api) } as unknown as NodesInTurn;
    const code = await runTxSpv(what, { ...SPV, ...options }, nodes, io);
    return [code, asked, io.stderr];
  };

  it('waits as long as it may, and says each reason once', async () => {
    const waiting = 'Waiting for the proof, which takes a few blocks of both chains';
    const none = (reason: string) =>
      `There is no proof yet: ${reason}. It takes a few blocks of both chains; ask again.\n`;
    const said = [`${waiting}: ${SOON} a`, `${waiting}: ${SOON} b`, none(`${SOON} b`)].join('\n');
    expect(await spv({}, [0, 1, 1, 89_999, 90_000])).toEqual([4, 4, said]);
    expect(await spv({ once: true })).toEqual([4, 1, none(`${SOON} a`)]);
  });

  it('refuses the chain itself', async () => {
    await expect(spv({ targetChain: 3 })).rejects.toThrow(
      'The command ran on chain 3 itself: name another target chain.',
    );
  });
});
