import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { explainMiner, isOnCurve, minerIdentity } from '#pickaxe/node/client/miner-identity.js';

describe('a public key', () => {
  /** RFC 8032, 7.1: the public keys of the tests 1, 2, 3, 1024 and SHA(abc). */
  it.each([
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    '278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e',
    'ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf',
  ])('is a point of the curve: %s', (key) => {
    expect(isOnCurve(key)).toBe(true);
    expect(isOnCurve(key.toUpperCase())).toBe(true);
  });

  it('is one whenever it was made as such', () => {
    for (let i = 0; i < 50; i++) {
      const { publicKey } = generateKeyPairSync('ed25519');
      const key = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
      expect(isOnCurve(key), key).toBe(true);
    }
  });

  const [zeros, ones] = ['00', 'ff'].map((byte) => byte.repeat(30));
  it.each([
    ['y = 1, where x is 0', `0100${zeros}`, true],
    ['y = 1, with the sign of an x that is 0', `0100${zeros.slice(2)}80`, false],
    ['y = p − 1, where x is 0', `ec${ones}7f`, true],
    ['y = p, which is 0 in another spelling', `ed${ones}7f`, false],
    ['y = p + 1', `ee${ones}7f`, false],
    ['y = 2, which no point has', `0200${zeros}`, false],
    ['y = 2 with the other sign', `0200${zeros.slice(2)}80`, false],
    ['y = 3', `0300${zeros}`, true],
  ])('%s', (_, key, is) => expect(isOnCurve(key)).toBe(is));

  it('cannot be made of about half of all other bytes', () => {
    const keys = Array.from({ length: 256 }, (_, i) => `${i.toString(16).padStart(2, '0')}42`.repeat(16));
    const points = keys.filter(isOnCurve).length;
    expect(points).toBeGreaterThan(90);
    expect(points).toBeLessThan(166);
  });
});

it('a miner is known by the account of its first key, if no other one is given', () => {
  const [one, two] = ['a', 'b'].map((digit) => digit.repeat(64));
  const predicate = 'keys-any';
  expect(minerIdentity({ predicate, publicKeys: [] })).toBeUndefined();
  expect(minerIdentity({ predicate, account: 'me' })).toBeUndefined();
  expect(minerIdentity({ predicate, publicKeys: [one, two] })).toEqual({
    account: `k:${one}`,
    predicate,
    publicKeys: [one, two],
  });
  expect(minerIdentity({ predicate, account: 'me', publicKeys: [one] })?.account).toBe('me');
});

it.each([
  ['a'.repeat(64), 'The account is a bare key. Most accounts begin with "k:"'],
  [`k:${'b'.repeat(64)}`, 'but the key behind that is not the first public key'],
  [`k:${'a'.repeat(64)}`, '"k:" followed by a key and the bare key are two different accounts'],
  ['me', '"k:" followed by a key and the bare key are two different accounts'],
])('a node that does not know the account %s: what may be wrong', (account, says) => {
  const text = explainMiner({ account, predicate: 'keys-all', publicKeys: ['a'.repeat(64)] });
  expect(text).toContain(`The account (${account}), the predicate (keys-all)`);
  expect(text).toContain(says);
});
