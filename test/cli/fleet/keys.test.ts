/** `pickaxe fleet keys`: its files, its words, and that a real server takes its configurations. */

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readCredentials } from '#pickaxe/fleet/nats/credentials.js';
import { FleetFile } from '#pickaxe/fleet/nats/fleet-file.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { Authority } from '../../fleet/nats/certificates.ts';
import { connect, disconnected } from '../../fleet/nats/links.ts';
import { noServer, program, TestServer, whyNoServer } from '../../fleet/nats/server.ts';
import { folder, inNewFolders, pickaxe } from '../in-folder.ts';

inNewFolders();

const dir = () => join(folder.path, 'fleet');
const keys = (...args: string[]) => pickaxe(['fleet', 'keys', dir(), ...args]);
const read = (name: string) => readFileSync(join(dir(), name), 'utf8');
const mode = (path: string) => statSync(path).mode & 0o777;
const fleet = () => FleetFile.parse(JSON.parse(read('fleet.json')));
const all = () => Object.fromEntries(readdirSync(dir()).map((name) => [name, read(name)]));

describe('the files', () => {
  it('have the accounts, and only the owner can read them', async () => {
    const { code, stdout } = await keys('--rig', 'rig1', '--rig', 'Ä/..', '--coordinator', 'c1', '--operator', 'boss');
    expect(code).toBe(0);
    expect(readdirSync(dir()).sort()).toEqual(
      ['%C3%84%2F%2E%2E.nk', 'boss.nk', 'c1.nk', 'fleet.json', 'nats-server.conf', 'rig1.nk'].sort(),
    );
    expect(mode(dir())).toBe(0o700);
    for (const name of readdirSync(dir())) expect([name, mode(join(dir(), name))]).toEqual([name, 0o600]);
    for (const { name, publicKey } of fleet().members) {
      const seed = readCredentials(read(`${name === 'Ä/..' ? '%C3%84%2F%2E%2E' : name}.nk`));
      expect(seed.publicKey).toBe(publicKey);
      expect(read('nats-server.conf')).toContain(publicKey);
      for (const file of ['fleet.json', 'nats-server.conf']) expect(read(file)).not.toContain(seed.seed);
      expect(stdout).not.toContain(seed.seed);
    }
    expect(stdout.replaceAll(folder.path, '')).toMatchInlineSnapshot(`
      "/fleet: 2 rigs, 1 coordinator, 1 operator
        new rig rig1: /fleet/rig1.nk
        new rig Ä/..: /fleet/%C3%84%2F%2E%2E.nk
        new coordinator c1: /fleet/c1.nk
        new operator boss: /fleet/boss.nk

      On each server: copy /fleet/nats-server.conf to it, where only the server may read it. Then:
        nats-server -c nats-server.conf      (when it changes: nats-server --signal reload)

      On each new member: move its own seed to it, and nobody else’s. For example on rig1:
        pickaxe mine --nats nats://SERVER:4222 --nats-credentials rig1.nk --rig-name rig1

      Keep /fleet/fleet.json here: it is needed to add and revoke members."
    `);
  });

  it.each([
    [20, []],
    [22, ['  and 2 more']],
  ])('of %i new members are listed up to the twentieth', async (count, more) => {
    const { stdout } = await keys(...Array.from({ length: count }, (_, i) => ['--rig', `rig${i}`]).flat());
    expect(stdout.split('\n').filter((line) => line.startsWith('  new rig '))).toHaveLength(20);
    expect(stdout.split('\n').filter((line) => line.startsWith('  and '))).toEqual(more);
  });

  it('of coordinators alone have an example for one of them', async () => {
    const { stdout } = await keys('--coordinator', 'c1', '--subject', 'hall');
    expect(stdout).toContain('For example on c1:\n  pickaxe coordinate --nats nats://SERVER:4222');
    expect(stdout).toContain('--nats-credentials c1.nk --rig-name c1 --nats-subject hall\n');
  });

  it('keep their keys when members are added, from a file, too, or named again', async () => {
    await keys('--rig', 'rig1', '--listen', '10.0.0.1');
    const before = all();
    const file = folder.write('names.txt', '# the hall\nrig1\n\n rig 2 \r\nrig3\n');
    expect((await keys('--rigs', file)).code).toBe(0);
    expect(read('rig1.nk')).toBe(before['rig1.nk']);
    expect(fleet().members.map(({ name }) => name)).toEqual(['rig1', 'rig 2', 'rig3']);
    expect(fleet()).toMatchObject({ listen: '10.0.0.1:4222' });
    const { leafSecret, clusterSecret } = FleetFile.parse(JSON.parse(before['fleet.json']));
    expect(fleet()).toMatchObject({ leafSecret, clusterSecret });
  });

  it('have the certificates and the servers that are named, with the usual ports', async () => {
    const tls = ['--tls-cert', 'cert.pem', '--tls-key', 'key.pem'];
    const { stdout } = await keys('--rig', 'a b', ...tls, '--cluster', 'one', '--cluster', 'two', '--leaves', 'hub');
    expect(fleet()).toMatchObject({ listen: '0.0.0.0:4222', cluster: ['one:6222', 'two:6222'], leaves: ['hub:7422'] });
    expect(fleet().tls).toEqual({ cert: 'cert.pem', key: 'key.pem' });
    expect(stdout).toContain('  pickaxe mine --nats tls://SERVER:4222 --nats-credentials a%20b.nk --rig-name "a b"\n');
    expect(stdout).toContain(`On servers of other sites: the same with ${join(dir(), 'nats-leaf.conf')}.\n`);
    await keys(...tls, '--tls-ca', 'ca.pem', '--listen', 'a:65535');
    expect(fleet()).toMatchObject({ listen: 'a:65535', cluster: ['one:6222', 'two:6222'], leaves: ['hub:7422'] });
    expect(fleet().tls).toEqual({ cert: 'cert.pem', key: 'key.pem', ca: 'ca.pem' });
  });

  it('stay away when a member’s seed was moved to its rig', async () => {
    await keys('--rig', 'rig1');
    const { publicKey } = fleet().members[0];
    const { rmSync } = await import('node:fs');
    rmSync(join(dir(), 'rig1.nk'));
    await keys('--rig', 'rig1', '--rig', 'rig2');
    expect(existsSync(join(dir(), 'rig1.nk'))).toBe(false);
    expect(fleet().members[0].publicKey).toBe(publicKey);
  });

  it('forget a revoked member’s account; its name can be given anew, with another key', async () => {
    await keys('--rig', 'rig1', '--rig', 'rig2');
    const { publicKey } = fleet().members[0];
    const { stdout } = await keys('--revoke', 'rig1');
    expect(stdout).toContain('  revoked: rig1; its seed is worthless, and was removed here');
    expect(stdout).toContain('nats-server --signal reload');
    expect(stdout).toContain('Until then, a revoked member stays connected.');
    expect(read('nats-server.conf')).not.toContain(publicKey);
    expect(fleet().members[0]).toMatchObject({ name: 'rig1', revoked: true });
    expect(existsSync(join(dir(), 'rig1.nk'))).toBe(false);
    expect((await keys('--rig', 'rig1')).stdout).not.toContain('revoked');
    expect(read('nats-server.conf')).not.toContain(publicKey);
    expect(readCredentials(read('rig1.nk')).publicKey).toBe(fleet().members.at(-1)!.publicKey);
  });
});

describe('what is refused, and changes nothing', () => {
  it.each([
    [['--rig', 'RIG1'], 'RIG1 and rig1 are hard to tell apart: choose another name.'],
    [['--rig', 'new', '--rig', 'NEW'], 'NEW and new are hard to tell apart: choose another name.'],
    [['--coordinator', 'rig1'], 'rig1 is the name of a member that is a rig: each member has a name of its own.'],
    [['--revoke', 'rig9'], 'there is no member rig9.'],
    [
      ['--rig', 'new', '--rig', 'a\nb'],
      '"a\\nb" is no name of a member: that has 1 to 64 characters that one can see.',
    ],
    [['--rig', 'new', '--rig', '漢'.repeat(40)], /is too long for the name of a seed’s file/],
    [
      ['--rig', 'new', '--tls-key', 'k', '--tls-cert', 'a\nb'],
      'The path of a certificate or key has control characters.',
    ],
    [['--rig', 'new', '--tls-cert', 'a.pem'], '--tls-cert and --tls-key belong together.'],
    [['--rig', 'new', '--tls-ca', 'a.pem'], '--tls-ca needs --tls-cert and --tls-key.'],
    [['--listen', 'a b'], '--listen: give a host, or HOST:PORT, like 10.0.0.2:4222, not a b.'],
    [['--listen', 'a:65536'], '--listen: give a host, or HOST:PORT, like 10.0.0.2:4222, not a:65536.'],
    [['--tls-key', 'k.pem'], '--tls-cert and --tls-key belong together.'],
    [['--listen', 'a:0'], '--listen: give a host, or HOST:PORT, like 10.0.0.2:4222, not a:0.'],
    [['--cluster', 'a:1', '--cluster', 'b:2'], '--cluster: all servers have the same port there.'],
    [['--subject', 'a.*'], /^error: --subject: Give a name of letters/],
    [['--rigs', '/nowhere'], /--rigs: \/nowhere cannot be read/],
  ] as const)('%j', async (args, message) => {
    await keys('--rig', 'rig1');
    const before = all();
    const { code, stderr, stdout } = await keys(...args);
    expect([code, stdout]).toEqual([2, '']);
    if (typeof message === 'string') expect(stderr).toBe(`error: ${message}\n`);
    else expect(stderr).toMatch(message);
    expect(all()).toEqual(before);
  });

  it('a seed, or a configuration, that somebody else has put there', async () => {
    await keys('--rig', 'rig1');
    writeFileSync(join(dir(), 'rig2.nk'), 'mine');
    let before = all();
    expect((await keys('--rig', 'rig2')).stderr).toMatch(
      /rig2\.nk exists, but \S+ does not know it: move it elsewhere/,
    );
    expect(all()).toEqual(before);
    writeFileSync(join(dir(), 'nats-server.conf'), 'port: 1');
    before = all();
    expect((await keys('--rig', 'rig3')).stderr).toMatch(/nats-server\.conf is not of pickaxe fleet keys/);
    expect(all()).toEqual(before);
  });

  it('a damaged fleet.json', async () => {
    await keys('--rig', 'rig1');
    writeFileSync(join(dir(), 'fleet.json'), '{"format": 2}');
    const before = all();
    const { code, stderr } = await keys('--rig', 'rig2');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/fleet\.json is damaged, or another version/)]);
    expect(all()).toEqual(before);
  });

  it('a folder of other files that others can read', async () => {
    mkdirSync(dir());
    chmodSync(dir(), 0o755);
    writeFileSync(join(dir(), 'photo.jpg'), '');
    expect((await keys('--rig', 'rig1')).stderr).toMatch(/has other files, and others may look into it/);
    expect(readdirSync(dir())).toEqual(['photo.jpg']);
    expect(mode(dir())).toBe(0o755);
  });
});

describe.skipIf(noServer)(`a real server${whyNoServer}`, () => {
  const isValid = (name: string) => {
    const { status, stdout, stderr } = spawnSync(program!, ['-t', '-c', join(dir(), name)], { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toMatch(/configuration file \S+ is valid/);
    expect(status).toBe(0);
  };

  it.each([
    ['nobody', []],
    [
      'members with strange names',
      ['--rig', '"; DROP', '--rig', '\\', '--coordinator', '$HOME', '--operator', '🦊 {}'],
    ],
    ['a cluster', ['--rig', 'a', '--cluster', 'one.example', '--cluster', '[::1]:6222', '--listen', '127.0.0.1:4333']],
    ['leaf nodes', ['--rig', 'a', '--leaves', 'hub.example', '--leaves', '10.0.0.3', '--subject', 'farm.east']],
  ])('takes the configuration of %s', async (_, args) => {
    expect((await keys(...args)).code).toBe(0);
    isValid('nats-server.conf');
    if (existsSync(join(dir(), 'nats-leaf.conf'))) isValid('nats-leaf.conf');
  });

  it('takes one with TLS, and members with their seeds; a revoked one is refused', async () => {
    const authority = new Authority();
    const { cert, key } = authority.sign('server', 'IP:127.0.0.1');
    const tls = ['--tls-cert', cert, '--tls-key', key, '--tls-ca', authority.file];
    const { stdout } = await keys('--rig', 'rig1', '--rig', 'rig2', ...tls, '--cluster', 'a', '--leaves', 'a');
    expect(stdout).toContain('pickaxe mine --nats tls://SERVER:4222 --nats-credentials rig1.nk --rig-name rig1');
    isValid('nats-server.conf');
    isValid('nats-leaf.conf');
    // The same accounts and certificates on any free ports.
    const config =
      () =>
      ({ client }: { client: number }) =>
        read('nats-server.conf')
          .replace(/^cluster \{[\s\S]*?^\}$/m, '')
          .replace(/^leafnodes \{[\s\S]*?^\}$/m, '')
          .replace('0.0.0.0:4222', `127.0.0.1:${client}`);
    const server = await TestServer.start(config());
    onTestFinished(() => server.stop());
    const url = server.url.replace('nats://', 'tls://');
    const linkOf = async (name: string) => {
      const credentials = readCredentials(read(`${name}.nk`));
      const inbox = new FleetSubjects('pickaxe').inbox(name);
      return (await connect([url], name, { credentials, authorities: [authority.pem], inbox })).link;
    };
    const [one, two] = [await linkOf('rig1'), await linkOf('rig2')];
    await keys('--revoke', 'rig1');
    await server.reconfigure(config());
    await disconnected(one, /revoked/);
    expect(two.state.isConnected).toBe(true);
  });
});
