import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configText } from '#pickaxe/cli/init/answers.js';
import { MockNode } from '#pickaxe/mock-node/mock-node.js';
import { fingerprintOf } from '#pickaxe/net/certificate.js';
import { selfSigned } from '../node/certificates.ts';
import { TlsFront } from '../node/tls-front.ts';
import { pickaxe } from './pickaxe.ts';
import { noTmux, Terminal, why } from './tmux.ts';

const INIT = new URL('../../dist/cli/commands/init.js', import.meta.url).href;
const KEY = 'ab'.repeat(32);
/** The questions must not depend on the machine that the tests run on. */
const NO_GPU = { VK_DRIVER_FILES: '/none', VK_ICD_FILENAMES: '/none' };

/** The test waits for each of many questions. */
const TEST_MS = 120_000;

const nodes: MockNode[] = [];
const terminals: Terminal[] = [];

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

async function startNode(options: ConstructorParameters<typeof MockNode>[0] = {}): Promise<string> {
  const node = new MockNode({ difficulty: 1_000_000, ...options });
  nodes.push(node);
  return (await node.start()).url;
}

function open(): Terminal {
  const terminal = new Terminal({ columns: 120, rows: 60, env: NO_GPU });
  terminals.push(terminal);
  return terminal;
}

/** Waits for the last line of a prompt: what is typed earlier would answer the prompt before it. */
async function answer(terminal: Terminal, question: RegExp, typed: string): Promise<void> {
  await terminal.sees(question);
  terminal.type(typed);
}

const NODE_URL = /\? Node URL [^\n]*\n*$/;
const ANOTHER = /\? Another node[^\n]*\n*$/;
const NETWORK = /\? Network [^\n]*\n*$/;
const KEY_CHOICE = /\? Key for the rewards(?:.|\n)*paste its public half/;
const ACCOUNT = /\? Account [^\n]*\n*$/;

describe.skipIf(noTmux)(`pickaxe init${why}`, { timeout: TEST_MS }, () => {
  it('asks, checks, and writes a file that mines', async () => {
    const url = await startNode();
    const terminal = open();
    terminal.type('pickaxe init; echo "code $?"\n');
    await answer(terminal, NODE_URL, `${url}\n`);
    await answer(terminal, ANOTHER, '\n');
    await answer(terminal, NETWORK, '\n');
    await terminal.sees(KEY_CHOICE);
    terminal.press('Down', 'Enter');
    await answer(terminal, /\? File for the secret half [^\n]*\n*$/, '\n');
    await answer(terminal, ACCOUNT, '\n');
    await terminal.sees('code 0');
    for (const well of ['connection', 'network', 'work', 'updates', 'clock']) {
      expect(terminal.text()).toMatch(new RegExp(`ok +${well}`));
    }

    const keyFile = join(terminal.directory, 'pickaxe-key.json');
    const { publicKey, secretKey } = JSON.parse(readFileSync(keyFile, 'utf8'));
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const text = readFileSync(join(terminal.directory, 'pickaxe.toml'), 'utf8');
    expect(parse(text)).toMatchObject({
      node: { urls: [url], network: 'development' },
      miner: { 'public-keys': [publicKey] },
    });
    expect(text).toContain('# temp-limit = 90');
    expect(text + terminal.text()).not.toContain(secretKey);

    terminal.type('clear; pickaxe\n');
    await terminal.sees(`Ready to mine on ${url}`);
    terminal.type('clear; pickaxe mine --blocks 1; echo "code $?"\n');
    await terminal.sees('code 0');
    expect(nodes[0].ledger.stats.accepted).toBeGreaterThanOrEqual(1);
  });

  it('asks again when an answer is not valid, and says what the node needs to know', async () => {
    const url = await startNode({
      network: 'testnet04',
      miners: [{ account: 'someone', predicate: 'keys-all', 'public-keys': [KEY] }],
    });
    const terminal = open();
    terminal.type('pickaxe init --user; echo "code $?"\n');
    await answer(terminal, NODE_URL, 'nonsense\n');
    await terminal.sees('A node URL has a host');
    terminal.press('C-u');
    terminal.type('http://127.0.0.1:9\n');
    await terminal.sees('nothing listens there');
    await answer(terminal, /Use it anyway\? [^\n]*\n*$/, '\n');
    await answer(terminal, NODE_URL, `${url}\n`);
    await answer(terminal, ANOTHER, '\n');
    await answer(terminal, NETWORK, '\n');
    await terminal.sees(KEY_CHOICE);
    terminal.press('Enter');
    await answer(terminal, /\? Public key[^\n]*\n*$/, 'abc\n');
    await terminal.sees('64 hex digits. Make one');
    terminal.press('C-u');
    terminal.type(`k:${KEY.toUpperCase()}\n`);
    await answer(terminal, ACCOUNT, '\n');
    await terminal.sees(`{"account":"k:${KEY}","predicate":"keys-all","public-keys":["${KEY}"]}`);
    await terminal.sees('the account');
    terminal.press('Down', 'Enter');
    await answer(terminal, /like to change\? the account(?:.|\n)*\? Account [^\n]*\n*$/, 'someone\n');
    await terminal.sees('code 0');
    const file = join(terminal.directory, '.config', 'pickaxe', 'config.toml');
    expect(parse(readFileSync(file, 'utf8'))).toMatchObject({
      node: { urls: [url], network: 'testnet04' },
      miner: { 'public-keys': [KEY], account: 'someone' },
    });
  });

  it('offers to change the network and the node, too, and keeps a rig’s name after the key', async () => {
    const url = await startNode({ network: 'testnet04' });
    const other = await startNode({ network: 'mainnet01' });
    const terminal = open();
    terminal.type('pickaxe init; echo "code $?"\n');
    await answer(terminal, NODE_URL, `${url}\n`);
    await answer(terminal, ANOTHER, '\n');
    await answer(terminal, NETWORK, 'testnet05\n');
    await terminal.sees(KEY_CHOICE);
    terminal.press('Enter');
    await answer(terminal, /\? Public key[^\n]*\n*$/, `k:${KEY}.attic\n`);
    await answer(terminal, ACCOUNT, '\n');
    await terminal.sees('name of the rig: attic');
    await terminal.sees(/the network\n *the node/);
    // An entry for this miner would not help at a node of another network.
    expect(terminal.text()).not.toContain('mining.coordination.miners');
    terminal.press('Down', 'Down', 'Down', 'Enter');
    await answer(terminal, /like to change\? the network(?:.|\n)*\? Network [^\n]*\n*$/, 'testnet06\n');
    await terminal.sees(/the network(?:.|\n)*like to change\?(?:.|\n)*the network\n *the node/);
    terminal.press('Down', 'Down', 'Down', 'Down', 'Enter');
    await answer(terminal, /like to change\? the node(?:.|\n)*\? Node URL [^\n]*\n*$/, `${other}\n`);
    await answer(terminal, /like to change\? the node(?:.|\n)*\? Another node[^\n]*\n*$/, '\n');
    await answer(terminal, /like to change\? the node(?:.|\n)*\? Network [^\n]*\n*$/, '\n');
    await terminal.sees('code 0');
    expect(parse(readFileSync(join(terminal.directory, 'pickaxe.toml'), 'utf8'))).toMatchObject({
      node: { urls: [other], network: 'mainnet01' },
      miner: { 'public-keys': [KEY] },
      rig: { name: 'attic' },
    });
  });

  it('asks whether a certificate that no authority vouches for is the node’s, and writes its fingerprint to the file', async () => {
    const front = await TlsFront.start(selfSigned, await startNode());
    const { fingerprint256, raw } = new X509Certificate(selfSigned.cert);
    const terminal = open();
    terminal.type('pickaxe init; echo "code $?"\n');
    await answer(terminal, NODE_URL, `${front.url}\n`);
    await terminal.sees(fingerprint256);
    await answer(terminal, /Is that the fingerprint of your node\? [^\n]*\n*$/, '\n');
    await answer(terminal, /Use it anyway\? [^\n]*\n*$/, '\n');
    expect(front.received).toBe(0);
    await answer(terminal, NODE_URL, `${front.url}\n`);
    await answer(terminal, /Is that the fingerprint of your node\? \(y\/N\) *\n*$/, 'y\n');
    await answer(terminal, ANOTHER, '\n');
    await answer(terminal, NETWORK, '\n');
    await terminal.sees(KEY_CHOICE);
    terminal.press('Enter');
    await answer(terminal, /\? Public key[^\n]*\n*$/, `${KEY}\n`);
    await answer(terminal, ACCOUNT, '\n');
    await terminal.sees('code 0');
    expect(terminal.text()).toMatch(/ok +work/);
    expect(parse(readFileSync(join(terminal.directory, 'pickaxe.toml'), 'utf8'))).toMatchObject({
      node: { urls: [front.url], fingerprints: [`${front.url}=${fingerprintOf(raw)}`] },
    });
  });

  it('overwrites a file only if told to', async () => {
    const terminal = open();
    const file = join(terminal.directory, 'pickaxe.toml');
    writeFileSync(file, '# mine\n');
    terminal.type('pickaxe init; echo "code $?"\n');
    await answer(terminal, /Overwrite it\?/, '\n');
    await terminal.sees('code 0');
    expect(readFileSync(file, 'utf8')).toBe('# mine\n');
    writeFileSync(join(terminal.directory, 'pickaxe.json'), '{}');
    terminal.type('clear; pickaxe init; echo "code $?"\n');
    await terminal.sees('code 2');
    expect(terminal.text()).toContain('reads only one of the two files');
  });

  it('writes nothing when it is interrupted', async () => {
    const terminal = open();
    terminal.type('pickaxe init; echo "code $?"\n');
    await terminal.sees(NODE_URL);
    terminal.press('C-c');
    await terminal.sees('code 130');
    expect(existsSync(join(terminal.directory, 'pickaxe.toml'))).toBe(false);
  });
});

describe('pickaxe init without a terminal', () => {
  it('says what to do instead', async () => {
    const { code, stderr } = await pickaxe('init');
    expect(code).toBe(2);
    expect(stderr).toContain('pickaxe config example');
  });
});

describe.skipIf(process.platform === 'win32')('the file that is written', () => {
  const answers = { urls: ['http://a'], publicKey: KEY };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pickaxe-init-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes from a shell with this umask, because the threads of vitest cannot change theirs. */
  function write(file: string, replaces: boolean, umask: string, before = 'true') {
    const program = `import { write } from ${JSON.stringify(INIT)}; write(...JSON.parse(process.argv[1]))`;
    const given = JSON.stringify([file, answers, replaces]);
    const shell = `umask ${umask}; ${before}; exec "$0" --input-type=module --eval "$1" "$2"`;
    const { status, stderr } = spawnSync('sh', ['-c', shell, process.execPath, program, given], { encoding: 'utf8' });
    return { status, stderr };
  }

  it.each(['000', '002', '022'])(
    'can be written by nobody else with the umask %s, whether it is new or replaces another',
    (umask) => {
      const file = join(folder, 'made', 'config.toml');
      for (const replaces of [false, true]) {
        expect(write(file, replaces, umask)).toEqual({ status: 0, stderr: '' });
        expect(statSync(file).mode & 0o777).toBe(0o644);
        expect(readdirSync(join(folder, 'made'))).toEqual(['config.toml']);
      }
      expect(statSync(join(folder, 'made')).mode & 0o777).toBe(0o700);
    },
  );

  it.each([false, true])('leaves nothing behind on a full disk (replaces: %s)', (replaces) => {
    const file = join(folder, 'config.toml');
    if (replaces) writeFileSync(file, '# mine\n');
    // No file may grow: for the writer, that is like a full disk.
    const { stderr } = write(file, replaces, '022', 'ulimit -f 0');
    expect(stderr).toContain('config.toml could not be written: EFBIG');
    expect(readdirSync(folder)).toEqual(replaces ? ['config.toml'] : []);
    if (replaces) expect(readFileSync(file, 'utf8')).toBe('# mine\n');
  });

  it('is never written through a link that waits under its temporary name', () => {
    const file = join(folder, 'config.toml');
    const led = join(folder, 'led to');
    writeFileSync(file, '# mine\n');
    symlinkSync(led, `${file}.unfinished`);
    expect(write(file, true, '022').status).toBe(0);
    expect(existsSync(led)).toBe(false);
    expect(lstatSync(file).isFile()).toBe(true);
    expect(readFileSync(file, 'utf8')).toContain('http://a');
  });
});

describe('the text of the file', () => {
  it('sets what was asked for, and explains the rest', () => {
    const text = configText({ urls: ['http://a', 'http://b'], publicKey: KEY });
    const set = Object.entries(parse(text)).filter(([, settings]) => Object.keys(settings as object).length > 0);
    const miner = { 'public-keys': [KEY] };
    expect(Object.fromEntries(set)).toEqual({ node: { urls: ['http://a', 'http://b'] }, miner });
    expect(text.split('\n').length).toBeGreaterThan(50);
    const named = { account: 'me', rigName: 'attic', devices: ['cpu'] };
    const more = configText({ urls: ['http://a'], network: 'n1', publicKey: KEY, ...named });
    expect(parse(more)).toMatchObject({
      node: { urls: ['http://a'], network: 'n1' },
      devices: { use: ['cpu'] },
      rig: { name: 'attic' },
      miner: { 'public-keys': [KEY], account: 'me' },
    });
  });
});
