import { expect, it } from 'vitest';
import { z } from 'zod';
import { checked, reading } from '#pickaxe/protocol/ledger/fields.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';

it.each([
  [new LedgerFormatError('is odd'), LedgerFormatError, 'number.0: is odd'],
  [new TypeError('our own fault'), TypeError, 'our own fault'],
])('a reader of a field that throws %s', (thrown, type, message) => {
  const odd = reading(z.string(), () => {
    throw thrown;
  });
  const read = () => checked(z.array(odd), ['1'], 'number');
  expect(read).toThrow(type);
  expect(read).toThrow(message);
});
