import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { checkConfig } from '#pickaxe/node/client/config.js';
import { nodeConfigurationFor } from '#pickaxe/node/client/miner-identity.js';
import { miner } from '../../miner/source/node/node.ts';

const listed = { account: miner.account, predicate: 'keys-all', 'public-keys': [...miner.publicKeys] };
const report = (coordination: object) => ({ ledgerVersion: 'mainnet01', mining: { coordination } });

describe('checkConfig', () => {
  it('has no warning when the node lists the miner, or anyone may mine', () => {
    for (const miners of [[listed], []]) {
      const notes = checkConfig(report({ enabled: true, miners }), 'mainnet01', miner);
      expect(notes).toEqual([{ about: 'mining', state: 'ok', what: expect.stringContaining('allows mining') }]);
    }
  });

  it('warns of a disabled API, another network and a miner that is not listed', () => {
    const bare = { ...listed, account: miner.account.slice(2) };
    const notes = checkConfig(report({ enabled: false, miners: [bare] }), 'testnet04', miner);
    expect(notes.map(({ state }) => state)).toEqual(['warning', 'warning', 'warning']);
    const text = notes.map(({ what }) => what).join('\n');
    expect(text).toContain('mainnet01, not testnet04');
    expect(text).toContain('mining.coordination.enabled');
    expect(text).toContain('"k:"');
  });

  it('has what the node’s configuration must have, once, and not at a node of another network', () => {
    const bare = { ...listed, account: miner.account.slice(2) };
    const entries = (coordination: object, network: string, who: typeof miner | undefined = miner) =>
      checkConfig(report(coordination), network, who).map(({ about, nodeConfiguration }) => [
        about,
        !!nodeConfiguration,
      ]);
    expect(entries({ enabled: false }, 'mainnet01')).toEqual([['mining', true]]);
    expect(entries({ enabled: true, miners: [bare] }, 'mainnet01')).toEqual([['miner', true]]);
    expect(entries({ enabled: false, miners: [bare] }, 'mainnet01')).toEqual([
      ['mining', false],
      ['miner', true],
    ]);
    expect(entries({ enabled: true, miners: [bare] }, 'testnet04')).toEqual([
      ['network', false],
      ['miner', false],
    ]);
    expect(checkConfig(report({ enabled: false }), 'mainnet01', undefined)[0]).not.toHaveProperty('nodeConfiguration');
  });

  it.each([
    miner,
    {
      account: 'a "quoted": # name, \\ and \'more\'',
      predicate: 'keys-any',
      publicKeys: ['ab'.repeat(32), 'cd'.repeat(32)],
    },
  ] as const)('makes lines that a node reads as this miner: %j', (who) => {
    const read = parse(nodeConfigurationFor(who).join('\n'));
    const { account, predicate, publicKeys } = who;
    const miners = [{ account, predicate, 'public-keys': publicKeys }];
    expect(read).toEqual({ mining: { coordination: { enabled: true, miners } } });
    expect(checkConfig({ ledgerVersion: 'mainnet01', ...read }, 'mainnet01', who)).toMatchObject([{ state: 'ok' }]);
  });

  it('compares keys and predicate, whatever the order of the keys', () => {
    const two = { ...miner, publicKeys: ['a', 'b'], predicate: 'keys-any' } as const;
    const miners = [{ account: miner.account, predicate: 'keys-any', 'public-keys': ['b', 'a'] }];
    expect(checkConfig(report({ miners }), 'mainnet01', two)[0].state).toBe('ok');
    expect(checkConfig(report({ miners }), 'mainnet01', { ...two, predicate: 'keys-all' })[0].state).toBe('warning');
  });

  it('reads chainwebVersion, which live nodes have', () => {
    expect(checkConfig({ chainwebVersion: 'testnet04' }, 'mainnet01', miner)[0].what).toContain('testnet04');
  });

  it.each([null, 7, 'text', [], { mining: 3 }, { mining: { coordination: { miners: [1] } } }, {}])(
    'accepts any report: %j',
    (odd) => {
      const notes = checkConfig(odd, 'mainnet01', miner);
      expect(notes).toHaveLength(1);
      expect(notes[0].state).toBe('ok');
    },
  );
});
