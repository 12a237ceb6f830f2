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
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { fingerprintOf } from '#pickaxe/base/net/certificate.js';
import type { Answers } from '#pickaxe/cli/setup/init/answers.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { MockPool } from '../../../bench/lib/mock-pool.mjs';
import { DIALECTS, MockNode, type OtherOptions } from '../../mock-node/node.ts';
import { selfSigned } from '../../node/client/certificates.ts';
import { TlsFront } from '../../node/client/tls-front.ts';
import { pickaxe } from '../pickaxe.ts';
import { noTmux, Terminal, why } from '../tmux.ts';

const WRITE = new URL('../../../dist/cli/setup/init/init.js', import.meta.url).href;
const KEY = 'a1'.repeat(32);
/** The questions must not depend on the machine that the tests run on. */
const NO_GPU = { VK_DRIVER_FILES: '/none', VK_ICD_FILENAMES: '/none' };

const nodes: MockNode[] = [];
const terminals: Terminal[] = [];

afterEach(async () => {
  await Promise.all(terminals.splice(0).map((terminal) => terminal.close()));
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

async function startNode(options: OtherOptions = {}, dialect: Dialect = 'chainweb'): Promise<string> {
  const node = new MockNode({ dialect, difficulty: 1_000_000, ...options });
  nodes.push(node);
  return (await node.start()).url;
}

async function startPool(options: ConstructorParameters<typeof MockPool>[0] = {}) {
  const pool = new MockPool({ difficulty: 1e6, shareDifficulty: 1e5, ...options });
  onTestFinished(() => pool.close());
  return { pool, url: await pool.start() };
}

function open(): Terminal {
  const terminal = new Terminal({ columns: 120, rows: 60, env: NO_GPU });
  terminals.push(terminal);
  return terminal;
}

/** Waits for the last line of a prompt: text that is typed earlier would answer the prompt before it. */
async function answer(terminal: Terminal, question: RegExp, typed: string): Promise<void> {
  await terminal.sees(question);
  terminal.type(typed);
}

/** Types the command, and chooses a node at the first question. */
async function init(terminal: Terminal, ...options: string[]): Promise<void> {
  terminal.type(`${['pickaxe init', ...options].join(' ')}; echo "code $?"\n`);
  await answer(terminal, MINE_ON, '\n');
}

/** Types the command, and chooses a pool at the first question. */
async function initOnPool(terminal: Terminal, ...options: string[]): Promise<void> {
  terminal.type(`${['pickaxe init', ...options].join(' ')}; echo "code $?"\n`);
  await terminal.sees(MINE_ON);
  terminal.press('Down', 'Enter');
}

/** Answers all questions until pickaxe asks the node about the account. */
async function initWithAccount(terminal: Terminal, url: string, account: string): Promise<void> {
  await init(terminal);
  await answer(terminal, NODE_URL, `${url}\n`);
  await answer(terminal, ANOTHER, '\n');
  await answer(terminal, NETWORK, '\n');
  await terminal.sees(KEY_CHOICE);
  terminal.press('Enter');
  await answer(terminal, /\? Public key[^\n]*\n*$/, `${KEY}\n`);
  await answer(terminal, ACCOUNT, `${account}\n`);
}

/** Changes the account at each of this number of questions about it. */
async function chooseAccount(terminal: Terminal, account: string, times: number): Promise<void> {
  const asked = `(?:(?:.|\\n)*like to change\\?){${times}}`;
  await terminal.sees(new RegExp(`${asked}\\n(?:.|\\n)*the account\\n`));
  terminal.press('Down', 'Enter');
  await answer(terminal, new RegExp(`${asked} the account(?:.|\\n)*\\? Account [^\\n]*\\n*$`), `${account}\n`);
}

const OTHER_KEYS = /The account has other keys than this miner[^\n]*\n(?:.|\n)*the node *\n/;
const MINE_ON = /\? Mine on[^\n]*\n(?:.|\n)*a pool/;
const NODE_URL = /\? Node URL [^\n]*\n*$/;
const ANOTHER = /\? Another node[^\n]*\n*$/;
const NETWORK = /\? Network [^\n]*\n*$/;
const KEY_CHOICE = /\? Key for the rewards(?:.|\n)*paste its public half/;
const POOL_URL = /\? Pool URL *\n*$/;
const ANOTHER_POOL = /\? Another pool[^\n]*\n*$/;
const USER = /\? User, as the pool wants it[^\n]*\n*$/;
const PASSWORD = /\? Password [^\n]*\n*$/;
const ACCOUNT = /\? Account [^\n]*\n*$/;

describe.skipIf(noTmux)(`pickaxe init${why}`, () => {
  it.each(DIALECTS)('asks, checks, and writes a file that mines on a node of the dialect %s', async (dialect) => {
    const url = await startNode({}, dialect);
    const terminal = open();
    await init(terminal);
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
    // The account does not exist anywhere yet, which is fine.
    expect(terminal.text()).not.toMatch(/(ok|warning|fault) +account/);

    const keyFile = join(terminal.directory, 'pickaxe-key.json');
    const { publicKey, secretKey } = JSON.parse(readFileSync(keyFile, 'utf8'));
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const text = readFileSync(join(terminal.directory, 'pickaxe.toml'), 'utf8');
    expect(parse(text)).toMatchObject({
      node: { urls: [url], network: 'development' },
      miner: { 'public-keys': [publicKey] },
    });
    expect(text).not.toContain('temp-limit');
    expect(terminal.text()).toContain('pickaxe config example');
    expect(text + terminal.text()).not.toContain(secretKey);

    terminal.type('clear; pickaxe\n');
    await terminal.sees(`Ready to mine on ${url}`);
    terminal.type('clear; pickaxe mine --blocks 1; echo "mined, code $?"\n');
    await terminal.sees('mined, code 0');
    expect(nodes[0].ledger.stats.accepted).toBeGreaterThanOrEqual(1);
  });

  it('asks again when an answer is not valid, and says what the node needs to know', async () => {
    const url = await startNode({
      network: 'testnet04',
      miners: [{ account: 'someone', predicate: 'keys-all', 'public-keys': [KEY] }],
    });
    const terminal = open();
    await init(terminal, '--user');
    await answer(terminal, NODE_URL, 'my node\n');
    await terminal.sees('it has a space in it');
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
    await terminal.sees(/coordination:\s+enabled: true\s+miners:\s+- account: "k:/);
    await terminal.sees('the account');
    terminal.press('Down', 'Enter');
    await answer(terminal, /like to change\? the account(?:.|\n)*\? Account [^\n]*\n*$/, 'someone\n');
    await terminal.sees('Anybody can take a name that is not k: and a key');
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
    await init(terminal);
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
    expect(terminal.text()).not.toContain('coordination:');
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

  it('says on which chains the account has other keys, and lets the user change it or go on', async () => {
    const taken = { account: 'shared', keys: ['cd'.repeat(32)] };
    const mine = { account: 'mine', keys: [KEY], chains: [0, 1] };
    const url = await startNode({
      chains: 4,
      accounts: [{ ...taken, chains: [1, 3] }, { ...taken, account: 'whole' }, mine],
    });
    const terminal = open();
    await initWithAccount(terminal, url, 'whole');
    await terminal.sees(
      /fault +account +whole exists with other keys or another predicate on chains 0, 1, 2, 3:\s+\{.*cdcd/,
    );
    await terminal.sees(/why: blocks there cannot pay it(?:.|\n)*The account has other keys than this miner/);
    // The node's operator could not help.
    expect(terminal.text()).not.toContain('coordination:');
    await chooseAccount(terminal, 'shared', 1);
    await terminal.sees(
      /warning +account +shared exists with other keys or another predicate on chains 1, 3:\s+\{.*cdcd/,
    );
    await chooseAccount(terminal, 'mine', 2);
    await terminal.sees('code 0');
    expect(terminal.text()).not.toMatch(/account +mine/);
    const file = join(terminal.directory, 'pickaxe.toml');
    expect(parse(readFileSync(file, 'utf8')).miner).toEqual({ 'public-keys': [KEY], account: 'mine' });

    terminal.type('rm pickaxe.toml; clear\n');
    await terminal.wipe();
    await initWithAccount(terminal, url, 'shared');
    await terminal.sees(OTHER_KEYS);
    terminal.press('Enter');
    await terminal.sees('code 0');
    expect(parse(readFileSync(file, 'utf8')).miner).toEqual({ 'public-keys': [KEY], account: 'shared' });
  });

  it('goes on when the node cannot tell whose the account is, and says so', async () => {
    const url = await startNode();
    nodes[0].server.faults = [{ endpoint: 'local', kind: 'unavailable' }];
    const terminal = open();
    await initWithAccount(terminal, url, 'shared');
    await terminal.sees('code 0');
    expect(terminal.text()).toMatch(/account +shared was not checked on chains 0, 1, .*503/s);
    expect(existsSync(join(terminal.directory, 'pickaxe.toml'))).toBe(true);
  });

  it('asks whether a certificate that no authority vouches for is the node’s, and writes its fingerprint to the file', async () => {
    const front = await TlsFront.start(selfSigned, await startNode());
    const { fingerprint256, raw } = new X509Certificate(selfSigned.cert);
    const terminal = open();
    await init(terminal);
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
    expect(terminal.text()).toContain('pickaxe reads TOML only');
  });

  it('writes nothing when it is interrupted', async () => {
    const terminal = open();
    await init(terminal);
    await terminal.sees(NODE_URL);
    terminal.press('C-c');
    await terminal.sees('code 130');
    expect(existsSync(join(terminal.directory, 'pickaxe.toml'))).toBe(false);
  });
});

describe.skipIf(noTmux)(`pickaxe init for a pool${why}`, () => {
  it('asks, checks, and writes a file that mines, with the password in a file of its own', async () => {
    const { pool, url } = await startPool();
    const terminal = open();
    const taken = join(terminal.directory, 'pool.password');
    writeFileSync(taken, 'mine\n');
    await initOnPool(terminal);
    await answer(terminal, POOL_URL, 'http://127.0.0.1:1\n');
    await terminal.sees('this is the URL of a node');
    terminal.press('C-u');
    terminal.type('stratum+tcp://127.0.0.1:9\n');
    await terminal.sees('nothing listens there');
    await answer(terminal, /Use it anyway\? [^\n]*\n*$/, '\n');
    await answer(terminal, /anyway\? No\n(?:.|\n)*\? Pool URL *\n*$/, `${url}\n`);
    await answer(terminal, ANOTHER_POOL, '\n');
    await answer(terminal, USER, 'k:abc.rig1\n');
    await answer(terminal, PASSWORD, 'd=12345\n');
    await answer(terminal, /\? File for the password [^\n]*\n*$/, '\n');
    await terminal.sees('already exists and stays as it is');
    terminal.press('C-u');
    terminal.type('secret/mine\n');
    await terminal.sees('code 0');
    for (const well of ['connection', 'user', 'work']) expect(terminal.text()).toMatch(new RegExp(`ok +${well}`));

    const text = readFileSync(join(terminal.directory, 'pickaxe.toml'), 'utf8');
    const { pool: set, ...others } = parse(text);
    expect(set).toEqual({ urls: [url], user: 'k:abc.rig1', 'password-file': 'secret/mine' });
    expect(Object.keys(others)).not.toContain('node');
    expect(Object.keys(others)).not.toContain('miner');
    expect(text + terminal.text()).not.toContain('12345');
    const file = join(terminal.directory, 'secret', 'mine');
    expect(readFileSync(file, 'utf8')).toBe('d=12345\n');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(taken, 'utf8')).toBe('mine\n');

    await terminal.sees('To start mining: pickaxe mine --config pickaxe.toml');
    terminal.type('clear; pickaxe mine --config pickaxe.toml --blocks 1; echo "mined, code $?"\n');
    await terminal.sees('mined, code 0');
    expect(pool.stats.blocks).toBeGreaterThanOrEqual(1);
    expect([...pool.passwords]).toEqual(['d=12345']);
  });

  it('offers to change what the pool does not take, and writes the fingerprint of its certificate', async () => {
    const { pool, url } = await startPool({ identity: selfSigned, user: 'someone.rig1' });
    const { fingerprint256, raw } = new X509Certificate(selfSigned.cert);
    const terminal = open();
    await initOnPool(terminal, '--user');
    await answer(terminal, POOL_URL, `${url}\n`);
    await terminal.sees(fingerprint256);
    await answer(terminal, /Is that the fingerprint of your pool\? [^\n]*\n*$/, 'y\n');
    await answer(terminal, ANOTHER_POOL, '\n');
    expect(pool.users.size).toBe(0);
    await answer(terminal, USER, 'nobody.rig1\n');
    await answer(terminal, PASSWORD, '\n');
    await terminal.sees('The pool gives this user no work. What would you like to change?');
    terminal.press('Down', 'Enter');
    await answer(terminal, /like to change\? the user\n(?:.|\n)*\? User[^\n]*\n*$/, 'someone.rig1\n');
    await terminal.sees('code 0');
    expect([...pool.users]).toEqual(['nobody.rig1', 'someone.rig1']);
    const settings = join(terminal.directory, '.config', 'pickaxe');
    expect(readdirSync(settings)).toEqual(['config.toml']);
    expect(parse(readFileSync(join(settings, 'config.toml'), 'utf8')).pool).toEqual({
      urls: [url],
      user: 'someone.rig1',
      fingerprints: [`${url}=${fingerprintOf(raw)}`],
    });
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
  const onNode = { node: { urls: ['http://a'], publicKey: KEY } };
  const onPool = {
    pool: { urls: ['stratum+tcp://a:1'], user: 'me.rig', password: { file: 'pool.password', text: 'geheim' } },
  };
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'pickaxe-init-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Writes from a shell with this umask, because the threads of vitest cannot change theirs. */
  function write(
    file: string,
    replaces: boolean,
    umask: string,
    { before = 'true', answers = onNode as Answers } = {},
  ) {
    const program = `import { write } from ${JSON.stringify(WRITE)}; write(...JSON.parse(process.argv[1]))`;
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
    // No file may grow, which for the writer is like a full disk.
    const { stderr } = write(file, replaces, '022', { before: 'ulimit -f 0' });
    expect(stderr).toContain('config.toml could not be written: EFBIG');
    expect(readdirSync(folder)).toEqual(replaces ? ['config.toml'] : []);
    if (replaces) expect(readFileSync(file, 'utf8')).toBe('# mine\n');
  });

  it('has the password in a file of its own, which only its owner can read', () => {
    const file = join(folder, 'config.toml');
    expect(write(file, false, '000', { answers: onPool })).toEqual({ status: 0, stderr: '' });
    const password = join(folder, 'pool.password');
    expect(readFileSync(password, 'utf8')).toBe('geheim\n');
    expect(statSync(password).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain('geheim');
  });

  it('takes its password with it when it cannot be written', () => {
    const file = join(folder, 'config.toml');
    writeFileSync(file, '# mine\n');
    expect(write(file, false, '022', { answers: onPool }).stderr).toContain('config.toml could not be written: EEXIST');
    expect(readdirSync(folder)).toEqual(['config.toml']);
    expect(readFileSync(file, 'utf8')).toBe('# mine\n');
  });

  it('is not written where the password would replace a file', () => {
    const password = join(folder, 'pool.password');
    writeFileSync(password, 'mine');
    const { stderr } = write(join(folder, 'config.toml'), false, '022', { answers: onPool });
    expect(stderr).toContain('pool.password could not be written: EEXIST');
    expect(readdirSync(folder)).toEqual(['pool.password']);
    expect(readFileSync(password, 'utf8')).toBe('mine');
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
