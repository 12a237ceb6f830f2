/** Programs of a megabyte. */

import { describe, expect, it } from 'vitest';
import { ContractError } from '#pickaxe/contract/errors.js';
import { readForms } from '#pickaxe/contract/syntax/form-parser.js';

describe('bounds', () => {
  it('reads a megabyte of anything', () => {
    const megabyte = 1_000_000;
    expect(readForms('()'.repeat(megabyte / 2), 4)).toHaveLength(megabyte / 2);
    for (const piece of ['(', ')', '"', "'", ';', '\\', '1', '-', 'a.', ':', '{"a":', '"\\', '"\\ \\"', 'é', '.']) {
      for (const dialect of [4, 5] as const) {
        try {
          readForms(piece.repeat(Math.floor(megabyte / piece.length)), dialect);
        } catch (error) {
          expect(error, piece).toBeInstanceOf(ContractError);
        }
      }
    }
  });
});
