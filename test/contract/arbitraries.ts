/** Random values for property tests of the contract language. */

import fc from 'fast-check';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { Decimal } from '#pickaxe/contract/values/decimal.js';
import { Time } from '#pickaxe/contract/values/time.js';
import {
  CapabilityGuard,
  DefpactGuard,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  ModuleRef,
  type Storable,
  UserGuard,
} from '#pickaxe/contract/values/values.js';

export const smallIntegers = fc.bigInt({ min: -(10n ** 12n), max: 10n ** 12n });
const integers = fc.oneof(smallIntegers, fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }));

export const decimals = fc
  .tuple(integers, fc.nat({ max: 80 }))
  .map(([mantissa, places]) => new Decimal(mantissa, places));

/** Times within some hundred thousand years. */
export const times = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((micros) => new Time(micros));

const texts = fc.string({ unit: 'grapheme', maxLength: 12 });
const identifiers = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
const moduleNames = fc
  .tuple(identifiers, fc.option(identifiers, { nil: undefined }))
  .map(([name, namespace]) => new ModuleName(name, namespace));
const qualifiedNames = fc.tuple(moduleNames, identifiers).map(([module, member]) => new QualifiedName(module, member));

export const storables: fc.Arbitrary<Storable> = fc.letrec<{ value: Storable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    integers,
    decimals,
    times,
    texts,
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(texts, tie('value')), { maxLength: 4 }).map((entries): Storable => new Map(entries)),
    fc.tuple(fc.array(texts, { maxLength: 3 }), identifiers).map(([keys, pred]) => new KeysetGuard(keys, pred)),
    moduleNames.map((name) => new KeysetRefGuard(name.text)),
    fc.tuple(qualifiedNames, fc.array(tie('value'), { maxLength: 2 })).map(([fun, args]) => new UserGuard(fun, args)),
    fc
      .tuple(qualifiedNames, fc.array(tie('value'), { maxLength: 2 }), fc.option(identifiers, { nil: undefined }))
      .map(([name, args, pactId]) => new CapabilityGuard(name, args, pactId)),
    fc.tuple(moduleNames, identifiers).map(([module, name]) => new ModuleGuard(module, name)),
    fc.tuple(identifiers, identifiers).map(([pactId, name]) => new DefpactGuard(pactId, name)),
    fc
      .tuple(moduleNames, fc.option(fc.array(moduleNames, { maxLength: 2 }), { nil: undefined }))
      .map(([name, interfaces]) => new ModuleRef(name, interfaces)),
  ),
})).value;

/** Values that have a literal form, so no times, guards or references. Their texts need no escapes. */
export const literals: fc.Arbitrary<Storable> = fc.letrec<{ value: Storable }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    integers,
    decimals,
    fc.stringMatching(/^[ a-z(){}[\],:']*$/),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(identifiers, tie('value')), { maxLength: 4 }).map((entries): Storable => new Map(entries)),
  ),
})).value;
