/** What a proof of a defpact on another chain says, as the interpreter reads it. */

import { describe, expect, it } from 'vitest';
import { KeysetGuard, UNIT } from '#pickaxe/contract/values/values.js';
import type { ExecutionContext } from '#pickaxe/mock-node/execution/block-environment.js';
import { provenDefpact } from '#pickaxe/mock-node/execution/continuation-proof.js';
import { encodeSpvProof, parseSpvProof } from '#pickaxe/protocol/ledger/spv-proof.js';
import { faultOf } from '../../contract/faults.ts';
import { proofs } from '../../protocol/ledger/vectors.ts';

const REAL = parseSpvProof(proofs[0].proof);

/** @returns a proof with the path of a real one, which leads to another block */
function proofOf(args: unknown, data: unknown): string {
  const result = {
    reqKey: 'A'.repeat(43),
    result: { status: 'success', data: 1 },
    gas: 1,
    logs: null,
    events: [],
    metaData: null,
    txId: 1,
    continuation: {
      pactId: 'id',
      step: 0,
      stepCount: 2,
      stepHasRollback: false,
      executed: null,
      continuation: { def: 'm.p', args },
      yield: { data, source: '0', provenance: null },
      nested: {},
    },
  };
  const output = Buffer.from(JSON.stringify(result));
  return encodeSpvProof({ ...REAL, output });
}

const FAULT4 = 'unable to decode spv transaction output';
const FAULT5 = 'Continuation error: verifyCont: Unable to decode SPV transaction output';

describe.each([4, 5] as const)('in dialect %i', (dialect) => {
  const context = { chain: REAL.targetChain, dialect, hasAncestor: () => true } as unknown as ExecutionContext;
  const proven = (args: unknown, data: unknown) => provenDefpact(proofOf(args, data), context);
  const refusal = dialect === 4 ? FAULT4 : FAULT5;

  it.each([{ keys: ['a'], pred: 'keys-all' }, { int: 5 }, { name: 'n', pactId: 'p' }])(
    'what was yielded is an object, whatever its keys: %j',
    (data) => {
      expect([...(proven([], data).yielded?.data.keys() ?? [])]).toEqual(Object.keys(data).sort());
    },
  );

  it('arguments are read as data are', () => {
    const keyset = new KeysetGuard(['a'], 'keys-all');
    const exact = [{ keys: ['a'], pred: 'keys-all' }];
    expect(proven(exact, {}).continuation.args).toEqual([keyset]);
    const lenient = [{ keys: ['a'], more: null }, null];
    if (dialect === 5) expect(proven(lenient, { x: null }).continuation.args).toEqual([keyset, UNIT]);
    else expect(faultOf(() => proven(lenient, {})).message).toBe(refusal);
  });

  it.each([[[1]], [1], ['text']])('neither is it another value than an object: %j', (data) => {
    expect(faultOf(() => proven([], data)).message).toBe(refusal);
  });
});
