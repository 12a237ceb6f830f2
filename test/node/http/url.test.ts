import { describe, expect, it } from 'vitest';
import { basePathsOf, hidePath, nodeAddress, numberRepeated, shownUrl } from '#pickaxe/node/http/url.js';

describe('nodeAddress', () => {
  it.each([
    ['http://127.0.0.1:1848', ['/ledger/0.0/mainnet01', '/chainweb/0.0/mainnet01']],
    ['http://127.0.0.1:1848/', ['/ledger/0.0/mainnet01', '/chainweb/0.0/mainnet01']],
    ['HTTPS://node.example', ['/ledger/0.0/mainnet01', '/chainweb/0.0/mainnet01']],
    ['http://[::1]:1848', ['/ledger/0.0/mainnet01', '/chainweb/0.0/mainnet01']],
    ['http://node.example/chainweb/0.0/testnet04', ['/chainweb/0.0/testnet04']],
    ['http://node.example/behind/a/proxy//', ['/behind/a/proxy']],
    ['https://node.example/KEY/chainweb/0.0/testnet04', ['/KEY/chainweb/0.0/testnet04']],
  ])('%s has its API under %s', (url, basePaths) => {
    const address = nodeAddress(url, 'mainnet01');
    expect(basePathsOf(address)).toEqual(basePaths);
    expect(address.origin).toBe(new URL(url).origin);
    expect(address.network).toBe(basePaths[0].endsWith('testnet04') ? 'testnet04' : 'mainnet01');
  });

  it.each(['node.example:1848', '127.0.0.1', '', 'ftp://node.example', 'http://', 'stratum+tcp://pool.example:3'])(
    'says what a node URL looks like when it refuses "%s"',
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
  ])('refuses parts that would be lost: %s, without repeating a password', (url) => {
    expect(() => nodeAddress(url, 'mainnet01')).toThrow(/without user, password/);
    expect(() => nodeAddress(url, 'mainnet01')).not.toThrow(/secret/);
  });
});

describe('in a path, only the part of the API is shown', () => {
  it.each([
    ['http://127.0.0.1:1848', 'http://127.0.0.1:1848'],
    ['http://node.example/chainweb/0.0/testnet04', 'http://node.example/chainweb/0.0/testnet04'],
    ['https://node.example/KEY/chainweb/0.0/testnet04/', 'https://node.example/…/chainweb/0.0/testnet04'],
    ['https://node.example/v1/KEY/ledger/0.0/mainnet01', 'https://node.example/…/ledger/0.0/mainnet01'],
    ['https://node.example/ledger/0.0/KEY/x/ledger/0.0/mainnet01', 'https://node.example/…/ledger/0.0/mainnet01'],
    ['https://node.example/KEY', 'https://node.example/…'],
    ['https://node.example/chainweb/0.0/mainnet01/KEY', 'https://node.example/…'],
    ['https://node.example/chainweb/0.0KEY/mainnet01', 'https://node.example/…'],
  ])('%s is shown as %s', (url, name) => {
    const address = nodeAddress(url, 'mainnet01');
    expect(address.name).toBe(name);
    const { origin, givenPath = '' } = address;
    expect(hidePath(`Cannot GET ${givenPath}/mining/work`, address)).toBe(
      `Cannot GET ${name.slice(origin.length)}/mining/work`,
    );
  });

  it.each([
    ['HTTP://Node.Example:80', 'HTTP://Node.Example:80'],
    ['http://node.example/chainweb/0.0/testnet04/', 'http://node.example/chainweb/0.0/testnet04/'],
    ['https://node.example/KEY/chainweb/0.0/testnet04', 'https://node.example/…/chainweb/0.0/testnet04'],
    ['https://node.example/KEY/', 'https://node.example/…'],
  ])('the setting %s is shown as %s', (url, shown) => {
    expect(shownUrl(url)).toBe(shown);
  });

  it('URLs that differ only in what is not shown are numbered', () => {
    expect(numberRepeated(['a', 'b', 'a', 'a', 'b'])).toEqual(['a', 'b', 'a (2)', 'a (3)', 'b (2)']);
  });
});
