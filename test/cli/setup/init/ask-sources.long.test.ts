/** The questions of `pickaxe init` about nodes and pools. */

import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import { selfSigned } from '../../../node/client/certificates.ts';
import { TlsFront } from '../../../node/client/tls-front.ts';
import type { Person } from '../../person.ts';
import { init, KEY, NO_NODE, NO_POOL, newFolder, settingsIn, startNode, startPool } from './places.ts';

const { fingerprint256, raw } = new X509Certificate(selfSigned.cert);

/** Answers the questions after those about nodes. */
async function finish(person: Person): Promise<void> {
  await person.chooses('Key for the rewards', 0);
  await person.answers('Public key', KEY);
  await person.answers('Account');
  expect(await person.ended).toMatchObject({ code: 0 });
}

/** Answers them, and changes nothing about a node that gives no work. */
async function refuseToChange(person: Person): Promise<void> {
  await person.chooses('Key for the rewards', 0);
  await person.answers('Public key', KEY);
  await person.answers('Account');
  await person.chooses('The node gives this miner no work', 0);
  expect(await person.ended).toMatchObject({ code: 0 });
}

describe('the nodes of pickaxe init', () => {
  it('are asked at once, and one that does not answer is used only if that is wanted', async () => {
    const { url } = await startNode({ network: 'testnet04' });
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.isRefused('Node URL', 'my node', 'it has a space in it');
    await person.answers('Node URL (http://127.0.0.1:1848)', ` ${NO_NODE} `);
    await person.sees(`  asking ${NO_NODE} …\n`);
    await person.sees('nothing listens there');
    await person.answers('Use it anyway? (y/N)');
    await person.answers('Node URL', url);
    await person.sees(`ok       connection  ${url} answers`);
    await person.answers('Another node', NO_NODE);
    await person.answers('Use it anyway?', 'y');
    await person.answers('Another node');
    await person.answers('Network (testnet04)');
    // The second node gives no work, and is still written to the file.
    await refuseToChange(person);
    expect(settingsIn(folder).node).toEqual({ urls: [url, NO_NODE], network: 'testnet04' });
  });

  it('are five at most', async () => {
    const { url } = await startNode();
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.answers('Node URL', url);
    for (const name of ['a', 'b', 'c', 'd']) {
      await person.answers('Another node', `${url}/${name}`);
    }
    await person.answers('Network');
    await refuseToChange(person);
    expect(settingsIn(folder)).toMatchObject({
      node: { urls: [url, `${url}/a`, `${url}/b`, `${url}/c`, `${url}/d`], network: 'development' },
    });
  });

  it('name their network, which is asked for if they do not, and whose name must be one', async () => {
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.answers('Node URL', NO_NODE);
    await person.answers('Use it anyway?', 'y');
    await person.answers('Another node');
    await person.isRefused('Network (mainnet01)', 'main net', 'A network is written like mainnet01 or testnet04.');
    await person.isRefused('Network', 'mainet01', 'Did you mean mainnet01?');
    await person.sees('http://HOST:PORT/ledger/0.0/mainet01');
    await person.answers('Network', ' testnet04 ');
    await refuseToChange(person);
    expect(settingsIn(folder).node).toEqual({ urls: [NO_NODE], network: 'testnet04' });
  });

  it('may have a certificate of their own, if the user recognizes its fingerprint', async () => {
    const front = await TlsFront.start(selfSigned, (await startNode()).url);
    const folder = newFolder();
    const person = init(folder);
    await person.chooses('Mine on', 0);
    await person.answers('Node URL', front.url);
    await person.sees('No known authority has signed its certificate: nodes often sign their own. Its fingerprint is');
    await person.sees(`\n    ${fingerprintOf(raw)}\n`);
    await person.sees('openssl x509 -in FILE -noout -fingerprint -sha256');
    await person.sees(`\n    ${fingerprint256}\n`);
    await person.answers('Is that the fingerprint of your node? (y/N)');
    await person.answers('Use it anyway?');
    expect(front.received).toBe(0);
    await person.answers('Node URL', front.url);
    await person.answers('Is that the fingerprint of your node?', 'y');
    await person.answers('Another node');
    await person.answers('Network');
    await finish(person);
    expect(person.text).toMatch(/ok +work/);
    expect(settingsIn(folder)).toMatchObject({
      node: { urls: [front.url], fingerprints: [`${front.url}=${fingerprintOf(raw)}`] },
    });
  });
});

describe('the pools of pickaxe init', () => {
  it('are asked at once, with the password in a new file that only its owner can read', async () => {
    const { pool, url } = await startPool();
    const folder = newFolder();
    const taken = folder.write('pool.password', 'mine\n');
    const person = init(folder);
    await person.chooses('Mine on', 1);
    await person.isRefused('Pool URL', '', 'it is empty');
    await person.isRefused('Pool URL', 'http://127.0.0.1:1', 'this is the URL of a node');
    await person.answers('Pool URL', NO_POOL);
    await person.sees('nothing listens there');
    await person.answers('Use it anyway?');
    await person.answers('Pool URL', url);
    await person.sees(/ok +connection/);
    expect(pool.users.size).toBe(0);
    await person.answers('Another pool, for when that one fails (none: leave it empty)');
    await person.isRefused('User, as the pool wants it', '', 'Give the user as the pool wants it');
    await person.answers('User, as the pool wants it', 'k:abc.rig1');
    await person.isRefused('Password', 'p'.repeat(257), 'Give a password of at most 256 characters.');
    await person.answers('Password', 'd=12345');
    await person.sees('asking for work as k:abc.rig1 …');
    await person.isRefused('File for the password', '', `${taken} already exists and stays as it is`);
    await person.isRefused('File for the password', ' ', 'Give the name of a file.');
    await person.answers('File for the password', ' secret/mine ');
    const file = join(folder.path, 'secret', 'mine');
    await person.sees(`The password goes to ${file}: only you will be able to read it.`);
    await person.sees('To start mining: pickaxe mine --config pickaxe.toml\n');
    expect(await person.ended).toMatchObject({ code: 0 });
    for (const well of ['connection', 'user', 'work']) expect(person.text).toMatch(new RegExp(`ok +${well}`));
    expect([...pool.passwords]).toEqual(['d=12345']);
    expect(settingsIn(folder)).toEqual({
      pool: { urls: [url], user: 'k:abc.rig1', 'password-file': 'secret/mine' },
    });
    expect(person.text).not.toContain('12345');
    expect(readFileSync(file, 'utf8')).toBe('d=12345\n');
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(taken, 'utf8')).toBe('mine\n');
  });

  it('may refuse a user, which can be changed, and have a certificate of their own', async () => {
    const { pool, url } = await startPool({ identity: selfSigned, user: 'someone.rig1' });
    const folder = newFolder();
    const person = init(folder, ['--user']);
    await person.chooses('Mine on', 1);
    await person.answers('Pool URL', url);
    await person.sees('some pools sign their own');
    await person.sees('Compare it with the one that the pool’s operator gives.');
    await person.answers('Is that the fingerprint of your pool?', 'y');
    await person.answers('Another pool');
    await person.answers('User', 'nobody.rig1');
    await person.answers('Password');
    await person.sees('? The pool gives this user no work. What would you like to change?');
    await person.sees(/nothing: that will be put right at the pool *\n.*the user *\n.*the password *\n.*the pool/);
    person.types('\u001b[B\r');
    await person.answers('User', 'someone.rig1');
    await person.sees('To start mining: pickaxe mine\n');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect([...pool.users]).toEqual(['nobody.rig1', 'someone.rig1']);
    expect([...pool.passwords]).toEqual(['x']);
    expect(readdirSync(join(folder.path, 'pickaxe'))).toEqual(['config.toml']);
    expect(settingsIn(folder, 'pickaxe/config.toml')).toEqual({
      pool: { urls: [url], user: 'someone.rig1', fingerprints: [`${url}=${fingerprintOf(raw)}`] },
    });
  });

  it('may refuse everybody: the password and the pool can be changed, too, or nothing', async () => {
    const { pool, url } = await startPool({ user: 'someone.rig1' });
    const folder = newFolder();
    const person = init(folder);
    const question = 'The pool gives this user no work';
    await person.chooses('Mine on', 1);
    await person.answers('Pool URL', url);
    await person.answers('Another pool');
    await person.answers('User', 'nobody.rig1');
    await person.answers('Password');
    await person.chooses(question, 2);
    await person.answers('Password', 'secret');
    await person.chooses(question, 3);
    await person.answers('Pool URL', url);
    await person.answers('Another pool', NO_POOL);
    await person.answers('Use it anyway?', 'y');
    await person.answers('Another pool');
    await person.chooses(question, 0);
    await person.answers('File for the password (pool.password)');
    expect(await person.ended).toMatchObject({ code: 0 });
    expect([...pool.passwords]).toEqual(['x', 'secret']);
    expect(existsSync(join(folder.path, 'pool.password'))).toBe(true);
    expect(settingsIn(folder)).toEqual({
      pool: { urls: [url, NO_POOL], user: 'nobody.rig1', 'password-file': 'pool.password' },
    });
  });
});
