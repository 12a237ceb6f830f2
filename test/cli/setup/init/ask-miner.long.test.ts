/** The questions of `pickaxe init` about the key and the account, on a mock node. */

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPublicKey } from '#pickaxe/protocol/ledger/command/command.js';
import { init, KEY, newFolder, settingsIn, startNode, untilKey } from './places.ts';

const NO_WORK = 'The node gives this miner no work. What would you like to change?';
const OTHER_KEYS = 'The account has other keys than this miner. What would you like to change?';
const TAKEABLE = 'Anybody can take a name that is not k: and a key';

/** An entry of a node’s configuration. */
const miner = (key: string) => ({ account: 'someone', predicate: 'keys-all' as const, 'public-keys': [key] });

describe('the key of pickaxe init', () => {
  it('may be a new one, whose secret half is in a new file that only its owner can read', async () => {
    const { url } = await startNode();
    const folder = newFolder();
    folder.write('taken.json', 'mine');
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.answers('Node URL', url);
    await person.answers('Another node');
    await person.answers('Network');
    await person.chooses('Key for the rewards', 1);
    await person.answers('File for the secret half', 'taken.json');
    await person.sees('taken.json already exists');
    await person.answers('File for the secret half (pickaxe-key.json)', ' my-key.json ');
    await person.answers('Account');
    expect(await person.ended).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const file = join(folder.path, 'my-key.json');
    const { publicKey, secretKey } = JSON.parse(readFileSync(file, 'utf8'));
    expect(isPublicKey(publicKey)).toBe(true);
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder.path, 'taken.json'), 'utf8')).toBe('mine');
    expect(person.text).toContain(`  public key ${publicKey}\n`);
    expect(person.text).toContain('The secret half is in my-key.json: only you can read it.');
    expect(person.text).not.toContain(secretKey);
    expect(settingsIn(folder)).toEqual({
      node: { urls: [url], network: 'development' },
      miner: { 'public-keys': [publicKey] },
    });
    // The account is free, and its name is the key's: there is nothing to say about it.
    expect(person.text).toContain(`asking for work as k:${publicKey} …`);
    expect(person.text).not.toMatch(/(ok|skipped|warning|fault) +account/);
    expect(person.text).not.toContain(TAKEABLE);
    expect(person.text).not.toContain('name of the rig');
    for (const well of ['connection', 'network', 'work', 'updates']) {
      expect(person.text).toMatch(new RegExp(`ok +${well}`));
    }
  });

  it('must be a public key, and may have a rig’s name after it', async () => {
    const { url } = await startNode();
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.answers('Node URL', url);
    await person.answers('Another node');
    await person.answers('Network');
    await person.chooses('Key for the rewards', 0);
    await person.isRefused('Public key', 'abc', 'Make one with: pickaxe keygen');
    await person.isRefused(
      'Public key',
      `${KEY.slice(1)}g`,
      'Not valid: its character 64, "g", is not a hex digit. A public',
    );
    await person.answers('Public key', ` k:${KEY.toUpperCase()}.attic `);
    await person.answers('Account', 'someone');
    await person.sees('name of the rig: attic');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder)).toMatchObject({
      miner: { 'public-keys': [KEY], account: 'someone' },
      rig: { name: 'attic' },
    });
  });
});

describe('the account of pickaxe init', () => {
  it('is refused if its name cannot be one, and may name the rig', async () => {
    const { url } = await startNode();
    const folder = newFolder();
    const person = init(folder);
    await untilKey(person, url);
    await person.isRefused('Account', 'a'.repeat(257), 'Give the name of the account, of 1 to 256 characters');
    await person.answers(`Account (k:${KEY})`, ` k:${KEY}.cellar `);
    await person.sees('name of the rig: cellar');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(person.text).not.toContain(TAKEABLE);
    expect(settingsIn(folder)).toEqual({
      node: { urls: [url], network: 'development' },
      miner: { 'public-keys': [KEY] },
      rig: { name: 'cellar' },
    });
  });

  it('can be changed as long as the node gives this miner no work', async () => {
    const allowed = miner(KEY);
    const { url } = await startNode({ network: 'testnet04', miners: [allowed] });
    const folder = newFolder();
    const person = init(folder, ['--user']);
    await untilKey(person, url);
    await person.answers('Account');
    await person.sees(/coordination:\s+enabled: true\s+miners:\s+- account: "k:/);
    await person.chooses(NO_WORK, 1);
    await person.answers('Account', 'someone');
    await person.sees(TAKEABLE);
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder, 'pickaxe/config.toml')).toEqual({
      node: { urls: [url], network: 'testnet04' },
      miner: { 'public-keys': [KEY], account: 'someone' },
    });
  });

  it('can be changed with the key, and stays when the node’s operator will add the miner', async () => {
    const other = 'c1'.repeat(32);
    const allowed = miner('77'.repeat(32));
    const { url } = await startNode({ miners: [allowed] });
    const folder = newFolder();
    const person = init(folder);
    await untilKey(person, url, `${KEY}.attic`);
    await person.answers('Account');
    await person.sees(`? ${NO_WORK}`);
    await person.sees(
      /nothing: the node’s operator will add this miner *\n.*the account *\n.*the key *\n.*the network *\n.*the node/,
    );
    person.types('\u001b[B\u001b[B\r');
    await person.chooses('Key for the rewards', 0);
    await person.answers('Public key', other);
    await person.answers('Account');
    await person.chooses(NO_WORK, 0);
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(settingsIn(folder)).toEqual({
      node: { urls: [url], network: 'development' },
      miner: { 'public-keys': [other] },
    });
  });

  it('is asked again if it has other keys on some chains or on all, unless that is wanted', async () => {
    const taken = { account: 'shared', keys: ['cd'.repeat(32)] };
    const { url } = await startNode({
      accounts: [
        { ...taken, chains: [1, 3] },
        { ...taken, account: 'whole' },
      ],
    });
    const folder = newFolder();
    const person = init(folder);
    await untilKey(person, url);
    await person.answers('Account', 'whole');
    await person.sees(
      /fault +account +whole exists with other keys or another predicate on chains 0, 1, 2, 3:\s+\{.*cdcd/,
    );
    await person.chooses(OTHER_KEYS, 1);
    await person.answers('Account', 'shared');
    await person.sees(/warning +account +shared exists with other keys or another predicate on chains 1, 3:/);
    await person.sees(`? ${OTHER_KEYS}`);
    await person.sees('nothing: go on with this account and this key');
    person.types('\r');
    expect(await person.ended).toMatchObject({ code: 0 });
    // The node's operator could not help.
    expect(person.text).not.toContain('coordination:');
    expect(settingsIn(folder).miner).toEqual({ 'public-keys': [KEY], account: 'shared' });
  });

  it('is taken as it is when the node cannot tell whose it is', async () => {
    const { node, url } = await startNode();
    node.faults = [{ endpoint: 'local', kind: 'unavailable' }];
    const folder = newFolder();
    const person = init(folder);
    await untilKey(person, url);
    await person.answers('Account', 'shared');
    await person.sees(/skipped +account +shared was not checked on chains 0, 1, 2, 3/);
    expect(await person.ended).toMatchObject({ code: 0 });
    expect(existsSync(join(folder.path, 'pickaxe.toml'))).toBe(true);
  });
});

it('pickaxe init offers to change the network and the node, too', async () => {
  const { url } = await startNode({ network: 'testnet04' });
  const { url: other } = await startNode({ network: 'mainnet01' });
  const folder = newFolder();
  const person = init(folder);
  await person.chooses('Mine on', 0);
  await person.answers('Node URL', url);
  await person.answers('Another node');
  await person.answers('Network (testnet04)', 'testnet05');
  await person.chooses('Key for the rewards', 0);
  await person.answers('Public key', KEY);
  await person.answers('Account');
  await person.chooses(NO_WORK, 3);
  await person.answers('Network (testnet05)', 'testnet06');
  await person.chooses(NO_WORK, 4);
  await person.answers('Node URL', other);
  await person.answers('Another node');
  await person.answers('Network (mainnet01)');
  expect(await person.ended).toMatchObject({ code: 0 });
  // An entry for this miner would not help at a node of another network.
  expect(person.text).not.toContain('coordination:');
  expect(settingsIn(folder)).toEqual({
    node: { urls: [other], network: 'mainnet01' },
    miner: { 'public-keys': [KEY] },
  });
});

it('pickaxe init asks for no network if each node’s URL has one in its path', async () => {
  const allowed = miner(KEY);
  const { url } = await startNode({ miners: [allowed] });
  const withPath = `${url}/chainweb/0.0/development`;
  const folder = newFolder();
  const person = init(folder);
  await person.chooses('Mine on', 0);
  await person.answers('Node URL', withPath);
  await person.answers('Another node');
  await person.chooses('Key for the rewards', 0);
  await person.answers('Public key', KEY);
  await person.answers('Account');
  await person.sees(/the key *\n.*the node/);
  expect(person.text).not.toContain('the network');
  person.types('\u001b[B\r');
  await person.answers('Account', 'someone');
  expect(await person.ended).toMatchObject({ code: 0 });
  expect(settingsIn(folder).node).toEqual({ urls: [withPath] });
});
