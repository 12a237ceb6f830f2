/** The native `verify-spv`, which verifies a proof from another chain. */

import { describe, expect, it } from 'vitest';
import { lastOf } from '../dialogue.ts';

const MOCK = '(mock-spv "TXOUT" { "a": "b" } { "c": 1 })';

describe('verify-spv', () => {
  it.each([4, 5] as const)('answers what the proof shows, in dialect %i', (dialect) => {
    expect(lastOf(dialect, [MOCK, '(verify-spv "TXOUT" { "a": "b" })'])).toBe('{"c": 1}');
  });

  it.each([
    [4, '(verify-spv "OTHER" { "a": "b" })', 'SPV verify failed: SPV verification failure'],
    [4, '(verify-spv "TXOUT" { "a": "c" })', 'SPV verify failed: SPV verification failure'],
    [
      4,
      '(verify-spv "TXOUT" 1)',
      'Invalid arguments, received ["TXOUT" 1] for type:string payload:object:<in> -> object:<out>',
    ],
  ] as const)('fails in dialect %i: %s', (dialect, code, message) => {
    expect(lastOf(dialect, [MOCK, code])).toBe(message);
  });
});
