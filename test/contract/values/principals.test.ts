import { describe, expect, it } from 'vitest';
import { ModuleName, QualifiedName } from '#pickaxe/contract/names.js';
import { isPrincipal, principalOf, typeOfPrincipal } from '#pickaxe/contract/values/principals.js';
import {
  CapabilityGuard,
  DefpactGuard,
  type Guard,
  KeysetGuard,
  KeysetRefGuard,
  ModuleGuard,
  UserGuard,
} from '#pickaxe/contract/values/values.js';

const key = '462e97a099987f55f6a2b52e7bfd52a36b4b5b470fed0816a3d9b26f9450ba69';
const otherKey = '563e97a099987f55f6a2b52e7bfd52a36b4b5b470fed0816a3d9b26f9450ba69';
const hash = 'DldRwCblQ7Loqy6wYJnaodHl30d3j3eH-qtFzfEv46g';
const module = new ModuleName('tester', 'ns');

describe('principals', () => {
  it.each<[string, Guard, string]>([
    ['one key', new KeysetGuard([key]), `k:${key}`],
    ['two keys', new KeysetGuard([otherKey, key]), 'w:Qs_fn617KN72N2WVoHORHr7tLFHG4hr3LXTSP1UanBY:keys-all'],
    ['a key of another form', new KeysetGuard(['bob']), 'w:h2g9qDcTdpEXDhqqOQKgf-FjnMcJ9GArDhty8Zdz9M0:keys-all'],
    [
      'a capability guard',
      new CapabilityGuard(new QualifiedName(new ModuleName('g'), 'C'), [1n]),
      'c:y58S24mXNX2E8lZXjS7uiO33gCfmxhma0a4olfKhWhk',
    ],
    ['a user guard without arguments', new UserGuard(new QualifiedName(module, 'f'), []), `u:ns.tester.f:${hash}`],
    ['a reference to a keyset', new KeysetRefGuard('ns.k'), 'r:ns.k'],
    ['a module guard', new ModuleGuard(module, 'n'), 'm:ns.tester:n'],
    ['a pact guard', new DefpactGuard(hash, 'n'), `p:${hash}:n`],
  ])('of %s', (_, guard, principal) => {
    expect(principalOf(guard)).toBe(principal);
    expect(typeOfPrincipal(principal)).toBe(principal.slice(0, 2));
    expect(isPrincipal(principal)).toBe(true);
  });

  it('of one key with another predicate are those of several keys', () => {
    expect(principalOf(new KeysetGuard([key], 'keys-any'))).toMatch(/^w:[\w-]{43}:keys-any$/);
  });

  it('have keys of either case, but are made only of lower case', () => {
    expect(typeOfPrincipal(`k:${key.toUpperCase()}`)).toBe('k:');
    expect(principalOf(new KeysetGuard([key.toUpperCase()]))).toMatch(/^w:/);
  });

  it('of a keyset’s name have any name', () => {
    expect(typeOfPrincipal('r:my keyset: <2>')).toBe('r:');
  });

  it.each([
    '',
    'k:',
    `k:${key}0`,
    `k:${key}:`,
    `x:${key}`,
    `K:${key}`,
    key,
    `w:${hash}`,
    `w:${hash}:`,
    `w:${hash}:a:b`,
    `w:${hash}=:keys-all`,
    'r:',
    `u::${hash}`,
    'm::n',
    'm:a.b.c:n',
    'm:a',
    `p:${hash}`,
    `c:${hash}:`,
    `c:${hash}A`,
  ])('do not look like %j', (text) => {
    expect(typeOfPrincipal(text)).toBe('');
    expect(isPrincipal(text)).toBe(false);
  });
});
