/** Which nodes and pools `pickaxe init` asks for, what it says of them, and what it makes of the answers. */

import { describe, expect, it, vi } from 'vitest';
import { askNodes, askPools } from '#pickaxe/cli/setup/init/ask-sources.js';
import { examineNode } from '#pickaxe/rig/survey/examine-node.js';
import { examinePool } from '#pickaxe/rig/survey/examine-pool.js';
import { folder, inNewFolders } from '../../in-folder.ts';
import { A, Answering, B, found } from './answering.ts';

vi.mock('#pickaxe/rig/survey/examine-node.js');
vi.mock('#pickaxe/rig/survey/examine-pool.js');

inNewFolders();

const FINGERPRINT = 'A'.repeat(43);

describe('nodes', () => {
  it('are asked at once, and the network of the first is the default', async () => {
    vi.mocked(examineNode)
      .mockReset()
      .mockResolvedValueOnce({ findings: [found('connection', 'fault', 'away'), found('clock', 'ok')] })
      .mockResolvedValueOnce({
        findings: [
          found('connection', 'ok', 'there'),
          found('network', 'ok', 'named'),
          found('clock', 'warning', 'late'),
          found('work', 'fault'),
        ],
        network: 'testnet04',
      })
      .mockResolvedValueOnce({ findings: [found('connection', 'fault', 'gone'), found('network', 'fault')] })
      .mockResolvedValueOnce({ findings: [found('connection', 'ok', 'there')], network: 'mainnet01' });
    const person = new Answering('', false, 'no url', ` ${A} `, A, true, B, '', 'tesnet04', '');
    const nodes = await askNodes(person);
    expect(nodes).toEqual({ urls: [A, A, B], network: 'testnet04' });
    expect(person.talk).toMatchInlineSnapshot(`
      [
        "? Node URL (http://127.0.0.1:1848) > ",
        "  asking http://127.0.0.1:1848 …",
        "  fault    connection  away",
        "? Use it anyway? > false",
        "? Node URL (http://127.0.0.1:1848) > no url",
        "! Not valid: it has a space in it. Write a node URL like http://127.0.0.1:1848, https://node.example or HOST, which means http://HOST:1848.",
        "? Node URL (http://127.0.0.1:1848) >  http://a.example:1848 ",
        "  asking http://a.example:1848 …",
        "  ok       connection  there",
        "  ok       network     named",
        "  warning  clock       late",
        "? Another node, for when that one fails (none: leave it empty) > http://a.example:1848",
        "  asking http://a.example:1848 …",
        "  fault    connection  gone",
        "? Use it anyway? > true",
        "? Another node, for when that one fails (none: leave it empty) > http://b.example:1848",
        "  asking http://b.example:1848 …",
        "  ok       connection  there",
        "? Another node, for when that one fails (none: leave it empty) > ",
        "? Network (testnet04) > tesnet04",
        "! Did you mean testnet04? If not, write the network into the node URL: http://HOST:PORT/ledger/0.0/tesnet04",
        "? Network (testnet04) > ",
      ]
    `);
  });

  it('are five at most, and the usual network is that of mainnet', async () => {
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: [] });
    expect(await askNodes(new Answering(A, A, B, A, B, ''))).toEqual({ urls: [A, A, B, A, B], network: 'mainnet01' });
  });

  it('with paths name their networks themselves', async () => {
    vi.mocked(examineNode).mockReset().mockResolvedValue({ findings: [], network: 'testnet04' });
    const path = `${A}/ledger/0.0/testnet04`;
    expect(await askNodes(new Answering(path, ''))).toEqual({ urls: [path] });
    expect(await askNodes(new Answering(path, A, '', 'mine'))).toEqual({ urls: [path, A], network: 'mine' });
  });

  it('have certificates that the user recognizes, or not', async () => {
    const url = 'https://a.example';
    const strange = { findings: [found('connection', 'fault', 'strange')], untrusted: FINGERPRINT };
    const trusted = { findings: [found('connection', 'ok', 'there')], network: 'n' };
    vi.mocked(examineNode).mockReset().mockResolvedValueOnce(strange).mockResolvedValueOnce(trusted);
    const person = new Answering(url, true, '', '');
    const fingerprints = [{ origin: url, value: FINGERPRINT }];
    expect(await askNodes(person)).toEqual({ urls: [url], fingerprints, network: 'n' });
    expect(person.talk).toMatchInlineSnapshot(`
      [
        "? Node URL (http://127.0.0.1:1848) > https://a.example",
        "  asking https://a.example …",
        "  No known authority has signed its certificate: nodes often sign their own. Its fingerprint is",
        "    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "  On the node’s own machine this prints the same as hex digits: openssl x509 -in FILE -noout -fingerprint -sha256",
        "    00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00",
        "? Is that the fingerprint of your node? > true",
        "  ok       connection  there",
        "? Another node, for when that one fails (none: leave it empty) > ",
        "? Network (n) > ",
      ]
    `);
    vi.mocked(examineNode).mockReset().mockResolvedValueOnce(strange).mockResolvedValueOnce(trusted);
    expect(await askNodes(new Answering(url, false, true, A, '', ''))).toEqual({
      urls: [url, A],
      network: 'mainnet01',
    });
    // The certificate of a node that shows another one is not asked for again.
    vi.mocked(examineNode).mockReset().mockResolvedValue(strange);
    expect(await askNodes(new Answering(url, true, true, '', ''))).toMatchObject({ urls: [url], fingerprints });
    expect(vi.mocked(examineNode).mock.calls.map(([{ trust }]) => trust)).toEqual([
      { by: 'authority' },
      { by: 'fingerprint', fingerprints: [FINGERPRINT] },
    ]);
  });
});

describe('pools', () => {
  const POOL = 'stratum+tcp://p.example:1';
  const SECOND = 'stratum+tcp://q.example:1';

  it('are asked for work as the user, and each answer can be changed', async () => {
    const isGood = vi.fn((..._: unknown[]) => false);
    vi.mocked(examinePool)
      .mockReset()
      .mockImplementation(async ({ url, account }) => ({
        findings: [
          account === undefined || isGood(url, account) ? found('work', 'ok') : found('work', 'fault', 'none'),
        ],
      }));
    isGood.mockImplementation((url, account) => url === SECOND && JSON.stringify(account).includes('hush'));
    const person = new Answering(
      POOL,
      '',
      'me.rig',
      '',
      'user',
      'you.rig',
      'password',
      'hush',
      'pool',
      SECOND,
      '',
      ' pw ',
    );
    expect(await askPools(person, folder.path)).toEqual({
      urls: [SECOND],
      user: 'you.rig',
      password: { file: 'pw', text: 'hush' },
    });
    expect(isGood.mock.calls.map(([url, account]) => [url, ...Object.values(account as object)].join(' '))).toEqual([
      `${POOL} me.rig x`,
      `${POOL} you.rig x`,
      `${POOL} you.rig hush`,
      `${SECOND} you.rig hush`,
    ]);
    expect(person.talk.map((line) => line.replaceAll(folder.path, ''))).toMatchInlineSnapshot(`
      [
        "? Pool URL > stratum+tcp://p.example:1",
        "  asking stratum+tcp://p.example:1 …",
        "  ok       work  so",
        "? Another pool, for when that one fails (none: leave it empty) > ",
        "? User, as the pool wants it: usually NAME.WORKER > me.rig",
        "? Password (most pools need none: leave it empty) > ",
        "  asking for work as me.rig …",
        "  fault    work  none",
        "? The pool gives this user no work. What would you like to change? > user",
        "? User, as the pool wants it: usually NAME.WORKER > you.rig",
        "  asking for work as you.rig …",
        "  fault    work  none",
        "? The pool gives this user no work. What would you like to change? > password",
        "? Password (most pools need none: leave it empty) > hush",
        "  asking for work as you.rig …",
        "  fault    work  none",
        "? The pool gives this user no work. What would you like to change? > pool",
        "? Pool URL > stratum+tcp://q.example:1",
        "  asking stratum+tcp://q.example:1 …",
        "  ok       work  so",
        "? Another pool, for when that one fails (none: leave it empty) > ",
        "  asking for work as you.rig …",
        "  ok       work  so",
        "? File for the password (pool.password) >  pw ",
        "  The password goes to /pw: only you will be able to read it.",
      ]
    `);
  });

  it('may be used as they are, and get no password file without a password', async () => {
    vi.mocked(examinePool)
      .mockReset()
      .mockResolvedValue({ findings: [found('work', 'fault', 'none')] });
    const person = new Answering(POOL, true, SECOND, true, '', 'me.rig', '', 'nothing');
    expect(await askPools(person, folder.path)).toEqual({ urls: [POOL, SECOND], user: 'me.rig' });
  });

  it('have a certificate that is trusted for the work, too, and a new password file', async () => {
    const url = 'stratum+ssl://p.example:1';
    vi.mocked(examinePool)
      .mockReset()
      .mockResolvedValueOnce({ findings: [], untrusted: FINGERPRINT })
      .mockResolvedValue({ findings: [] });
    folder.write('taken', '');
    const person = new Answering(url, true, '', 'me.rig', 'h\u0007sh', 'hush', 'taken', ' ', '');
    expect(await askPools(person, folder.path)).toMatchObject({ password: { file: 'pool.password', text: 'hush' } });
    expect(vi.mocked(examinePool).mock.calls.at(-1)![0]).toMatchObject({
      account: { user: 'me.rig', password: 'hush' },
      trust: { by: 'fingerprint', fingerprints: [FINGERPRINT] },
    });
    expect(person.talk.map((line) => line.replaceAll(folder.path, ''))).toMatchInlineSnapshot(`
      [
        "? Pool URL > stratum+ssl://p.example:1",
        "  asking stratum+ssl://p.example:1 …",
        "  No known authority has signed its certificate: some pools sign their own. Its fingerprint is",
        "    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "  Compare it with the one that the pool’s operator gives. The same as hex digits:",
        "    00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00",
        "? Is that the fingerprint of your pool? > true",
        "? Another pool, for when that one fails (none: leave it empty) > ",
        "? User, as the pool wants it: usually NAME.WORKER > me.rig",
        "? Password (most pools need none: leave it empty) > hsh",
        "! Give a password of at most 256 characters.",
        "? Password (most pools need none: leave it empty) > hush",
        "  asking for work as me.rig …",
        "? File for the password (pool.password) > taken",
        "! /taken already exists and stays as it is: give another file.",
        "? File for the password (pool.password) >  ",
        "! Give the name of a file.",
        "? File for the password (pool.password) > ",
        "  The password goes to /pool.password: only you will be able to read it.",
      ]
    `);
  });
});
