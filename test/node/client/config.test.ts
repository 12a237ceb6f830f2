/** What a node's report of its configuration says about the miner, mining and the network. */

import { describe, expect, it } from 'vitest';
import { checkConfig } from '#pickaxe/node/client/config.js';
import type { MinerIdentity } from '#pickaxe/node/client/miner-identity.js';

const MINER: MinerIdentity = { account: 'k:me', predicate: 'keys-all', publicKeys: ['b', 'a'] };
const LISTED = { account: 'k:me', predicate: 'keys-all', 'public-keys': ['a', 'b'] };
const report = (coordination: object, more: object = { chainwebVersion: 'mainnet01' }) => ({
  ...more,
  mining: { coordination },
});
const aboutOf = (...args: Parameters<typeof checkConfig>) =>
  checkConfig(...args).map(({ about, state }) => [about, state]);

describe('a miner', () => {
  const OK = [['mining', 'ok']];
  const UNLISTED = [['miner', 'warning']];

  it.each<[what: string, miners: object[] | undefined, expected: string[][]]>([
    ['no list', undefined, OK],
    ['an empty list', [], OK],
    ['its entry', [LISTED], OK],
    ['its entry behind another', [{ account: 'other' }, LISTED], OK],
    ['its account alone', [{ account: 'k:me' }], OK],
    ['its account and predicate', [{ account: 'k:me', predicate: 'keys-all' }], OK],
    ['its account and keys', [{ account: 'k:me', 'public-keys': ['b', 'a'] }], OK],
    ['another account', [{ ...LISTED, account: 'k:other' }], UNLISTED],
    ['another account alone', [{ account: 'k:other' }], UNLISTED],
    ['another predicate', [{ ...LISTED, predicate: 'keys-any' }], UNLISTED],
    ['another predicate without keys', [{ account: 'k:me', predicate: 'keys-any' }], UNLISTED],
    ['other keys', [{ ...LISTED, 'public-keys': ['a', 'c'] }], UNLISTED],
    ['fewer keys', [{ ...LISTED, 'public-keys': ['a'] }], UNLISTED],
    ['no keys', [{ ...LISTED, 'public-keys': [] }], UNLISTED],
  ])('finds %s at the node', (_, miners, expected) => {
    expect(aboutOf(report({ enabled: true, ...(miners && { miners }) }), 'mainnet01', MINER)).toEqual(expected);
    expect(aboutOf(report({ enabled: true, ...(miners && { miners }) }), 'mainnet01', undefined)).toEqual(OK);
  });

  it('is told the lines for the node once, with what concerns it most', () => {
    const entries = (coordination: object, network = 'mainnet01') =>
      checkConfig(report(coordination), network, MINER).map(({ about, nodeConfiguration }) => [
        about,
        nodeConfiguration !== undefined,
      ]);
    const miners = [{ account: 'k:other' }];
    expect(entries({ enabled: false })).toEqual([['mining', true]]);
    expect(entries({ enabled: false, miners: [LISTED] })).toEqual([['mining', true]]);
    expect(entries({ enabled: true, miners })).toEqual([['miner', true]]);
    expect(entries({ enabled: false, miners })).toEqual([
      ['mining', false],
      ['miner', true],
    ]);
    // A node of another network is not to be configured.
    expect(entries({ enabled: false, miners }, 'testnet04')).toEqual([
      ['network', false],
      ['mining', false],
      ['miner', false],
    ]);
  });
});

it.each([
  [{ chainwebVersion: 'mainnet01' }, 'mainnet01', 'mainnet01'],
  [{ ledgerVersion: 'mainnet01' }, 'mainnet01', 'mainnet01'],
  [{ ledgerVersion: 'mainnet01', chainwebVersion: 'other' }, 'mainnet01', 'mainnet01'],
  [{ chainwebVersion: 'mainnet01' }, undefined, 'mainnet01'],
  [{ chainwebVersion: 'mainnet01' }, '', 'mainnet01'],
  [{}, 'testnet04', 'testnet04'],
  [{}, '', 'some network'],
  [{}, undefined, 'some network'],
])('a node that reports %j serves what is asked for: %s', (reported, wanted, named) => {
  const what = `the node serves ${named} and its configuration allows mining`;
  expect(checkConfig(report({}, reported), wanted, undefined)).toEqual([{ about: 'mining', state: 'ok', what }]);
});

it.each([[null], [[]], [{ mining: 3 }], [{ chainwebVersion: 3 }]])('a report that is %j says nothing', (unknown) => {
  const what = 'the node reports its configuration in an unknown form';
  expect(checkConfig(unknown, 'mainnet01', MINER)).toEqual([{ about: 'mining', state: 'ok', what }]);
});
