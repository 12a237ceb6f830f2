import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { asGiven, disguiseHashes } from '#pickaxe/cli/usage/options.js';
import { pickaxe } from '../in-process.ts';

/** Hashes of real blocks and commands can begin like this: with the short form of --config, and like a long option. */
const HASHES = [`-c${'Q'.repeat(41)}`, `--${'x'.repeat(40)}w`];
const NODE = ['--node', 'http://127.0.0.1:9', '--network', 'mainnet01'];

describe('a hash that begins with a hyphen', () => {
  const program = new Command();
  program.command('list').option('-u, --upper <hash>', '').option('--json', '');

  it.each(HASHES)('%s is no option, and comes through as it was given', (hash) => {
    const argv = ['list', hash, '--json', hash, '--upper', hash, '-u', hash, '--', hash];
    const disguised = disguiseHashes(argv, program);
    const plus = `+${hash.slice(1)}`;
    expect(disguised).toEqual(['list', plus, '--json', plus, '--upper', hash, '-u', hash, '--', hash]);
    expect(disguised.map(asGiven)).toEqual(argv);
  });

  it('leaves all else alone', () => {
    const argv = [
      'list',
      '-c',
      '-',
      '--json',
      `-${'Q'.repeat(41)}`,
      `-${'Q'.repeat(43)}`,
      `-${'x'.repeat(42)}`,
      `-${'.'.repeat(42)}`,
    ];
    expect(disguiseHashes(argv, program)).toEqual(argv);
    expect(argv.map(asGiven)).toEqual(argv);
  });

  it.each(HASHES)('%s is taken by the commands that want one', async (hash) => {
    const commands = [
      ['tx', 'poll', hash, '--chain', '0', '--once', ...NODE],
      ['tx', 'spv', '--chain', '0', '--target-chain', '1', '--once', ...NODE, hash],
      ['ledger', 'payload', '0', hash, ...NODE],
      ['ledger', 'branch', '0', '--upper', hash, ...NODE],
    ];
    for (const { code, stderr } of await Promise.all(commands.map((args) => pickaxe(...args)))) {
      expect(stderr).toContain('cannot reach http://127.0.0.1:9');
      expect(code).toBe(1);
    }
    const { code, stderr } = await pickaxe('tx', 'sign', hash, '/gone.json');
    expect(stderr).toContain('/gone.json');
    expect(code).toBe(2);
  });
});
