/** The option `mineOnSend`: commands that nobody mines have results, proofs and blocks above them all the same. */

import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { MockNode, NodeApi } from '#pickaxe/index.js';
import { MineOnSend } from '#pickaxe/mock-node/commands/mine-on-send.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import { alice, arrival, banksOf, bob, coins, commandOf, toBob, toChain, toNewBob } from '../execution/bank.ts';

const startBank = banksOf('chainweb');
const MINES = { mineOnSend: true } as const;

describe('with mineOnSend', () => {
  it('a command has its result as soon as it is sent, and the second one too', async () => {
    const { send, poll, tip, post } = await startBank(MINES);
    const first = tip(0).header.height;
    for (const more of [1n, 2n]) {
      const command = commandOf(0, toBob('1.0'));
      expect((await send(0, command)).status).toBe(200);
      expect(tip(0).header.height).toBe(first + more);
      expect((await poll(0, command.hash))?.result).toMatchObject({ status: 'success' });
      expect((await post(0, 'api/v1/listen', { listen: command.hash })).status).toBe(200);
    }
  });

  it('more commands than a block takes are in several', async () => {
    const { send, poll, tip } = await startBank({ ...MINES, chains: 4, blockGasLimit: 1_000 });
    const first = tip(0).header.height;
    const commands = [0, 1, 2].map(() => commandOf(0, toBob('1.0')));
    await send(0, ...commands);
    for (const { hash } of commands) expect((await poll(0, hash))?.result.status).toBe('success');
    expect(tip(0).header.height - first).toBe(3n);
  });

  it('a command that no block takes gets no blocks without end', async () => {
    const { node, tip } = await startBank({ chains: 4, mineOnSend: false });
    const { height } = tip(0).header;
    let asked = 0;
    const waiting = () => {
      if (++asked > 10) throw new Error('it adds blocks without end');
      return asked === 1 ? 2 : 1;
    };
    new MineOnSend(true, node.ledger).mine(0, waiting);
    // The first block has taken another command, and the second one none.
    expect(tip(0).header.height - height).toBe(2n);
  });

  it('coins that go to another chain have a proof there at once, and arrive', async () => {
    const { send, poll, post, balance } = await startBank(MINES);
    const leaving = commandOf(0, toChain(5, '2.5'));
    await send(0, leaving);
    const proof = await post(0, 'spv', { requestKey: leaving.hash, targetChainId: '5' });
    expect(proof.status).toBe(200);
    const arriving = commandOf(5, arrival(leaving.hash, JSON.parse(proof.text)));
    await send(5, arriving);
    expect((await poll(5, arriving.hash))?.result).toMatchObject({ status: 'success' });
    expect(await balance(5, bob)).toBe(coins('2.5'));
  });

  it('as many blocks come above a result as the one who asks for it waits for, but at most twenty', async () => {
    const { send, poll, tip } = await startBank({ ...MINES, chains: 4 });
    const command = commandOf(0, toBob('1.0'));
    await send(0, command);
    const { height } = tip(0).header;
    expect(await poll(0, command.hash, '?confirmationDepth=21')).toBeUndefined();
    expect(tip(0).header.height).toBe(height);
    expect((await poll(0, command.hash, '?confirmationDepth=20'))?.result.status).toBe('success');
    expect(tip(0).header.height).toBe(height + 20n);
  });

  it.each<[string, (bank: Awaited<ReturnType<typeof startBank>>) => Promise<unknown>]>([
    ['the cut', ({ ask }) => ask('/cut')],
    ['a result', ({ poll }) => poll(1, 'A'.repeat(43))],
    ['a balance', ({ balance }) => balance(1, alice)],
  ])('a second after the last command, who asks for %s finds six blocks above it', async (_, ask) => {
    const clock = { ...systemClock, us: systemClock.nowUs(), nowUs: () => clock.us };
    const bank = await startBank(MINES, { clock });
    for (const _ of [1, 2]) {
      await bank.send(1, commandOf(1, toNewBob('1.0')));
      const { height } = bank.tip(1).header;
      const heights = [];
      for (const us of [999_999n, 1n, 1_000_000n]) {
        clock.us += us;
        await ask(bank);
        heights.push(bank.tip(1).header.height - height);
      }
      expect(heights).toEqual([0n, 6n, 6n]);
    }
  });

  it.each([
    [60_000, 0n],
    [60_001, 1n],
  ])(
    'a last block that is %i ms old gets %i blocks above it before a command is tried',
    async (firstBlockAgeMs, more) => {
      const clock = { ...systemClock, nowUs: () => 1_700_000_000_000_000n };
      const { local, tip } = await startBank({ ...MINES, firstBlockAgeMs }, { clock });
      const first = tip(0).header.height;
      expect((await local(0, commandOf(0, toBob('1.0')))).status).toBe(200);
      expect(tip(0).header.height - first).toBe(more);
    },
  );

  it('nothing comes above an old block where it is off', async () => {
    const clock = { ...systemClock, nowUs: () => 1_700_000_000_000_000n };
    const { local, tip } = await startBank({ firstBlockAgeMs: 3_600_000 }, { clock });
    const first = tip(0).header.height;
    await local(0, commandOf(0, toBob('1.0')));
    expect(tip(0).header.height).toBe(first);
  });

  it('a command of now is taken an hour after the last block', async () => {
    const { node, send, poll } = await startBank(MINES);
    node.ledger.clockSkewMs = 3_600_000;
    const command = commandOf(0, toBob('1.0'), { meta: { creationTime: Math.floor(Date.now() / 1000) + 3_600 } });
    await send(0, command);
    expect((await poll(0, command.hash))?.result.status).toBe('success');
  });
});

describe('the mock node of the package', () => {
  /** @returns whether a command has a result once it is sent */
  const hasResult = async (options: MockNodeOptions, before: (node: MockNode) => void = () => {}) => {
    const accounts = [alice, bob].map((account) => ({ account, balance: '10' }));
    const node = new MockNode({ dialect: 'chainweb', chains: 4, accounts, ...options });
    onTestFinished(() => node.close());
    const { url } = await node.start();
    before(node);
    const api = new NodeApi({ url, network: 'development' });
    onTestFinished(() => api.close());
    const [requestKey] = await api.send(0, [commandOf(0, toBob('1.0'))]);
    return (await api.poll(0, [requestKey])).has(requestKey);
  };

  it.each<[string, boolean, MockNodeOptions, ((node: MockNode) => void)?]>([
    ['mines on send while nothing else makes blocks', true, {}],
    ['leaves that to other miners', false, { rivalMs: 1_000_000 }],
    ['leaves that to a miner that has asked for work', false, {}, (node) => void node.ledger.issueWork(alice)],
    ['mines on send beside others if it is told so', true, { rivalMs: 1_000_000, mineOnSend: true }],
    ['mines nothing if it is told so', false, { mineOnSend: false }],
  ])('%s', async (_, expected, options, before) => {
    expect(await hasResult(options, before)).toBe(expected);
  });
});
