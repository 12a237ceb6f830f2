/** What `tx poll` concludes about a node whose lies agree. */

import { expect, it, onTestFinished } from 'vitest';
import { NodesInTurn } from '#pickaxe/app/nodes/nodes-in-turn.js';
import { proverOf } from '#pickaxe/cli/coins/tx/outcomes.js';
import { runTxPoll } from '#pickaxe/cli/coins/tx/poll.js';
import { ShownResults } from '#pickaxe/cli/coins/tx/results.js';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { paymentOf, planPayment } from '#pickaxe/node/sweep/next-step.js';
import { sendJson } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { Folder } from '../../../app/config/folder.ts';
import { type Forgery, forger } from '../../../node/sweep/forger.ts';
import { ACCOUNT, NEVER, PAIR, World } from '../../../node/sweep/world.ts';
import { pretendedIo } from '../../pretended-io.ts';

const MINUTE = 60_000;

/** Sends a payment to a forging node. @returns what `tx poll` reports about the payment's file */
async function polled(
  lie: Omit<Forgery, 'chain' | 'blocks'>,
  {
    afterMs = 0,
    trusts = false,
    isHonest = false,
    least = 16n as bigint | null,
    network = 'mainnet01' as const as string,
  } = {},
) {
  const world = await World.make({ network: network as 'mainnet01', difficulty: 1 });
  const receiver = { receiver: `k:${'1'.repeat(64)}`, receiverGuard: null };
  const terms = { account: ACCOUNT, chain: 0, targetChain: 0, amount: parseDecimal('1.0'), gasPrice: 10_000n };
  const plan = await planPayment(
    world.ledger,
    { ...terms, ...receiver, gasStation: null, held: [PAIR.publicKey] },
    NEVER,
  );
  const { url } = await forger(world, { chain: 0, blocks: 12, ...lie });
  const known = () => new KnownWork({ table: () => least ?? undefined });
  const ledger = world.ledgerOf([isHonest ? world.url : url], 'auto', known());
  const runner = world.runner(paymentOf(plan, world.network, 1), { ledger });
  await runner.round(NEVER);
  world.grow(8);
  const folder = new Folder();
  onTestFinished(() => folder.remove());
  const file = folder.write('sent.json', sendJson([runner.sweep.transfers[0].step0!]));
  const settings = {
    node: { urls: [isHonest ? world.url : url], network, insecureTls: false },
    ledger: { dialect: 'auto' as const },
  };
  const nodes = new NodesInTurn(settings, () => {}, { limits: { attempts: 1, answerTimeoutMs: 5_000 } });
  onTestFinished(() => nodes.close());
  const io = pretendedIo({ now: Date.now() + afterMs });
  const prove = proverOf(async () => known(), trusts);
  const wait = { chain: null, timeoutMs: 0, pauseMs: 1, once: true, json: true, confirmationDepth: 0, prove };
  const code = await runTxPoll(file, wait, nodes, io);
  const { status, provenBy, doubt } = ShownResults.parse(JSON.parse(io.stdout)).results[0];
  return { code, status, provenBy, doubt };
}

const PAST = 55 * MINUTE;

it.each([
  ['it has succeeded', { lie: 'done', untilMs: 0 }, 0],
  ['it has failed', { lie: 'failure', untilMs: 0 }, 0],
  ['no block has it', { lie: 'no block', untilMs: PAST }, PAST],
] as const)('the word of a node that %s is no result', async (message, lie, afterMs) => {
  const { doubt, ...rest } = await polled(lie, { afterMs });
  expect(rest).toEqual({ code: 4, status: 'pending', provenBy: null });
  expect(doubt).toMatch(
    new RegExp(
      `^by the word of the node ${message}, but that is not proven: the blocks that show it took \\d+ hashes, and at least`,
    ),
  );
});

it.each([
  ['done', 'success', 0],
  ['failure', 'failure', 1],
] as const)('it is one for a user who takes it: %s', async (lie, status, code) => {
  expect(await polled({ lie, untilMs: 0 }, { trusts: true })).toEqual({ code, status, provenBy: 'node', doubt: null });
});

it('what nobody knows proves nothing: how much work a block of the network takes', async () => {
  const { doubt } = await polled({ lie: 'done', untilMs: 0 }, { network: 'testnet04', least: null });
  expect(doubt).toBe(
    'by the word of the node it has succeeded, but that is not proven: nobody here knows how much work a block of testnet04 takes. If the nodes are your own, add --trust-nodes',
  );
});

it('a result in a block whose work is that of the network’s blocks is proven', async () => {
  const honest = await polled({ lie: 'no block', untilMs: 0 }, { isHonest: true, least: 1n });
  expect(honest).toEqual({ code: 0, status: 'success', provenBy: 'work', doubt: null });
});

it('where blocks take no work, a result is the word of one node, and says so', async () => {
  const result = await polled({ lie: 'done', untilMs: 0 }, { network: 'development' });
  expect(result).toEqual({ code: 0, status: 'success', provenBy: 'node', doubt: null });
});
