/** What a sweep makes of the answers of its nodes: refusals, faults, and blocks that must take work. */

import { describe, expect, it } from 'vitest';
import { NodeSweepLedger } from '#pickaxe/app/nodes/node-sweep-ledger.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { KnownWork } from '#pickaxe/node/blocks/known-work.js';
import { ProofRefusedError, SendRefusedError } from '#pickaxe/node/client/commands.js';
import type { NodeApi } from '#pickaxe/node/client/node-api.js';
import { NodeError, type NodeErrorKind } from '#pickaxe/node/http/node-error.js';
import { SweepFault } from '#pickaxe/node/sweep/sweep-ledger.js';
import { blockWeight } from '#pickaxe/protocol/ledger/difficulty.js';
import { blockHash } from '#pickaxe/protocol/ledger/header.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';
import { wholeBlocks } from '../../node/client/rows.ts';

const [{ header }] = wholeBlocks;
const { chain } = header;
const hash = blockHash(header);
const LONG = `no\n${'x'.repeat(400)}`;
const CUT = `no ${'x'.repeat(296)}…`;

type Answers = Partial<Record<keyof NodeApi, (...asked: never[]) => unknown>>;

/** A ledger of nodes that give these answers. The first node has a real block as the newest one of its chain. */
function ledgerOf(answers: Answers, { network = 'development', known = new KnownWork() } = {}) {
  const asked: string[] = [];
  const usual: Answers = {
    cut: async () => ({ heads: new Map([[chain, { height: header.height, hash }]]) }),
    async *headerBranch() {
      yield header;
    },
    dialect: async () => 'chainweb',
    ...answers,
  };
  const noting = Object.entries(usual).map(([name, answer]) => [
    name,
    (...given: never[]) => {
      asked.push(name);
      return answer(...given);
    },
  ]);
  const api = { network, ...Object.fromEntries(noting) } as unknown as NodeApi;
  const askOne = <T>(question: (api: NodeApi, name: string) => Promise<T>) => question(api, 'http://one');
  const nodes = { ask: askOne, askOne, askOther: async () => undefined } as never;
  return { ledger: new NodeSweepLedger(network, nodes, known), asked, known };
}

const fault = (kind: NodeErrorKind, message = 'the node', text = '') => new NodeError(kind, message, { text } as never);
const thrower = (error: Error) => async () => {
  throw error;
};

describe('a refusal', () => {
  const refused = fault('bad request', 'refused', `Transaction ${'A'.repeat(43)} at index 0 failed with: ${LONG}`);

  it('of a command is an answer, in a line that is not too long', async () => {
    expect(await ledgerOf({ send: async () => {} }).ledger.send(chain, {} as never, NEVER)).toEqual({ kind: 'taken' });
    const error = new SendRefusedError(refused);
    const sent = await ledgerOf({ send: thrower(error) }).ledger.send(chain, {} as never, NEVER);
    expect(sent).toMatchObject({ kind: 'refused' });
    expect(sent.kind === 'refused' && sent.reason).toHaveLength(300);
    expect(JSON.stringify(sent)).not.toContain('\\n');
  });

  it('of a proof is an answer, too', async () => {
    const proof = (answer: NonNullable<Answers['proof']>) =>
      ledgerOf({ proof: answer }).ledger.proof(chain, 'key', 1, NEVER);
    expect(await proof(async () => 'abc')).toEqual({ kind: 'proof', proof: 'abc' });
    const error = new ProofRefusedError(refused);
    const { wait } = error.refusal;
    expect(await proof(thrower(error))).toEqual({ kind: 'refused', reason: expect.any(String), wait });
  });
});

describe('an error', () => {
  const failing = (error: Error, stop = NEVER) =>
    ledgerOf({ poll: thrower(error) })
      .ledger.result(chain, 'key', stop)
      .catch((thrown: unknown) => thrown as Error);

  it('of a node is a fault of the sweep, in one line, and an error of pickaxe is not', async () => {
    const one = await failing(fault('broken', 'http://one has\nended'));
    expect([one instanceof SweepFault, (one as Error).message]).toEqual([true, 'http://one has ended']);
    const two = await failing(new LedgerFormatError('the key is missing'));
    expect([two instanceof SweepFault, (two as Error).message]).toEqual([true, 'http://one: the key is missing']);
    const bug = new TypeError('x is undefined');
    expect(await failing(bug)).toBe(bug);
  });

  it('after the end of the command is that end', async () => {
    const error = await failing(new TypeError('x is undefined'), AbortSignal.abort());
    expect([error instanceof SweepFault, (error as Error).message]).toEqual([true, 'was stopped']);
  });
});

describe('a result', () => {
  const result = { status: 'failure', error: { message: LONG } };

  it('has a message that can be shown, if there is one', async () => {
    const poll = async () => new Map([['key', { requestKey: 'key', result }]]);
    const { ledger } = ledgerOf({ poll });
    expect(await ledger.result(chain, 'key', NEVER)).toMatchObject({ result: { error: { message: CUT } } });
    expect(await ledger.result(chain, 'other', NEVER)).toBeUndefined();
  });

  it('of a trial has the gas, without which the trial is of no use', async () => {
    const tried = (answer: object) => ledgerOf({ local: async () => answer }).ledger.tryOut(chain, {} as never, NEVER);
    expect(await tried({ outcome: result, result: { gas: 7 } })).toMatchObject({ outcome: { error: {} }, gas: 7 });
    const success = { status: 'success', data: 'Write succeeded' };
    expect(await tried({ outcome: success, result: { gas: 8 } })).toEqual({ outcome: success, gas: 8 });
    await expect(tried({ outcome: success })).rejects.toThrow('does not say how much gas a command would need');
  });
});

describe('the newest block of a chain', () => {
  const NETWORK = 'mainnet01';

  it('is known before the first command goes to its chain, and is not asked for again', async () => {
    const { ledger, asked, known } = ledgerOf({ send: async () => {} }, { network: NETWORK, known: nearlyNothing() });
    expect(known.leastWork(NETWORK)).toBe(1n);
    await ledger.send(chain, {} as never, NEVER);
    expect(known.leastWork(NETWORK)).toBe(blockWeight(header.target) / 16n);
    expect(asked.filter((name) => name === 'headerBranch')).toHaveLength(1);
    await ledger.send(chain, {} as never, NEVER);
    expect(asked.filter((name) => name === 'headerBranch')).toHaveLength(1);
    expect(asked.filter((name) => name === 'send')).toHaveLength(2);
  });

  it('is not needed where a gateway does not serve it, but a node that is away gets no command', async () => {
    const without = (error: Error) => {
      // biome-ignore lint/correctness/useYield: it fails before the first header
      const failing = async function* () {
        throw error;
      };
      const answers = { send: async () => {}, headerBranch: failing, blockBranch: failing };
      return ledgerOf(answers, { network: NETWORK });
    };
    const gateway = without(fault('not found'));
    expect(await gateway.ledger.send(chain, {} as never, NEVER)).toEqual({ kind: 'taken' });
    const away = without(fault('unreachable'));
    await expect(away.ledger.send(chain, {} as never, NEVER)).rejects.toThrow(SweepFault);
    const odd = without(new LedgerFormatError('no work'));
    await expect(odd.ledger.send(chain, {} as never, NEVER)).rejects.toThrow('no work');
    expect([...away.asked, ...odd.asked]).not.toContain('send');
  });

  it('is not asked for on a network whose blocks take no work', async () => {
    const { ledger, asked } = ledgerOf({ send: async () => {} });
    await ledger.send(chain, {} as never, NEVER);
    expect(asked).toEqual(['send']);
  });

  it('must be one of a chain that the node has', async () => {
    const { ledger } = ledgerOf(
      { send: async () => {}, cut: async () => ({ heads: new Map() }) },
      { network: NETWORK },
    );
    await expect(ledger.send(chain, {} as never, NEVER)).rejects.toThrow(`The node has no chain ${chain}.`);
  });
});

describe('a block', () => {
  const other = new Uint8Array(32);
  /** Asks whether a block is among those that may follow a height. */
  async function has(block: Uint8Array, from: number, branch: readonly Uint8Array[]) {
    const bounds: unknown[] = [];
    const { ledger, asked } = ledgerOf({
      async *hashBranch(_: never, __: never, range: never) {
        bounds.push(range);
        yield* branch;
      },
    });
    return { found: await ledger.hasBlock(chain, block, from, NEVER), asked, bounds };
  }
  const top = Number(header.height);

  it('is looked for from a height on, to eight above it or the newest block', async () => {
    const near = await has(other, top - 1, [hash, other]);
    expect([near.found, near.bounds]).toEqual([true, [{ minHeight: BigInt(top - 1), maxHeight: BigInt(top) }]]);
    expect((await has(other, top - 1, [hash, hash])).found).toBe(false);
    const far = await has(
      other,
      top - 20,
      Array.from({ length: 9 }, () => hash),
    );
    expect([far.found, far.bounds]).toEqual([false, [{ minHeight: BigInt(top - 20), maxHeight: BigInt(top - 12) }]]);
    expect((await has(hash, top, [hash])).found).toBe(true);
  });

  it('is not there before its chain has its height', async () => {
    expect(await has(hash, top + 1, [hash])).toEqual({ found: false, asked: ['cut'], bounds: [] });
  });
});

/** @returns what is known of work where the table of networks says nearly nothing */
function nearlyNothing(): KnownWork {
  return new KnownWork({ table: () => 1n });
}
