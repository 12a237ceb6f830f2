import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import type { SweepIo } from '#pickaxe/cli/coins/sweep/coin-session.js';
import { runSweep, type SweepOptions, SweepReport } from '#pickaxe/cli/coins/sweep/sweep.js';
import { runTxSign } from '#pickaxe/cli/coins/tx/sign.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { expectShape } from '../../expect-shape.ts';
import { nodesOf } from '../../miner/source/node/node.ts';
import { secondAddress } from '../../node/client/second-address.ts';
import { json, lyingNode } from '../../node/sweep/lying-node.ts';
import { ACCOUNT, PAIR, SECRET, World } from '../../node/sweep/world.ts';
import { pickaxeIn } from '../in-process.ts';
import { type Printed, pretendedIo, sweepIo } from '../pretended-io.ts';

const startNode = nodesOf('chainweb');

const OPTIONS: SweepOptions = {
  toChain: 0,
  keep: parseDecimal('0.001'),
  min: parseDecimal('0.01'),
  yes: false,
  resume: false,
  timeout: 60,
  json: false,
};

let world: World;
let keyFile: string;
let state: string;
let printed: Printed;

beforeEach(async () => {
  world = await World.make();
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-sweep-cli-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  keyFile = join(directory, 'key.json');
  state = join(directory, 'state');
  writeFileSync(keyFile, JSON.stringify({ publicKey: PAIR.publicKey, secretKey: SECRET }), { mode: 0o600 });
  printed = { stdout: '', stderr: '' };
});

function sweep(
  options: Partial<SweepOptions> = {},
  io: Partial<SweepIo> = {},
  urls = [world.url],
  settings: Record<string, string[] | string | undefined> = {},
  cwd = tmpdir(),
): Promise<number> {
  const usual = { 'node.urls': urls, 'node.network': 'development', 'miner.account': ACCOUNT };
  const flags = new Map(
    Object.entries({ ...usual, ...settings }).flatMap(([path, value]) => (value === undefined ? [] : [[path, value]])),
  );
  const loaded = loadConfig({ flags, environment: {}, cwd });
  const own = sweepIo(world, state, printed);
  return runSweep(loaded, { ...OPTIONS, ...options }, { ...own, ...io });
}

async function outOf(options: Partial<SweepOptions>, flags: Record<string, string[] | string>): Promise<string> {
  printed.stdout = '';
  await sweep(options, {}, [world.url], flags);
  return printed.stdout;
}

/** A single run grows the chains meanwhile, as a network does. */
async function finished(options: Partial<SweepOptions>): Promise<number> {
  const timer = setInterval(() => world.grow(), 20);
  try {
    return await sweep(options);
  } finally {
    clearInterval(timer);
  }
}

describe('pickaxe sweep', () => {
  it('shows what it would do, and sends nothing', async () => {
    const before = world.total();
    expect(await sweep()).toBe(0);
    expect(printed.stdout).toMatch(/^ +1 {2}planned {2} +91\.49899737$/m);
    expect(printed.stdout).toMatch(/^ +total {2} +182\.99799474$/m);
    expect(printed.stdout).toContain('Gas costs at most 0.00005526.');
    expect(printed.stdout).toContain(`The coins arrive for keys-all of\n  ${PAIR.publicKey}\n`);
    expect(printed.stderr).toContain('Nothing was sent. Add --yes');
    world.grow(3);
    expect(world.total()).toBe(before);
    expect(world.balance(1)).toBe(parseDecimal('91.5'));
    expect(readdirSync(state)).toEqual([]);
  });

  it('says that there is nothing to move, and why of each chain', async () => {
    expect(await sweep({ min: parseDecimal('1000'), yes: true, keyFile: [keyFile] })).toBe(0);
    expect(printed.stdout).toMatch(/^ +1 {2}skipped /m);
    expect(printed.stdout).toMatch(/^ +2 {2}skipped /m);
    expect(printed.stdout).not.toContain('planned');
    expect(printed.stderr).toMatch(/There is nothing to move\.\n$/);
  });

  it('does it when told to, and says what has become of each chain', async () => {
    expect(await finished({ yes: true, keyFile: [keyFile], json: true })).toBe(0);
    const report = JSON.parse(printed.stdout);
    expectShape(SweepReport, report);
    expect(report).toMatchObject({ account: ACCOUNT, targetChain: 0, sent: true, network: 'development' });
    expect(report.chains).toHaveLength(2);
    for (const chain of report.chains) expect(chain).toMatchObject({ state: 'done', by: 'us', amount: '91.49899737' });
    expect(world.balance(0)).toBeGreaterThan(parseDecimal('274.49'));
    const [file] = readdirSync(state);
    if (process.platform !== 'win32') expect(statSync(join(state, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(state, file), 'utf8') + printed.stdout + printed.stderr).not.toContain(
      SECRET.slice(0, 16),
    );
    expect(readdirSync(state)).toHaveLength(1); // and no lock
  });

  it('stops when told to, and goes on with --resume', async () => {
    const stop = new AbortController();
    let lines = 0;
    const say = (line: string) => {
      printed.stderr += `${line}\n`;
      if (++lines === 2) stop.abort();
    };
    expect(await sweep({ yes: true, keyFile: [keyFile] }, { say, stop: stop.signal })).toBe(4);
    expect(printed.stdout).toMatch(/^ +1 {2}pending .*request key [\w-]{43}/m);
    expect(printed.stderr).toContain(
      `Go on with: pickaxe sweep --resume --account ${ACCOUNT} --node ${world.url} --network development --key-file ${keyFile}\n`,
    );
    await expect(sweep({ yes: true, keyFile: [keyFile] })).rejects.toThrow(
      `unfinished. Finish it first: pickaxe sweep --resume --account ${ACCOUNT} --node ${world.url}`,
    );
    printed.stdout = '';
    // The warning about the price also comes when a sweep goes on with another price.
    expect(await sweep({ resume: true, gasPrice: parseDecimal('0.0001') })).toBe(4);
    expect(printed.stdout).toMatch(/^Warning: The gas price is 0\.0001, .*mistyped\?$/m);
    printed.stdout = '';
    expect(await sweep({ resume: true })).toBe(4);
    expect(printed.stdout).toMatch(/pending/);
    expect(printed.stdout).not.toContain('Warning');
    const line = `pickaxe sweep --resume --account ${ACCOUNT} --node ${world.url} --network development`;
    await expect(sweep({ resume: true, toChain: 1 })).rejects.toThrow(`Finish it first: ${line}`);
    await expect(sweep({ resume: true, gasStation: 'x' })).rejects.toThrow(`Finish it first: ${line}`);
    await expect(sweep({ resume: true, yes: true })).rejects.toThrow('--key-file');
    // No file has the new price before a command is made with it.
    const left = new AbortController();
    const sayOnly = (line: string) => {
      printed.stderr += `${line}\n`;
    };
    left.abort();
    printed.stderr = '';
    const dearer = { resume: true, yes: true, gasPrice: parseDecimal('0.00000002'), keyFile: [keyFile] };
    expect(await sweep(dearer, { say: sayOnly, stop: left.signal })).toBe(4);
    expect(printed.stderr).toContain(`Go on with: ${line} --gas-price 0.00000002 --key-file ${keyFile}\n`);
    printed.stdout = '';
    expect(await finished({ resume: true, yes: true, keyFile: [keyFile] })).toBe(0);
    expect(printed.stdout.match(/^ +\d {2}done .*gas 0\.0000/gm)).toHaveLength(2);
    expect(await sweep({ resume: true })).toBe(0);
    expect(printed.stderr).toContain('This sweep is finished.');
  });

  it('pays another gas price for what is still to be made, if it is told to', async () => {
    const stop = new AbortController();
    expect(await sweep({ yes: true, keyFile: [keyFile] }, { say: () => stop.abort(), stop: stop.signal })).toBe(4);
    const gasPrice = parseDecimal('0.00000005');
    expect(await finished({ resume: true, yes: true, keyFile: [keyFile], gasPrice })).toBe(0);
    const [file] = readdirSync(state);
    const { transfers } = JSON.parse(readFileSync(join(state, file), 'utf8'));
    const priceOf = ({ cmd }: { cmd: string }) => JSON.parse(cmd).meta.gasPrice;
    expect(transfers.map((it: { step0: { cmd: string } }) => priceOf(it.step0))).toEqual([1e-8, 5e-8]);
    expect(transfers.map((it: { step1: { cmd: string } }) => priceOf(it.step1))).toEqual([5e-8, 5e-8]);
  });

  it('goes on as it was begun, and not to another chain', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await sweep({ yes: true, keyFile: [keyFile] }, { stop: stop.signal })).not.toBe(0);
    const stopped = new AbortController();
    const say = () => stopped.abort();
    expect(await sweep({ yes: true, keyFile: [keyFile] }, { say, stop: stopped.signal })).toBe(4);
    const again = { resume: true, yes: true, keyFile: [keyFile] };
    await expect(sweep({ ...again, toChain: 1 })).rejects.toThrow('This sweep goes to chain 0');
    await expect(sweep({ ...again, gasStation: 'x' })).rejects.toThrow(
      'In this sweep, the account itself pays for the arrival',
    );
    expect(await finished(again)).toBe(0);
  });

  it('signs for no guard but one that the user has named', async () => {
    const other = 'e'.repeat(64);
    const keys = [PAIR.publicKey, other];
    world = await World.make({ accounts: [{ account: 'farm', balance: '50.0', keys, pred: 'keys-any' }] });
    const farm = { 'miner.account': 'farm' };
    const run = { yes: true, keyFile: [keyFile] };
    const fault = await sweep(run, {}, [world.url], farm).catch((error) => error);
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault.message).toContain(`has keys that you have not named: ${other}.`);
    const rude = await lyingNode(world.url, ({ path, body }) => {
      if (!path.includes('/local')) return undefined;
      const data = { account: 'farm', balance: 50, guard: { keys, pred: 'keys-any\u001b[2J' } };
      const metaData = { blockHeight: 5, blockTime: 5 };
      const result = { status: 'success', data };
      return json({
        reqKey: JSON.parse(body).hash,
        result,
        gas: 5,
        txId: null,
        logs: null,
        metaData,
        continuation: null,
      });
    });
    const rudely = await sweep({ ...run, guardKey: [other] }, {}, [rude], farm).catch((error) => error);
    expect(rudely).toBeInstanceOf(UsageError);
    expect(rudely.message).toMatch(/keys-any/);
    expect(rudely.message).not.toContain('\u001b');
    // A file that only lies in this folder may be somebody else's.
    writeFileSync(join(keyFile, '..', 'pickaxe.toml'), `[miner]\npublic-keys = ["${other}"]\npredicate = "keys-any"\n`);
    await expect(sweep(run, {}, [world.url], farm, join(keyFile, '..'))).rejects.toThrow('have not named');
    const withKey = { ...run, guardKey: [other] };
    await expect(sweep(withKey, {}, [world.url], farm, join(keyFile, '..'))).rejects.toThrow('and not keys-all');
    const named = { ...farm, 'miner.public-keys': [other] };
    await expect(sweep(run, {}, [world.url], named)).rejects.toThrow('has the predicate keys-any, and not keys-all');
    expect(world.node.server.stats.requests.send).toBe(0);
    expect(readdirSync(state)).toEqual([]);

    const asked: string[] = [];
    const confirm = async () => {
      asked.push(printed.stderr);
      return false;
    };
    const known = { ...farm, 'miner.predicate': 'keys-any' };
    expect(await sweep({ keyFile: [keyFile], guardKey: [other] }, { confirm }, [world.url], known)).toBe(0);
    // The guard must be seen before the question.
    expect(asked).toEqual([
      expect.stringContaining(`The coins arrive for keys-any of\n  ${PAIR.publicKey}\n  ${other}\n`),
    ]);
    expect(JSON.parse((await outOf({ json: true }, known)) as string).guard).toEqual({ predicate: 'keys-any', keys });
  });

  it('repeats in the line that goes on what the user has said of the nodes and of the guard', async () => {
    const other = 'e'.repeat(64);
    const keys = [PAIR.publicKey, other];
    world = await World.make({ accounts: [{ account: 'farm', balance: '50.0', keys, pred: 'keys-any' }] });
    const spare = 'https://127.0.0.1:9';
    const print = `${spare}=${'A'.repeat(43)}`;
    const flags = {
      'miner.account': 'farm',
      'miner.predicate': 'keys-any',
      'node.network': 'development',
      'node.fingerprints': [print],
    };
    const stop = new AbortController();
    const say = (line: string) => {
      printed.stderr += `${line}\n`;
      stop.abort();
    };
    const run = { yes: true, keyFile: [keyFile], guardKey: [other] };
    expect(await sweep(run, { say, stop: stop.signal }, [world.url, spare], flags)).toBe(4);
    const nodes = `--node ${world.url} --node ${spare} --network development --node-fingerprint ${print}`;
    const guard = `--predicate keys-any --guard-key ${other}`;
    expect(printed.stderr).toContain(
      `Go on with: pickaxe sweep --resume --account farm ${nodes} --key-file ${keyFile} ${guard}\n`,
    );
  });

  it('signs no such guard either that an earlier version has written down', async () => {
    world = await World.make({ accounts: [{ account: 'farm', balance: '50.0', keys: [PAIR.publicKey] }] });
    const other = 'e'.repeat(64);
    const farm = { 'miner.account': 'farm' };
    const stop = new AbortController();
    const say = () => stop.abort();
    const run = { yes: true, keyFile: [keyFile] };
    expect(await sweep(run, { say, stop: stop.signal }, [world.url], farm)).toBe(4);
    const file = join(state, readdirSync(state)[0]);
    const text = readFileSync(file, 'utf8');
    const begun = JSON.parse(text);
    expect(begun.transfers.filter(({ step0 }: { step0: unknown }) => step0 === null)).toHaveLength(1);
    writeFileSync(file, JSON.stringify({ ...begun, guard: { keys: [PAIR.publicKey, other], pred: 'keys-any' } }));
    await expect(sweep({ ...run, resume: true }, {}, [world.url], farm)).rejects.toThrow(`have not named: ${other}`);
  });

  it('asks a person, who may say no', async () => {
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question);
      return false;
    };
    expect(await sweep({ keyFile: [keyFile] }, { confirm })).toBe(0);
    expect(asked).toEqual(['Move these coins?']);
    expect(printed.stderr).toContain('91.49899737');
    expect(readdirSync(state)).toEqual([]);
  });

  it('says what is missing', async () => {
    await expect(sweep({ yes: true })).rejects.toThrow(PAIR.publicKey);
    await expect(sweep({ toChain: undefined as never })).rejects.toThrow('--to-chain');
    await expect(sweep({ resume: true })).rejects.toThrow('No sweep of this account');
    await expect(sweep({}, { stateDirectory: undefined as never })).rejects.toThrow('XDG_STATE_HOME');
  });

  it.skipIf(process.platform === 'win32')('uses no key file that others can read, and never quotes one', async () => {
    chmodSync(keyFile, 0o644);
    const fault = await sweep({ yes: true, keyFile: [keyFile] }).catch((error: Error) => error);
    // With the message of the other commands that take key files.
    const other = await runTxSign('A'.repeat(43), [keyFile], { yes: false }, pretendedIo()).catch((error) => error);
    expect([String(fault), fault]).toEqual([String(other), expect.any(UsageError)]);
    expect(String(fault)).toMatch(/the key file: \S+ cannot be used: other users .* \(chmod go-rwx /);
    chmodSync(keyFile, 0o600);
    writeFileSync(keyFile, JSON.stringify({ publicKey: 'ab'.repeat(32), secretKey: SECRET }));
    const mixed = await sweep({ yes: true, keyFile: [keyFile] }).catch((error: Error) => error);
    expect(mixed).toBeInstanceOf(UsageError);
    expect(`${mixed} ${(mixed as Error).stack} ${fault}`).not.toContain(SECRET.slice(0, 16));
  });

  it('says that a node is away', async () => {
    await world.node.goAway();
    expect(await sweep()).toBe(1);
    expect(printed.stderr).toMatch(/^error: cannot reach http:\S+ \(ECONNREFUSED\)/m);
  });

  it('asks the next node when one is away', async () => {
    expect(await sweep({}, {}, ['http://127.0.0.1:9', world.url])).toBe(0);
    expect(printed.stdout).toContain('182.99799474');
    expect(printed.stderr).toMatch(/^warning: cannot reach http:\/\/127\.0\.0\.1:9 .* The next node is asked\.$/m);
  });

  it('goes on with another node between two turns, and with none of another network', async () => {
    const first = await secondAddress(world.url);
    const other = await startNode({ network: 'testnet04' });
    const say = async (line: string) => {
      printed.stderr += `${line}\n`;
      world.grow();
      if (line.includes('step 0 is sent')) await first.goAway();
    };
    // A user who names no network is asked, and gets the network of the first node.
    const io = { say, confirm: async () => true };
    const urls = [first.url, other.url, world.url];
    expect(await sweep({ keyFile: [keyFile] }, io, urls, { 'node.network': undefined })).toBe(0);
    expect(printed.stderr).toMatch(new RegExp(`^chain \\d: cannot reach ${first.url} `, 'm'));
    expect(printed.stderr).toContain(
      `${first.url} is for the network development, but ${other.url} is asked for testnet04: name a node of the right`,
    );
    const { local, send } = other.node.server.stats.requests;
    expect([local, send]).toEqual([0, 0]);
    expect(printed.stdout.match(/^ +\d {2}done /gm)).toHaveLength(2);
  });

  it('is a command with amounts for options', async () => {
    const args = ['sweep', '--to-chain', '0', '--node', world.url, '--network', 'development', '--account', ACCOUNT];
    const run = (...more: string[]) => pickaxeIn(tmpdir(), [...args, ...more], { XDG_STATE_HOME: state });
    const planned = await run('--keep', '1', '--json');
    expect(planned.code, planned.stderr).toBe(0);
    expect(JSON.parse(planned.stdout)).toMatchObject({ sent: false, total: '180.99999474' });
    const wrong = await run('--min', '1e-3');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Write an amount such as 0.01');
    expect((await run('--guard-key', 'ab'.repeat(32))).code).toBe(0);
    const key = await run('--guard-key', 'ab'.repeat(32), '--guard-key', 'abc');
    expect(key.code).toBe(2);
    expect(key.stderr).toContain('A public key has 64 lower-case hex digits.');
  });
});
