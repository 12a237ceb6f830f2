/** Which node commands ask where only a file that was found in the current folder names one, and how they say so. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { folder, inNewFolders, pickaxe } from '../in-folder.ts';

inNewFolders();

const SECRET = '5a'.repeat(32);
const { publicKey } = new KeyPair(SECRET);
/** Nothing listens at this address. */
const NODE = 'http://127.0.0.1:9';
const FOUND = `[node]\nurls = ["${NODE}"]\nnetwork = "mainnet01"\n`;

function keyFile(): string {
  const file = join(folder.path, 'key.json');
  writeFileSync(file, JSON.stringify({ publicKey, secretKey: SECRET }), { mode: 0o600 });
  return file;
}

/** Each of these commands sends something that is signed. */
const MOVING: readonly (readonly [string, () => string[]])[] = [
  [
    'tx transfer',
    () => ['--to', `k:${publicKey}`, '--amount', '1.0', '--chain', '0', '--to-chain', '1', '--key-file', keyFile()],
  ],
  ['tx transfer', () => ['--resume', '--key-file', keyFile()]],
  ['sweep', () => ['--to-chain', '0', '--key-file', keyFile()]],
  ['sweep', () => ['--resume', '--key-file', keyFile()]],
  ['tx send', () => ['transfer.json']],
  ['tx private', () => ['transfer.json']],
];

describe('a command that moves coins', () => {
  it.each(MOVING)('asks no node that only a found file names: %s', async (name, options) => {
    folder.write('pickaxe.toml', FOUND);
    const yes = name === 'tx private' ? [] : ['--yes'];
    const { code, stdout, stderr } = await pickaxe([...name.split(' '), ...options(), ...yes]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr.trim()).toBe(
      'error: pickaxe.toml:2:1: node.urls cannot be set by a file that was only found here for a command that moves ' +
        'coins, because whoever wrote it would choose the node that reports your payment. Name your node with ' +
        '--node URL, give the file with --config pickaxe.toml, or move the setting to your user file.',
    );
  });

  it('takes no P2P port from it either, which would be that of the user’s own node', async () => {
    folder.write('pickaxe.toml', 'ledger.peer-url = "https://127.0.0.1:9"\n');
    const options = ['--to-chain', '0', '--key-file', keyFile()];
    const alone = await pickaxe(['sweep', ...options]);
    expect(alone.stderr).toContain('ledger.peer-url cannot be set by a file that was only found here for a command');
    const beside = await pickaxe(['sweep', ...options, '--node', NODE, '--network', 'mainnet01']);
    expect(beside.stderr).toContain(`the node is ${NODE} (--node)`);
    expect(beside.stderr).not.toContain('peer-url');
  });

  it.each([
    ['a flag', ['--node', NODE, '--network', 'mainnet01'], {}, '--node'],
    ['the named file', ['--config', 'pickaxe.toml'], {}, 'pickaxe.toml:2'],
    ['a variable', [], { PICKAXE_NODE: NODE }, 'PICKAXE_NODE'],
    ['a variable that names the file', [], { PICKAXE_CONFIG: 'pickaxe.toml' }, 'pickaxe.toml:2'],
  ] as const)('names the node and the place that named it: %s', async (_, flags, env, where) => {
    folder.write('pickaxe.toml', FOUND);
    for (const command of [
      ['sweep', '--to-chain', '0'],
      ['tx', 'transfer', '--to', 'bob', '--amount', '1', '--chain', '0'],
    ]) {
      const { code, stderr } = await pickaxe([...command, '--key-file', keyFile(), ...flags], { ...env });
      expect(code).toBe(1);
      expect(stderr).toContain(`the node is ${NODE} (${where})`);
    }
  });

  it('takes the node of the user’s own file, beside which a found file must not name another', async () => {
    folder.write('pickaxe/config.toml', FOUND);
    const sweep = ['sweep', '--to-chain', '0', '--key-file', keyFile()];
    expect((await pickaxe(sweep)).stderr).toMatch(/the node is http:\/\/127\.0\.0\.1:9 \(.*config\.toml:2\)/);
    folder.write('pickaxe.toml', FOUND);
    const { code, stderr } = await pickaxe(sweep);
    expect([code, stderr]).toEqual([2, expect.stringContaining('only found here')]);
  });
});

describe('a command that only shows something', () => {
  it.each([
    ['balance', `k:${publicKey}`],
    ['ledger', 'cut'],
    ['nodes'],
    ['tx', 'poll', 'A'.repeat(43), '--chain', '0', '--once'],
    ['tx', 'spv', 'A'.repeat(43), '--chain', '0', '--target-chain', '1', '--once'],
  ])('says that the node is of a found file: %s %s', async (...command) => {
    folder.write('pickaxe.toml', FOUND);
    const { stderr } = await pickaxe(command, { XDG_STATE_HOME: folder.path });
    expect(stderr).toContain(
      `warning: the node is ${NODE}, which pickaxe.toml:2 names: that file was only found in this folder, and whoever wrote it chooses what you see`,
    );
    const named = await pickaxe([...command, '--config', 'pickaxe.toml'], { XDG_STATE_HOME: folder.path });
    expect(named.stderr).toContain(`the node is ${NODE} (pickaxe.toml:2)`);
    const given = await pickaxe([...command, '--node', NODE], { XDG_STATE_HOME: folder.path });
    expect(given.stderr).not.toContain('the node is');
  });
});
