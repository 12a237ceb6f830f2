/** Natives for Poseidon, a hash of field elements that is cheap to prove, with circomlib's parameters for BN254. */

import { grainGenConstants, poseidon } from '@noble/curves/abstract/poseidon.js';
import { bn254 } from '@noble/curves/bn254.js';
import { chargeOfPoseidon } from '../gas/costs.ts';
import { WRITTEN_ITEM } from '../gas/natives5.ts';
import { type Call, type Native, strict } from '../runtime/native.ts';
import type { Value } from '../values/values.ts';

const { Fr } = bn254.fields;

const ROUNDS_FULL = 8;
/** By the number of inputs, from 1: the number of partial rounds. Their number is the maximum number of inputs. */
const ROUNDS_PARTIAL = [56, 57, 56, 60, 60, 63, 64, 63] as const;
/** Evaluation steps of a hash. */
const STEPS = 1_000;

type Permutation = ReturnType<typeof poseidon>;
/** By the number of inputs. The constants of one number take about 40 ms to compute. */
const permutations = new Map<number, Permutation>();

function permutationOf(inputs: number): Permutation {
  let made = permutations.get(inputs);
  if (!made) {
    const roundsPartial = ROUNDS_PARTIAL[inputs - 1];
    const options = { Fp: Fr, t: inputs + 1, roundsFull: ROUNDS_FULL, roundsPartial, sboxPower: 5 };
    const { roundConstants, mds } = grainGenConstants({ ...options, isSboxInverse: false });
    made = poseidon({ ...options, roundConstants, mds });
    permutations.set(inputs, made);
  }
  return made;
}

function hashPoseidon(values: readonly Value[], { evaluator }: Call): bigint | undefined {
  const inputs = values.filter((value) => typeof value === 'bigint');
  if (inputs.length !== values.length || inputs.length === 0 || inputs.length > ROUNDS_PARTIAL.length) return undefined;
  evaluator.gas.charge5('list', () => WRITTEN_ITEM * inputs.length);
  evaluator.gas.cryptography('poseidon-hash-hack-a-chain', chargeOfPoseidon(inputs.length, evaluator.dialect));
  evaluator.spend(STEPS);
  const [hash] = permutationOf(inputs.length)([0n, ...inputs.map((input) => Fr.create(input))]);
  return hash;
}

const NAMES = ['i', 'j', 'k', 'l', 'm', 'n', 'o', 'p'].map((name) => `${name}:integer`);
const ALL = `${NAMES.join(' ')} -> integer`;

export const POSEIDON: readonly Native[] = [
  { ...strict('poseidon-hash-hack-a-chain', ALL, hashPoseidon), takesList5: true },
  {
    ...strict(
      'hash-poseidon',
      NAMES.map((_, i) => `${NAMES.slice(0, i + 1).join(' ')} -> integer`),
      hashPoseidon,
    ),
    takesList5: true,
  },
];
