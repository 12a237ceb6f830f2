/** The values of flags that are no settings, and the flags of other miners. */

import { Command, InvalidArgumentError } from 'commander';
import { describe, expect, it } from 'vitest';
import {
  asGiven,
  blockStates,
  chainNumber,
  collect,
  disguiseHashes,
  httpAddresses,
  positiveInteger,
  timeOf,
  timeUpTo,
  wholeNumber,
} from '#pickaxe/cli/usage/options.js';
import { pickaxe } from '../in-process.ts';

describe('numbers', () => {
  it.each<[string, (text: string) => number, string, number | undefined]>([
    ['a positive integer', positiveInteger(10), '1', 1],
    ['a positive integer', positiveInteger(10), '10', 10],
    ['a positive integer', positiveInteger(10), '0', undefined],
    ['a positive integer', positiveInteger(10), '11', undefined],
    ['a positive integer', positiveInteger(10), '1.5', undefined],
    ['a positive integer', positiveInteger(10), '1e0', undefined],
    ['a positive integer', positiveInteger(10), '', undefined],
    ['a height', wholeNumber, '0', 0],
    ['a height', wholeNumber, `${Number.MAX_SAFE_INTEGER}`, Number.MAX_SAFE_INTEGER],
    ['a height', wholeNumber, '9007199254740993', undefined],
    ['a height', wholeNumber, '-1', undefined],
    ['a chain', chainNumber, '4294967295', 2 ** 32 - 1],
    ['a chain', chainNumber, '4294967296', undefined],
    ['a time', timeOf, '90', 90],
    ['a time', timeOf, '2m', 120],
    ['a time', timeOf, 'soon', undefined],
    ['a time of up to a minute', timeUpTo(60, 'too long'), '1m', 60],
    ['a time of up to a minute', timeUpTo(60, 'too long'), '61', undefined],
    ['a time of up to a minute', timeUpTo(60, 'too long'), '0.001', 0.001],
    ['a time of up to a minute', timeUpTo(60, 'too long'), '0', undefined],
  ])('%s: %s', (_, parse, text, value) => {
    if (value === undefined) expect(() => parse(text)).toThrow(InvalidArgumentError);
    else expect(parse(text)).toBe(value);
  });

  it('that are refused have a hint', () => {
    expect(() => timeUpTo(60, 'too long')('61')).toThrow('too long');
  });
});

it('states of blocks are separated by commas', () => {
  expect(blockStates('won, orphaned')).toEqual(['won', 'orphaned']);
  expect(() => blockStates('won,x')).toThrow(/^Give some of: .*won.*, .*\.$/);
});

it('addresses and texts are collected', () => {
  const first = httpAddresses('8080', undefined);
  expect(first).toHaveLength(1);
  expect(httpAddresses('rig2:8081', first)).toEqual([...first, { host: 'rig2', port: 8081 }]);
  expect(() => httpAddresses('a b', undefined)).toThrow('Give a port or a host and a port, like 8080');
  expect(collect('b', collect('a', undefined))).toEqual(['a', 'b']);
});

describe('hashes that begin with a hyphen', () => {
  const hash = `-${'a'.repeat(41)}A`;
  const program = new Command();
  program.command('find').option('-k, --key <key>').option('--flag').option('--long <text>');

  it('are disguised, so that commander does not take them for options', () => {
    expect(disguiseHashes(['find', hash], program)).toEqual(['find', `+${hash.slice(1)}`]);
    expect(asGiven(`+${hash.slice(1)}`)).toBe(hash);
    expect(disguiseHashes(['find', '--flag', hash], program)[2]).toBe(`+${hash.slice(1)}`);
    expect(disguiseHashes([hash], program)).toEqual([`+${hash.slice(1)}`]);
  });

  it.each([
    ['the value of an option', ['find', '--key', hash]],
    ['the value of a short option', ['find', '-k', hash]],
    ['after two hyphens', ['find', '--', hash]],
    ['an option', ['find', '--flag']],
    ['too short', ['find', hash.slice(1)]],
    ['no hash: its last character has bits that no hash has', ['find', `${hash.slice(0, -1)}B`]],
  ])('stay as they are as %s', (_, argv) => {
    expect(disguiseHashes(argv, program)).toEqual(argv);
  });

  it('are recognized only in their own length', () => {
    for (const text of [`+${'a'.repeat(41)}`, `+${'a'.repeat(43)}`, 'plain']) expect(asGiven(text)).toBe(text);
  });
});

describe('the line of another miner', () => {
  const mine = (...args: string[]) => pickaxe('mine', '--dry-run', ...args);

  it.each(['kadena', 'KDA', 'blake2s', 'blake2s-kadena', 'blake2s_kda'])('may name the algorithm %s', async (name) => {
    const { stderr } = await mine('-a', name, '-u', 'x');
    expect(stderr).not.toContain('Leave it out');
  });

  it('may name no other algorithm', async () => {
    const { code, stderr } = await mine('-a', 'sha256');
    expect(code).toBe(2);
    expect(stderr).toContain('Leave it out: pickaxe mines blake2s and nothing else.');
  });

  it('is told what -u means, where that is no key', async () => {
    const { code, stderr } = await mine('-o', 'http://127.0.0.1:9', '-u', 'k:nothing');
    expect(code).toBe(2);
    expect(stderr).toContain('On a node -u is a public key. On a pool, whose URL begins with stratum+tcp://');
    const other = await mine('-o', 'http://127.0.0.1:9', '--public-key', 'k:nothing');
    expect(other.code).toBe(2);
    expect(other.stderr).not.toContain('On a node -u is');
  });
});
