/** How nodes of both versions parse a command's code, and what its size costs. */

import { describe, expect, it } from 'vitest';
import type { ReadCommand } from '#pickaxe/mock-node/commands/command-checks.js';
import { formsOfCode, unreadable, whyMeaningless } from '#pickaxe/mock-node/execution/code.js';
import { BuyGasError, gasOfSize, payableGas } from '#pickaxe/mock-node/execution/gas-payment.js';
import type { Payload } from '#pickaxe/protocol/ledger/command/command-payload.js';

const ofCode = (code: string) => ({ payload: { exec: { code, data: null } } }) as unknown as Payload;
const CONTINUATION = { payload: { cont: { proof: null } } } as unknown as Payload;

describe('code', () => {
  it.each([
    ['(+ 1 2) "a"', 2, 2],
    ['1', 1, 1],
    ['', 'Failed reading: mzero', 0],
    [' ; nothing', 'Failed reading: mzero', 0],
    ['(+ 1', 'Failed reading: mzero', "Expected: [')']"],
    ['(+ 1 2))', 'endOfInput', 'Too many closing parens, remaining tokens: []'],
  ] as const)('%j has forms in version 4: %s, and in version 5: %s', (code, four, five) => {
    for (const [dialect, expected] of [
      [4, four],
      [5, five],
    ] as const) {
      if (typeof expected === 'number') {
        expect(formsOfCode(code, dialect)).toHaveLength(expected);
        expect(unreadable(ofCode(code), dialect)).toBeUndefined();
      } else {
        expect(() => formsOfCode(code, dialect)).toThrow(expected);
        expect(unreadable(ofCode(code), dialect)).toMatchObject({ kind: 'syntax', message: expected });
      }
    }
  });

  it('that means nothing is unreadable in version 5, and only meaningless in version 4', () => {
    const code = ofCode('(+ 1 2) "ä" (let)');
    expect(unreadable(code, 4)).toBeUndefined();
    expect(whyMeaningless(code, 4)).toBe('<interactive>:0:12: Failure: Syntax error: Unexpected end of input');
    expect(unreadable(code, 5)).toMatchObject({ kind: 'syntax' });
    expect(whyMeaningless(code, 5)).toBeUndefined();
    expect(whyMeaningless(ofCode('(+ 1 2)'), 4)).toBeUndefined();
  });

  it('of a continuation is none', () => {
    for (const dialect of [4, 5] as const) {
      expect(unreadable(CONTINUATION, dialect)).toBeUndefined();
      expect(whyMeaningless(CONTINUATION, dialect)).toBeUndefined();
    }
  });
});

describe('the gas for a command’s size', () => {
  const sized = (bytes: number, gasLimit: number, message: object = { exec: {} }) =>
    ({
      command: { cmd: 'x'.repeat(bytes), hash: 'H' },
      payload: { payload: message, meta: { gasLimit } },
    }) as unknown as ReadCommand;

  it.each([
    [100, 1n],
    [101, 2n],
    [1_000, 11n],
    [51_200, 513n],
    [102_400, 1_152n],
  ])('of %i bytes is %i', (bytes, gas) => {
    expect(gasOfSize(sized(bytes, 0))).toBe(gas);
    expect(payableGas(sized(bytes, Number(gas)))).toBe(gas);
    expect(() => payableGas(sized(bytes, Number(gas) - 1))).toThrow(
      new BuyGasError({ kind: 'EvalError', message: '"H" Failed to purchas gas: tx too big for gas limit' }),
    );
  });

  it('leaves out the proof of a continuation', () => {
    expect(gasOfSize(sized(1_000, 0, { cont: { proof: 'x'.repeat(900) } }))).toBe(1n);
    expect(gasOfSize(sized(1_000, 0, { cont: { proof: null } }))).toBe(11n);
  });

  it('cannot be paid above 300,000 bytes', () => {
    const proof = (bytes: number) => ({ cont: { proof: 'x'.repeat(bytes) } });
    expect(payableGas(sized(300_000, 10_000, proof(299_000)))).toBe(11n);
    expect(() => payableGas(sized(300_001, 10_000, proof(299_000)))).toThrow('tx too big for gas limit');
  });
});
