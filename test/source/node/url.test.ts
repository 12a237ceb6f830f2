import { describe, expect, it } from 'vitest';
import { nodeAddress } from '#pickaxe/source/node/url.js';

describe('nodeAddress', () => {
  it.each([
    ['http://127.0.0.1:1848', '/ledger/0.0/mainnet01'],
    ['http://127.0.0.1:1848/', '/ledger/0.0/mainnet01'],
    ['HTTPS://node.example', '/ledger/0.0/mainnet01'],
    ['http://[::1]:1848', '/ledger/0.0/mainnet01'],
    ['http://node.example/chainweb/0.0/testnet04', '/chainweb/0.0/testnet04'],
    ['http://node.example/behind/a/proxy//', '/behind/a/proxy'],
  ])('%s has its API under %s', (url, basePath) => {
    const address = nodeAddress(url, 'mainnet01');
    expect(address.basePath).toBe(basePath);
    expect(address.name).toBe(new URL(url).origin + basePath);
    expect(address.network).toBe(basePath.split('/').at(-1));
  });

  it.each(['node.example:1848', '127.0.0.1', '', 'ftp://node.example', 'http://', 'stratum+tcp://pool.example:3'])(
    'says what a node URL looks like instead of taking "%s"',
    (url) => {
      expect(() => nodeAddress(url, 'mainnet01')).toThrow(/not a node URL: write it like http:\/\//);
    },
  );

  it.each([
    'http://me:secret@node.example',
    'http://me@node.example',
    'http://:secret@node.example',
    'http://node.example?x=1',
    'http://node.example#x',
  ])('refuses what would be lost on the way: %s, without repeating a password', (url) => {
    expect(() => nodeAddress(url, 'mainnet01')).toThrow(/leave out/);
    expect(() => nodeAddress(url, 'mainnet01')).not.toThrow(/secret/);
  });
});
