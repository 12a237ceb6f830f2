/** A fault of the evaluator itself, which is no ContractError, lets a command fail, and nothing else. */

import { afterEach, describe, expect, it, vi } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { NATIVES } from '#pickaxe/contract/natives/natives.js';
import { contractFault, reportOnce } from '#pickaxe/mock-node/execution/internal-faults.js';
import type { MockNodeEvent } from '#pickaxe/mock-node/mock-node.js';
import type { Message } from '#pickaxe/protocol/ledger/command/command-payload.js';
import { alice, banksOf, commandOf, toBob } from './bank.ts';

const startBank = banksOf('chainweb');
const MESSAGE = 'internal error of the mock node: its log says what';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Lets each native of this name throw what is no ContractError. */
function breakNative(name: string): void {
  const native = NATIVES.get(name)!;
  vi.spyOn(native, 'apply').mockImplementation(() => {
    throw new TypeError(`${name} is broken`);
  });
}

async function start(contractDialect: 4 | 5) {
  const events: MockNodeEvent[] = [];
  const bank = await startBank({ contractDialect }, { onEvent: (event) => events.push(event) });
  const internal = () => events.filter((event) => event.type === 'internal fault');
  return { ...bank, internal };
}

const code = (text: string) => ({ message: { exec: { code: text, data: {} } } satisfies Message, capabilities: [] });

describe.each([4, 5] as const)('in dialect %i, a broken native', (contractDialect) => {
  it('lets the commands fail that use it, which the log says once, and others go on', async () => {
    const { run, local, internal, balance } = await start(contractDialect);
    breakNative('shift');
    for (const number of [1, 2]) {
      const { result, gas } = await run(0, commandOf(0, code(`(shift ${number} 1)`), { meta: { gasLimit: 900 } }));
      expect([result, gas]).toMatchObject([{ status: 'failure', error: { message: MESSAGE } }, 900]);
    }
    const { status, text } = await local(0, commandOf(0, code('(shift 3 1)')));
    expect([status, JSON.parse(text).result.error.message]).toEqual([200, MESSAGE]);
    expect((await run(0, commandOf(0, toBob('1.0')))).result).toMatchObject({ status: 'success' });
    expect(await balance(0, alice)).toBeGreaterThan(0n);
    expect(internal()).toEqual([
      { type: 'internal fault', what: expect.stringMatching(/^TypeError: shift is broken\n\s+at /) },
    ]);
  });

  it('that the payment of gas needs lets /send refuse the command', async () => {
    const { send, internal } = await start(contractDialect);
    breakNative('enforce');
    const { status, text } = await send(0, commandOf(0, toBob('1.0')));
    expect([status, text]).toEqual([400, expect.stringContaining(MESSAGE)]);
    expect(internal()).toHaveLength(1);
  });

  it('that the reward needs leaves the miner without it', async () => {
    const { node, internal } = await start(contractDialect);
    breakNative('enforce');
    expect(() => node.ledger.advance(0)).not.toThrow();
    expect(internal()).toHaveLength(1);
  });
});

it('at most a hundred different faults are reported, and others let commands fail all the same', () => {
  const told: string[] = [];
  const report = reportOnce(({ what }) => told.push(what));
  for (let i = 0; i < 103; i++) {
    expect(contractFault(`fault ${i}`, report)).toMatchObject({ kind: 'eval', message: MESSAGE });
    contractFault(`fault ${i}`, report);
  }
  expect(told).toEqual(Array.from({ length: 100 }, (_, i) => `fault ${i}`));
  const own = new ContractError('db', 'no row');
  expect(contractFault(own, () => expect.unreachable())).toBe(own);
});
