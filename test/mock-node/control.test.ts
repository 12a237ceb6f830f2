/** Instructions to a running mock node over HTTP, as a person sends them with curl. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { request } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { instructionNames } from '#pickaxe/mock-node/control.js';
import type { MockNodeEvent } from '#pickaxe/mock-node/mock-node.js';
import { eventually } from '../miner/source/follow.ts';
import { alice, banksOf, bob, coins, commandOf, toBob, toChain } from './execution/bank.ts';
import type { OtherOptions } from './node.ts';

const startBank = banksOf('chainweb');

const KEY = 'ab'.repeat(32);
const ACCOUNT = `k:${KEY}`;
const GUARD = { predicate: 'keys-all', publicKeys: [KEY] };

async function startInstructed(options: OtherOptions = {}) {
  const events: MockNodeEvent[] = [];
  const surroundings = { onEvent: (event: MockNodeEvent) => void events.push(event) };
  const bank = await startBank({ controlPort: 0, ...options }, surroundings);
  const post = async (body: string, headers: Record<string, string> = {}) => {
    const { statusCode, body: answer } = await request(bank.controlUrl!, { method: 'POST', body, headers });
    return { status: statusCode, json: (await answer.json()) as { error?: string; requestKey?: string } };
  };
  /** Sends an instruction that must succeed. */
  const instruct = async (instruction: object) => {
    const { status, json } = await post(JSON.stringify(instruction));
    expect([status, json]).toEqual([200, expect.anything()]);
    return json;
  };
  const { ledger } = bank.node;
  /** Solves a block on chain 3. */
  const solve = () => {
    ledger.pickChain = () => 3;
    ledger.submit(ledger.issueWork(ACCOUNT, GUARD).slice(36));
    return ledger.stats.records.at(-1)!;
  };
  return { ...bank, ledger, events, post, instruct, solve };
}

describe('a node that is told', () => {
  it('to orphan the next solution, does it at that depth', async () => {
    const { ledger, instruct, solve } = await startInstructed();
    await instruct({ do: 'orphan-next', depth: 1 });
    const { height } = solve();
    const block = ledger.chains.tip(3);
    expect(ledger.chains.isCanonical(3, block.id)).toBe(true);
    await instruct({ do: 'advance', chain: 3 });
    expect(ledger.chains.isCanonical(3, block.id)).toBe(false);
    expect(ledger.chains.heightOf(3)).toBe(height + 1n);
  });

  it('to orphan a block, does it once', async () => {
    const { ledger, instruct, tip, post } = await startInstructed();
    await instruct({ do: 'advance', chain: 3, blocks: 3 });
    const { id } = tip(3);
    await instruct({ do: 'orphan', chain: 3, hash: id });
    expect(ledger.chains.isCanonical(3, id)).toBe(false);
    for (const chain of [3, 99]) {
      const again = await post(JSON.stringify({ do: 'orphan', chain, hash: id }));
      expect([again.status, again.json.error]).toEqual([400, expect.stringContaining('no such block')]);
    }
  });

  it('its faults, has them on both sides, or on one', async () => {
    const { ask, p2p, instruct } = await startInstructed({ p2p: 'plain' });
    const cuts = async () => [(await ask('/cut')).status, (await p2p('/cut')).status];
    await instruct({ do: 'faults', faults: [{ endpoint: 'cut', kind: 'status', status: 406 }] });
    expect(await cuts()).toEqual([406, 406]);
    await instruct({
      do: 'faults',
      faults: [{ endpoint: 'cut', side: 'p2p', kind: 'status', status: 429, retryAfterS: 7 }],
    });
    expect(await cuts()).toEqual([200, 429]);
    expect((await p2p('/cut')).headers['retry-after']).toBe('7');
    await instruct({ do: 'faults', faults: [] });
    expect(await cuts()).toEqual([200, 200]);
  });

  it('to stand still, has no more blocks of others until it goes on', async () => {
    const { ledger, instruct } = await startInstructed({ rivalMs: 5 });
    await instruct({ do: 'stand-still' });
    expect(ledger.standsStill).toBe(true);
    const height = ledger.stats.rivalBlocks;
    await instruct({ do: 'go-on' });
    await eventually(() => expect(ledger.stats.rivalBlocks).toBeGreaterThan(height));
  });

  it('to badlist a command, refuses it', async () => {
    const { node, send, poll, instruct } = await startInstructed();
    const command = commandOf(0, toBob('1.0'));
    await send(0, command);
    await instruct({ do: 'badlist', requestKey: command.hash });
    node.ledger.advance(0);
    expect(await poll(0, command.hash)).toMatchObject({ result: { status: 'failure' } });
  });

  it('to finish a transfer, does what somebody else would do', async () => {
    const { run, balance, instruct, post, poll } = await startInstructed();
    const command = commandOf(0, toChain(2, '4.0'));
    await run(0, command);
    const { requestKey } = await instruct({ do: 'finish-transfer', chain: 0, requestKey: command.hash });
    expect(await poll(2, requestKey!)).toMatchObject({ result: { status: 'success' } });
    expect(await balance(2, bob)).toBe(coins('4.0'));
    const unknown = await post(JSON.stringify({ do: 'finish-transfer', chain: 1, requestKey: command.hash }));
    expect([unknown.status, unknown.json.error]).toEqual([400, expect.stringContaining('is no transfer')]);
  });

  it('to finish a transfer, pays at least the minimum price of gas', async () => {
    const { run, instruct, poll } = await startInstructed({ minGasPrice: '0.000001' });
    const command = commandOf(0, toChain(2, '4.0'));
    await run(0, command);
    const { requestKey } = await instruct({ do: 'finish-transfer', chain: 0, requestKey: command.hash });
    expect(await poll(2, requestKey!)).toMatchObject({ result: { status: 'success' } });
  });

  it('of its work, its clock and its streams, changes them', async () => {
    const { node, ledger, instruct, post } = await startInstructed();
    await instruct([
      { do: 'difficulty', hashes: 4096 },
      { do: 'clock-skew', ms: -5_000 },
      { do: 'mining', enabled: false },
      { do: 'streams', what: 'end' },
    ]);
    expect([ledger.difficulty, ledger.clockSkewMs, node.server.miningEnabled]).toEqual([4096, -5_000, false]);
    expect(ledger.chains.work(3, { account: alice, ...GUARD }, 0n).record).toHaveLength(322);
    const itself = await startInstructed({ retargets: true });
    expect((await itself.post('{"do":"difficulty","hashes":2}')).status).toBe(400);
    expect((await post('{"do":"clock-skew","ms":"5"}')).status).toBe(400);
  });

  it('to end, silence or lose its streams, does just that', async () => {
    const { node, instruct } = await startInstructed();
    const { streams } = node.server;
    const calls = (['endAll', 'silenceAll', 'loseAll'] as const).map((name) => vi.spyOn(streams, name));
    for (const [i, what] of ['end', 'silence', 'lose'].entries()) {
      await instruct({ do: 'streams', what });
      expect(calls.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 2].map((call) => (call <= i ? 1 : 0)));
    }
  });

  it('something that it fails to do, takes the blame', async () => {
    const { ledger, post } = await startInstructed();
    vi.spyOn(ledger, 'orphanNext').mockImplementation(() => {
      throw new Error('broken');
    });
    expect(await post('{"do":"orphan-next"}')).toEqual({
      status: 500,
      json: { error: 'the mock node failed: Error: broken' },
    });
  });

  it('to go away, comes back by itself, and is told things meanwhile', async () => {
    const { ask, instruct } = await startInstructed();
    await instruct({ do: 'go-away', ms: 600_000 });
    await expect(ask('/cut')).rejects.toThrow(/ECONNREFUSED/);
    await instruct({ do: 'go-away', ms: 1 });
    await eventually(async () => expect((await ask('/cut')).status).toBe(200));
  });

  it('comes back on its port once another program has left that', async () => {
    const { node, ask, url } = await startInstructed();
    await node.goAway();
    const other = createServer().listen(Number(new URL(url).port), '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const attempts = vi.spyOn(node, 'comeBack');
    await node.goAwayFor(1);
    await eventually(() => expect(attempts.mock.calls.length).toBeGreaterThan(1));
    other.close();
    await eventually(async () => expect((await ask('/cut')).status).toBe(200));
  });
});

describe('what the node does not understand', () => {
  it.each([
    ['', 'is JSON'],
    ['{"do":"orphan-next"', 'is JSON'],
    ['7', instructionNames[0]],
    ['{"do":"toString"}', instructionNames.at(-1)!],
    ['{"do":"orphan-next","deep":1}', 'deep'],
    ['{"do":"advance","chain":10}', 'no chain 10'],
    ['{"do":"faults","faults":[{"endpoint":"cut","kind":"sleepy"}]}', 'kind'],
    [JSON.stringify(Array(101).fill({ do: 'go-on' })), 'at most 100 instructions at once'],
    ['{"do":"finish-transfer","chain":10,"requestKey":"KEY"}'.replace('KEY', 'A'.repeat(43)), 'there is no chain 10'],
  ])('is refused: %s', async (body, says) => {
    const { post, events } = await startInstructed();
    const { status, json } = await post(body);
    expect([status, json.error]).toEqual([400, expect.stringContaining(says)]);
    expect(events.filter(({ type }) => type === 'instructed')).toEqual([]);
  });

  it('ends a list: what came before has been done', async () => {
    const { post, ledger, events } = await startInstructed();
    const { status } = await post('[{"do":"stand-still"},{"do":"dance"},{"do":"go-on"}]');
    expect([status, ledger.standsStill]).toEqual([400, true]);
    expect(events).toContainEqual({ type: 'instructed', instruction: 'stand-still' });
  });

  it('is also what a web page says, and every other method', async () => {
    const { post, controlUrl, ledger } = await startInstructed();
    expect(await post('{"do":"stand-still"}', { origin: 'https://page.example' })).toEqual({
      status: 403,
      json: { error: 'web pages may not tell the mock node what to do' },
    });
    const get = await request(controlUrl!);
    expect([get.statusCode, get.headers['content-type'], await get.body.json()]).toEqual([
      405,
      'application/json',
      { error: 'send an instruction: POST {"do": …}' },
    ]);
    expect((await post('{"do":"go-on"}'.padEnd(262_144))).status).toBe(200);
    expect(await post('{"do":"go-on"}'.padEnd(262_145))).toEqual({
      status: 413,
      json: { error: 'more than 262144 bytes' },
    });
    expect(ledger.standsStill).toBe(false);
  });
});

describe('the limit of', () => {
  const LONGEST_MS = 2 ** 31 - 1;

  it.each<[instruction: { readonly [name: string]: unknown; blocks?: number }, wrong: object]>([
    [{ do: 'orphan-next', depth: 0 }, { depth: -1 }],
    [{ do: 'orphan-next', depth: 100 }, { depth: 101 }],
    [{ do: 'orphan-next', depth: 1 }, { depth: 1.5 }],
    [{ do: 'advance', blocks: 1 }, { blocks: 0 }],
    [{ do: 'advance', blocks: 1_000 }, { blocks: 1_001 }],
    [{ do: 'advance', chain: 0 }, { chain: -1 }],
    [{ do: 'difficulty', hashes: 1 }, { hashes: 0.9 }],
    [{ do: 'clock-skew', ms: LONGEST_MS }, { ms: LONGEST_MS + 1 }],
    [{ do: 'clock-skew', ms: -LONGEST_MS }, { ms: -LONGEST_MS - 1 }],
    [{ do: 'go-away', ms: LONGEST_MS }, { ms: LONGEST_MS + 1 }],
    [{ do: 'go-away', ms: 1 }, { ms: 0 }],
    [{ do: 'streams', what: 'end' }, { what: 'go' }],
  ])('%j is not %j', async (instruction, wrong) => {
    const { node, ledger, instruct, post } = await startInstructed();
    const advance = vi.spyOn(ledger, 'advance').mockReturnValue(undefined as never);
    vi.spyOn(node, 'goAwayFor').mockResolvedValue();
    const { status, json } = await post(JSON.stringify({ ...instruction, ...wrong }));
    expect([status, json.error]).toEqual([400, expect.stringContaining(`at ${Object.keys(wrong)[0]}`)]);
    expect(advance).not.toHaveBeenCalled();
    expect(await instruct(instruction)).toEqual({});
    if (instruction.do === 'advance') {
      expect(advance.mock.calls).toEqual(Array(instruction.blocks ?? 1).fill([instruction.chain]));
    }
  });

  it('a list is a hundred instructions, and each has its result', async () => {
    const { post, ledger } = await startInstructed();
    const { status, json } = await post(JSON.stringify(Array(100).fill({ do: 'stand-still' })));
    expect([status, json, ledger.standsStill]).toEqual([200, Array(100).fill({}), true]);
  });

  it('an instruction without numbers is one block, and the depth 0', async () => {
    const { instruct, ledger } = await startInstructed();
    const advance = vi.spyOn(ledger, 'advance');
    const orphan = vi.spyOn(ledger, 'orphanNext');
    await instruct([{ do: 'advance' }, { do: 'orphan-next' }]);
    expect([advance.mock.calls, orphan.mock.calls]).toEqual([[[undefined]], [[0]]]);
  });
});
