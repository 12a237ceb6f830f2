import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rootsOf } from '#pickaxe/mock-node/ledger/block-store.js';
import { type BlockHeader, blockHash, blockLeaves, HEADER_LEAF } from '#pickaxe/protocol/ledger/header.js';
import {
  decodeBase64url,
  encodeBase64url,
  LedgerFormatError,
  parseExactJsonBytes,
} from '#pickaxe/protocol/ledger/json.js';
import { merklePath } from '#pickaxe/protocol/ledger/merkle.js';
import { outputLeaves, transfersOf } from '#pickaxe/protocol/ledger/payload.js';
import {
  checkSpvProof,
  encodeSpvProof,
  parseSpvProof,
  type SpvProof,
  spvRoot,
} from '#pickaxe/protocol/ledger/spv-proof.js';
import { blockHeaders, contents } from './arbitraries.ts';
import { damaged, damagedText, refusalOf } from './damage.ts';
import { header, proofs, transfer } from './vectors.ts';

const jsonOf = (proof: string) => JSON.parse(Buffer.from(proof, 'base64url').toString());
const proofOf = (json: unknown) => Buffer.from(JSON.stringify(json)).toString('base64url');

describe.each(proofs.map((vector, i) => [i, vector] as const))('the real proof %i', (i, vector) => {
  const proof = parseSpvProof(vector.proof);
  const block = { chain: vector.targetChain, hash: decodeBase64url(vector.root) };

  it('leads to a block of its target chain', () => {
    expect(proof).toMatchObject({ targetChain: vector.targetChain });
    expect(proof.steps.length).toBe(vector.steps);
    expect(encodeBase64url(spvRoot(proof))).toBe(vector.root);
    expect(() => checkSpvProof(proof, block)).not.toThrow();
    if (vector.rootHeader) {
      const found = header(vector.rootHeader);
      expect(() => checkSpvProof(proof, { chain: found.chain, hash: blockHash(found) })).not.toThrow();
    }
  });

  it('proves the output of its transaction', () => {
    expect(parseExactJsonBytes(proof.output)).toMatchObject({ reqKey: vector.subjectReqKey });
  });

  it('comes back from its text', () => {
    expect(parseSpvProof(encodeSpvProof(proof))).toEqual(proof);
    expect(jsonOf(encodeSpvProof(proof))).toEqual(jsonOf(vector.proof));
  });

  it('is noticed when a byte of its path, or of its output, is changed', () => {
    const json = jsonOf(vector.proof);
    const wrong = (variant: object) => {
      expect(() => checkSpvProof(parseSpvProof(proofOf({ ...json, ...variant })), block)).toThrow(/^proof[:.]/);
    };
    const object = decodeBase64url(json.object);
    for (const bytes of damaged(object, i === 0 ? 1 : 23)) wrong({ object: encodeBase64url(bytes) });
    for (const length of [0, 3, 11, 12, 44, 45, object.length - 33, object.length - 1]) {
      wrong({ object: encodeBase64url(object.subarray(0, length)) });
    }
    for (const bytes of damaged(decodeBase64url(json.subject.input), 101)) {
      wrong({ subject: { input: encodeBase64url(bytes) } });
    }
    wrong({ chain: vector.targetChain + 1 });
  });

  it('is noticed when a character of its text is changed', () => {
    for (const text of damagedText(vector.proof, 149)) {
      expect(() => checkSpvProof(parseSpvProof(text), block)).toThrow(LedgerFormatError);
    }
  });
});

describe('a proof', () => {
  const [{ proof, targetChain, root }] = proofs;
  const json = jsonOf(proof);

  /** The beginning of a path, with this number of bytes, that states a number of steps. */
  const head = (bytes: number, steps: number) => new Uint8Array(bytes).fill(steps, 3, 4);

  it('says what is wrong', () => {
    const faults: [object, string][] = [
      [{ algorithm: 'SHA512' }, 'proof.algorithm: must be SHA512t_256'],
      [{ chain: '0' }, 'proof.chain: must be an integer'],
      [{ object: undefined }, 'proof.object: '],
      [{ subject: { input: 'ABN7' } }, 'proof.subject.input: is not the output of a transaction'],
      [{ object: 'AAAA' }, 'proof.object: 3 bytes do not hold a path of 0 steps'],
      [{ object: encodeBase64url(head(11, 1)) }, 'proof.object: 11 bytes do not hold a path of 0 steps'],
      [{ object: encodeBase64url(head(12, 1)) }, 'proof.object: 12 bytes do not hold a path of 1 steps'],
    ];
    for (const [fields, message] of faults)
      expect(() => parseSpvProof(proofOf({ ...json, ...fields }))).toThrow(message);
    const sides = decodeBase64url(json.object);
    sides[12] = 2;
    expect(() => parseSpvProof(proofOf({ ...json, object: encodeBase64url(sides) }))).toThrow('step 0 is on side 2');
    sides.set([0, 0, 0, 0, 0, 0, 0, 3, 0], 4);
    expect(() => parseSpvProof(proofOf({ ...json, object: encodeBase64url(sides) }))).toThrow(
      'proof.object: its steps do not lead from output 3 to a block',
    );
    const parsed = parseSpvProof(proof);
    const hash = decodeBase64url(root);
    expect(() => checkSpvProof(parsed, { chain: targetChain + 1, hash })).toThrow(
      'proof.chain: the proof is for chain 0',
    );
    expect(() => checkSpvProof(parsed, { chain: targetChain, hash: new Uint8Array(32) })).toThrow(
      `proof: leads to ${root}, not to the block AAAAAAA`,
    );
  });

  it('has no more steps than any way takes', () => {
    const parsed = parseSpvProof(proof);
    const steps = Array.from({ length: 201 }, () => parsed.steps[0]);
    expect(() => parseSpvProof(encodeSpvProof({ ...parsed, steps }))).toThrow('do not hold a path of 201 steps');
  });

  it('of any output of any block is right, whichever its position', () => {
    const outputs = fc.array(contents, { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(outputs, fc.nat(), blockHeaders, (all, random, block) => {
        const index = random % all.length;
        const [made, source] = proofWithin(all, index, block);
        expect(parseSpvProof(encodeSpvProof(made))).toEqual(made);
        expect(spvRoot(made)).toEqual(blockHash(source));
        const elsewhere = { ...made, position: made.position ^ (1n << BigInt(random % 64)) };
        expect(() => parseSpvProof(encodeSpvProof(elsewhere))).toThrow('do not lead from output');
      }),
    );
  });

  it('that is junk has no answer but a LedgerFormatError', () => {
    const almost = fc
      .tuple(fc.constantFrom(...Object.keys(json)), fc.jsonValue())
      .map(([key, value]) => proofOf({ ...json, [key]: value }));
    fc.assert(fc.property(fc.oneof(fc.string(), almost), (text) => void refusalOf(() => parseSpvProof(text))));
  });
});

/** @returns a proof that ends at the output's own block, and this block */
function proofWithin(outputs: readonly Uint8Array[], index: number, block: BlockHeader): [SpvProof, BlockHeader] {
  const [none, coinbase] = [new Uint8Array(), Uint8Array.of(1)];
  const content = { transactions: outputs.map(() => none), minerData: none, outputs, coinbase };
  const roots = rootsOf(content);
  const source = { ...block, payloadHash: roots.payloadHash };
  const steps = [
    ...merklePath(outputLeaves(content), index + 1),
    ...merklePath([roots.transactionsHash, roots.outputsHash], 1),
    ...merklePath(blockLeaves(source), HEADER_LEAF.payloadHash),
  ];
  return [{ targetChain: block.chain, output: outputs[index], position: BigInt(index + 1), steps }, source];
}

describe('a real cross-chain transfer', () => {
  const vector = proofs.find(({ subjectReqKey }) => subjectReqKey === 'hSBd5Sy2IEnq4dqzNHc5UkQJh2ubbz3Ea5nmu-VARoM')!;

  it('is proven by the output of its first step', () => {
    const { output } = parseSpvProof(vector.proof);
    expect(JSON.parse(Buffer.from(output).toString())).toEqual(transfer.transferCrosschainStep0);
  });

  it('takes coins from one chain and makes them on the other', () => {
    const account = '6d87fd6e5e47185cb421459d2888bddba7a6c0f2c4ae5246d5f38f993818bb89';
    const exact = (json: object) => transfersOf(parseExactJsonBytes(new TextEncoder().encode(JSON.stringify(json))));
    const amount = 91n * 10n ** 12n;
    expect(exact(transfer.transferCrosschainStep0)?.at(1)).toEqual({ sender: account, receiver: '', amount });
    expect(exact(transfer.continuationStep1)?.at(1)).toEqual({ sender: '', receiver: account, amount });
  });
});
