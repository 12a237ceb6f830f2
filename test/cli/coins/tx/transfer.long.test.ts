/**
 * Payments by `pickaxe tx transfer` on the mock node: who gets what, what is refused, and that nothing is paid twice.
 */

import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { UsageError } from '#pickaxe/app/process/exit.js';
import type { SweepIo } from '#pickaxe/cli/coins/sweep/coin-session.js';
import { PaymentReport, runTxTransfer, type TransferOptions } from '#pickaxe/cli/coins/sweep/transfer.js';
import { KeysetGuard } from '#pickaxe/contract/values/values.js';
import { KeyPair } from '#pickaxe/protocol/ledger/command/command.js';
import { formatDecimal, parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { expectShape } from '../../../expect-shape.ts';
import { json, lyingNode } from '../../../node/sweep/lying-node.ts';
import { ACCOUNT, PAIR, SECRET, World } from '../../../node/sweep/world.ts';
import { PATIENCE } from '../../../patience.ts';
import { pickaxeIn } from '../../in-process.ts';
import { start } from '../../pickaxe.ts';
import { type Printed, sweepIo } from '../../pretended-io.ts';

const OTHER = new KeyPair('77'.repeat(32)).publicKey;
const THIRD = new KeyPair('78'.repeat(32)).publicKey;
const BOB = `k:${OTHER}`;

const OPTIONS: TransferOptions = {
  to: BOB,
  amount: parseDecimal('0.5'),
  chain: 0,
  yes: false,
  resume: false,
  timeout: 60,
  json: false,
};

let world: World;
let directory: string;
let keyFile: string;
let state: string;
let printed: Printed;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pickaxe-transfer-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  keyFile = join(directory, 'key.json');
  state = join(directory, 'state');
  writeFileSync(keyFile, JSON.stringify({ publicKey: PAIR.publicKey, secretKey: SECRET }), { mode: 0o600 });
  world = await World.make();
  printed = { stdout: '', stderr: '' };
});

it('on a network that only the node names is sent by nobody who is not asked', async () => {
  const flags = new Map<string, string[] | string>([['node.urls', [world.url]]]);
  const loaded = loadConfig({ flags, environment: {}, cwd: tmpdir() });
  const io = sweepIo(world, state, printed);
  const pay = runTxTransfer(loaded, { ...OPTIONS, keyFile: [keyFile], yes: true }, io);
  await expect(pay).rejects.toThrow(
    'The node says that its network is development, and nobody else does. What is signed for another network than you mean could cost coins there: if it is right, add --network development.',
  );
  expect(world.node.server.stats.requests.send).toBe(0);
  // A user who is asked sees the network in the plan.
  const asked = await runTxTransfer(loaded, { ...OPTIONS, keyFile: [keyFile] }, { ...io, confirm: async () => false });
  expect([asked, printed.stderr]).toEqual([1, expect.stringContaining('network    development, chain 0')]);
});

function transfer(
  options: Partial<TransferOptions> = {},
  io: Partial<SweepIo> = {},
  urls = [world.url],
  account: string | null = ACCOUNT,
): Promise<number> {
  const flags = new Map<string, string[] | string>([
    ['node.urls', urls],
    ['node.network', 'development'],
  ]);
  // Without a name, the key file decides whose the account is.
  if (account !== null) flags.set('miner.account', account);
  const loaded = loadConfig({ flags, environment: {}, cwd: tmpdir() });
  const own = sweepIo(world, state, printed);
  return runTxTransfer(loaded, { ...OPTIONS, ...options }, { ...own, ...io });
}

/** The chains grow meanwhile, as those of a network do. */
async function paid(options: Partial<TransferOptions> = {}, urls = [world.url]): Promise<number> {
  const timer = setInterval(() => world.grow(), 20);
  try {
    return await transfer({ yes: true, keyFile: [keyFile], ...options }, {}, urls);
  } finally {
    clearInterval(timer);
  }
}

const coins = (chain: number, account: string) => formatDecimal(world.balance(chain, account));
const sends = () => world.node.server.stats.requests.send;

describe('a transfer', () => {
  it('is only planned without a key', async () => {
    expect(await transfer()).toBe(0);
    const lines = ['network    development, chain 0', `from       ${ACCOUNT}`, `to         ${BOB}`];
    expect(printed.stdout).toContain(
      [...lines, `${' '.repeat(11)}which is a new account`, 'amount     0.5 of 91.5\n'].join('\n'),
    );
    expect(printed.stdout).toMatch(/^gas {8}at most 0\.0000\d+$/m);
    expect(printed.stderr).toContain('Nothing was sent. Add --yes');
    expect([sends(), readdirSync(state)]).toEqual([0, []]);
  });

  it.each([
    ['0.01', 'Gas may cost more coins than are moved. The gas price is 0.01, the usual one 0.00000001.'],
    ['0.0001', 'The gas price is 0.0001, the usual one 0.00000001: is it mistyped?'],
    ['0.00001', undefined],
  ])('warns of an absurd gas price, before it asks: %s', async (price, warning) => {
    const options = { gasPrice: parseDecimal(price), amount: parseDecimal('0.5') };
    expect(await transfer(options)).toBe(0);
    expect(/^warning {4}(.*)$/m.exec(printed.stdout)?.[1]).toBe(warning);
    printed.stdout = '';
    expect(await transfer({ ...options, json: true })).toBe(0);
    const report = JSON.parse(printed.stdout);
    expectShape(PaymentReport, report);
    expect(report.warning).toBe(warning);
  });

  it('creates the account of a key, and says what has become of it', async () => {
    expect(await paid({ json: true })).toBe(0);
    const report = JSON.parse(printed.stdout);
    expectShape(PaymentReport, report);
    const guard = { predicate: 'keys-all', keys: [OTHER] };
    expect(report).toMatchObject({ from: ACCOUNT, to: BOB, amount: '0.5', guard, sent: true, state: 'done' });
    expect(report).toMatchObject({ chain: 0, targetChain: 0, network: 'development' });
    expect(report).not.toHaveProperty('reason');
    const gas = parseDecimal(report.gasCost);
    expect(gas).toBeGreaterThan(0n);
    expect(world.balance(0)).toBe(parseDecimal('91.0') - gas);
    expect([coins(0, BOB), coins(1, BOB)]).toEqual(['0.5', '0.0']);
    const [file, ...more] = readdirSync(state);
    expect(more).toEqual([]); // and no lock
    if (process.platform !== 'win32') expect(statSync(join(state, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(state, file), 'utf8') + printed.stdout + printed.stderr).not.toContain(
      SECRET.slice(0, 16),
    );
  });

  it('is exact, to the last of 12 places', async () => {
    for (const text of ['0.1', '0.2', '0.000000000001']) expect(await paid({ amount: parseDecimal(text) })).toBe(0);
    expect(coins(0, BOB)).toBe('0.300000000001');
    expect(readdirSync(state)).toHaveLength(3);
  });

  it('asks a person, who sees the plan first and may say no', async () => {
    const asked: string[] = [];
    const confirm = async (question: string) => {
      asked.push(question, printed.stderr);
      return false;
    };
    expect(await transfer({ keyFile: [keyFile] }, { confirm })).toBe(1);
    expect(asked).toEqual(['Send these coins?', expect.stringMatching(/^amount {5}0\.5 of 91\.5$/m)]);
    // The plan was shown with the question, so it is not printed once more.
    expect([sends(), printed.stderr.endsWith('Nothing was sent.\n'), printed.stdout]).toEqual([0, true, '']);
    expect(await transfer({ keyFile: [keyFile] })).toBe(0);
    expect(printed.stderr.endsWith('Nothing was sent. Add --yes to do it.\n')).toBe(true);
    printed.stderr = '';
    const leave = async () => {
      throw Object.assign(new Error('left'), { name: 'ExitPromptError' });
    };
    await expect(transfer({ keyFile: [keyFile] }, { confirm: leave })).rejects.toThrow('left');
    expect([sends(), printed.stderr.endsWith('Nothing was sent.\n'), readdirSync(state)]).toEqual([0, true, []]);
    const timer = setInterval(() => world.grow(), 20);
    onTestFinished(() => clearInterval(timer));
    expect(await transfer({ keyFile: [keyFile] }, { confirm: async () => true })).toBe(0);
    expect(coins(0, BOB)).toBe('0.5');
  });

  it('goes to another chain', async () => {
    expect(await paid({ chain: 1, toChain: 2 })).toBe(0);
    expect([coins(1, BOB), coins(2, BOB)]).toEqual(['0.0', '0.5']);
    expect(printed.stdout).toMatch(/^network {4}development, from chain 1 to chain 2$/m);
    expect(world.balance(2)).toBeLessThan(parseDecimal('91.5'));
  });
});

describe('a transfer is refused', () => {
  const refused = async (
    options: Partial<TransferOptions>,
    message: string | RegExp,
    urls = [world.url],
    account: string | null = ACCOUNT,
  ) => {
    const asked = transfer({ yes: true, keyFile: [keyFile], ...options }, {}, urls, account);
    const fault = await asked.catch((error) => error);
    expect(fault).toBeInstanceOf(UsageError);
    expect(fault.message).toMatch(message);
    expect([sends(), readdirSync(directory).includes('state') && readdirSync(state)].flat()).toEqual([0]);
  };

  it('when there is too little, also for the gas', async () => {
    await refused(
      { amount: parseDecimal('91.5') },
      'has 91.5 coins on chain 0, too little for 91.5 and the gas, which can cost 0.000025 at a gas price of 0.00000001: up to 0.000025 is missing.',
    );
    // The account is left with the cost of 100 units of gas. The trial on the node shows that these are too few.
    await refused(
      { amount: parseDecimal('91.499999') },
      'has 91.5 coins on chain 0, too little for 91.499999 and the gas, which can cost 0.000025 at a gas price of 0.00000001: up to 0.000024 is missing.',
    );
    await refused({ amount: parseDecimal('1000') }, 'up to 908.500025 is missing.');
  });

  it('when it is nothing, or to oneself, or on no chain', async () => {
    await refused({ amount: 0n }, 'The amount must be above 0.');
    await refused({ to: ACCOUNT }, `--to names the account that pays, ${ACCOUNT}, which --account has named`);
    await refused({ to: ACCOUNT }, `${ACCOUNT}, which the key file ${keyFile} has named`, [world.url], null);
    await refused({ chain: 7 }, 'The network has no chain 7: it has 3.');
    await refused({ toChain: 3 }, 'The network has no chain 3: it has 3.');
    await refused({ gasStation: 'kadena-xchain-gas' }, 'leave --gas-station out');
  });

  it('with other keys than those of the account, or none', async () => {
    const wrong = join(directory, 'wrong.json');
    writeFileSync(wrong, JSON.stringify({ publicKey: OTHER, secretKey: '77'.repeat(32) }), { mode: 0o600 });
    await refused({ keyFile: [wrong] }, `needs signatures of ${PAIR.publicKey}`);
    await refused({ keyFile: [] }, `Name the key files of the account with --key-file: ${PAIR.publicKey}`);
  });

  it('without what to pay, to whom, and where', async () => {
    await refused({ to: undefined as never }, '--to ACCOUNT');
    await refused({ amount: undefined as never }, '--amount');
    await refused({ chain: undefined as never }, '--chain N');
    await refused({ receiverPredicate: 'keys-any' }, 'name them with --receiver-key');
  });

  it('to a key that nobody can have, or that is none', async () => {
    await refused({ to: `k:${'d'.repeat(64)}` }, /Nobody can sign with the key d+, .* Is it mistyped\?/);
    await refused({ to: BOB.slice(0, -1) }, 'behind k: there must be a key of 64 lower-case hex digits');
    await refused({ to: OTHER }, `For the account of this key, write k:${OTHER}.`);
    await refused({ to: BOB, receiverKey: [THIRD] }, 'name says its only key');
    await refused({ to: 'joint', receiverKey: [OTHER, OTHER] }, 'which nobody could satisfy');
  });
});

describe('the name of the account that gets the coins', () => {
  it('must exist, or its keys must be named', async () => {
    await expect(transfer({ to: 'bob' })).rejects.toThrow(/"bob" does not exist on chain 0\. .*--receiver-key/);
    expect(await paid({ to: 'bob', receiverKey: [OTHER, THIRD], receiverPredicate: 'keys-any' })).toBe(0);
    expect(coins(0, 'bob')).toBe('0.5');
    const made = world.node.ledger.chains.tip(0).payload.state.account('bob')!.guard;
    expect(made).toEqual(new KeysetGuard([OTHER, THIRD].sort(), 'keys-any'));
    await expect(transfer({ to: 'bob', chain: 1, toChain: 2, receiverKey: [OTHER] })).rejects.toThrow(
      'Anybody could take its name before the coins arrive',
    );
  });

  describe('when it exists', () => {
    const accounts = [
      { account: ACCOUNT, balance: '91.5' },
      { account: 'bob', balance: '1.0', keys: [OTHER] },
      { account: `k:${THIRD}`, balance: '1.0', keys: [OTHER] },
    ];

    beforeEach(async () => {
      world = await World.make({ accounts });
    });

    it('is paid, and the plan shows who has it', async () => {
      expect(await transfer({ to: 'bob' })).toBe(0);
      expect(printed.stdout).toMatch(
        new RegExp(`^to {9}bob\n {11}which by the word of the node belongs to\n {11}${OTHER}$`, 'm'),
      );
      expect(await paid({ to: 'bob' })).toBe(0);
      expect(coins(0, 'bob')).toBe('1.5');
      expect(await paid({ to: 'bob', receiverKey: [OTHER] })).toBe(0);
      expect(coins(0, 'bob')).toBe('2.0');
    });

    it('is not paid when it has other keys than it should', async () => {
      await expect(transfer({ to: 'bob', receiverKey: [THIRD] })).rejects.toThrow('and not those that you have named');
      await expect(transfer({ to: `k:${THIRD}` })).rejects.toThrow('and not the key of its name');
      expect(sends()).toBe(0);
    });

    it('is paid on another chain only for keys that the user has named', async () => {
      const elsewhere = { to: 'bob', chain: 1, toChain: 2 };
      await expect(transfer(elsewhere)).rejects.toThrow('name its keys with --receiver-key');
      expect(await paid({ ...elsewhere, receiverKey: [OTHER] })).toBe(0);
      expect([coins(1, 'bob'), coins(2, 'bob')]).toEqual(['1.0', '1.5']);
    });

    it('is not paid when two nodes disagree about it', async () => {
      const other = await World.make({ accounts: [{ account: 'bob', balance: '1.0', keys: [THIRD] }] });
      await expect(transfer({ to: 'bob' }, {}, [world.url, other.url])).rejects.toThrow(
        /Two nodes disagree about the account "bob" on chain 0/,
      );
    });
  });

  it('creates no other account, whatever a node says', async () => {
    world = await World.make({
      accounts: [
        { account: ACCOUNT, balance: '91.5' },
        { account: BOB, balance: '1.0', keys: [THIRD] },
      ],
    });
    // The node hides that somebody else has the account, which only the ledger itself shows.
    const liar = await lyingNode(world.url, ({ path, body }) => {
      if (!path.includes('/local') || !body.includes('details') || !body.includes(BOB)) return undefined;
      const message = `No value found in table coin_coin-table for key: ${BOB}`;
      const result = { status: 'failure', error: { message, type: 'EvalError', info: '', callStack: [] } };
      const { hash: reqKey } = JSON.parse(body);
      return json({ reqKey, result, gas: 5, txId: null, logs: null, metaData: null, continuation: null });
    });
    expect(await transfer({ yes: true, keyFile: [keyFile] }, {}, [liar])).toBe(1);
    expect(printed.stderr).toContain('account guards do not match');
    expect([sends(), coins(0, BOB)]).toEqual([0, '1.0']);
  });
});

describe('nothing is paid twice', () => {
  const again = { to: undefined as never, amount: undefined as never, chain: undefined as never };
  const resume = { ...again, resume: true };

  it('when the answer of the node is lost', async () => {
    world.node.server.faults = [{ endpoint: 'send', kind: 'lost-answer', times: 1 }];
    const before = world.commands(0);
    expect(await paid()).toBe(0);
    expect([coins(0, BOB), world.commands(0)]).toEqual(['0.5', before + 1]);
  });

  it('when a person ends the waiting', async () => {
    const stop = new AbortController();
    const say = (line: string) => {
      printed.stderr += `${line}\n`;
      stop.abort();
    };
    expect(await transfer({ yes: true, keyFile: [keyFile] }, { say, stop: stop.signal })).toBe(4);
    expect(printed.stderr).toMatch(
      /^Stopped waiting: there is no result yet, .*\n.* --resume --.*\n.*: pickaxe tx poll [\w-]{43} --chain 0 --.*$/m,
    );
    // Nothing is left to sign, so the line names no key file.
    expect(printed.stderr).toContain(
      `Go on with: pickaxe tx transfer --resume --account ${ACCOUNT} --node ${world.url} --network development\n`,
    );
    expect(printed.stderr).not.toMatch(/after \d+ (s|min)/);
    const [, key] = /^command {4}([\w-]{43})$/m.exec(printed.stdout)!;
    await expect(transfer({ yes: true, keyFile: [keyFile] })).rejects.toThrow(
      /unfinished \(0\.5 to k:\w+\)\. Finish it first, so that nothing is paid twice: pickaxe tx transfer --resume --account k:\w+ --node http/,
    );
    expect(await transfer(resume)).toBe(4);
    await expect(transfer({ resume: true, amount: parseDecimal('0.6') })).rejects.toThrow(
      new RegExp(
        `one of 0\\.5 to k:.*\\. Go on with it as it is: pickaxe tx transfer --resume --account ${ACCOUNT} --node http`,
      ),
    );
    printed.stdout = '';
    // The transfer needs its key no more.
    expect(await paid({ ...resume, keyFile: [] })).toBe(0);
    expect(printed.stdout).toContain(`command    ${key}\n`);
    expect([coins(0, BOB), world.commands(0)]).toEqual(['0.5', 1]);
    expect(await transfer(resume)).toBe(0);
    expect(printed.stderr).toContain('This transfer is finished.');
    expect(await paid()).toBe(0);
    expect(coins(0, BOB)).toBe('1.0');
  });

  it('and after a no, the words say that it may still arrive', async () => {
    const stop = new AbortController();
    const say = () => stop.abort();
    expect(await transfer({ yes: true, keyFile: [keyFile] }, { say, stop: stop.signal })).toBe(4);
    const [, key] = /^command {4}([\w-]{43})$/m.exec(printed.stdout)!;
    const text = `Nothing more was sent; the transfer may still arrive: pickaxe tx poll ${key} --chain 0 --node ${world.url} --network development`;
    printed.stdout = '';
    printed.stderr = '';
    expect(await transfer({ ...resume, keyFile: [keyFile] }, { confirm: async () => false })).toBe(1);
    expect([printed.stderr.split('\n').at(-2), printed.stdout]).toEqual([text, '']);
    const leave = async () => {
      throw Object.assign(new Error('left'), { name: 'ExitPromptError' });
    };
    await expect(transfer(resume, { confirm: leave })).rejects.toThrow('left');
    expect([printed.stderr.split('\n').at(-2), printed.stderr.includes('--yes')]).toEqual([text, false]);
    expect(await transfer(resume)).toBe(4);
    expect(printed.stderr.endsWith(`${text}\nAdd --yes to do it.\n`)).toBe(true);
  });

  it('without a warning, after a failure that only a node has reported', async () => {
    const failing = await lyingNode(world.url, async ({ path, body }) => {
      if (!path.includes('/poll')) return undefined;
      const [reqKey] = JSON.parse(body).requestKeys;
      const result = { status: 'failure', error: { message: 'Insufficient funds' } };
      return json({ [reqKey]: { reqKey, result, gas: 600, txId: null, logs: null, events: [], continuation: null } });
    });
    // A result that names no block is no proof, so this one is from an earlier version, which trusted the node.
    const stop = new AbortController();
    const say = (line: string) => {
      printed.stderr += `${line}\n`;
      stop.abort();
    };
    expect(await transfer({ yes: true, keyFile: [keyFile] }, { say, stop: stop.signal }, [failing])).toBe(4);
    const [file] = readdirSync(state).map((name) => join(state, name));
    const begun = JSON.parse(readFileSync(file, 'utf8'));
    begun.transfers[0].outcome = { state: 'failed', reason: 'x', gasCost: '0.0' };
    writeFileSync(file, JSON.stringify(begun));
    const { hash } = begun.transfers[0].step0;
    const warning = `warning: the last transfer of this account was the same, and nothing but the word of your node says that it has failed. Ask another node before you pay again: pickaxe tx poll ${hash} --chain 0 --node ${world.url}`;
    printed.stderr = '';
    await transfer();
    expect(printed.stderr).toContain(warning);
    printed.stderr = '';
    await transfer({ amount: parseDecimal('0.25') });
    expect(printed.stderr).not.toContain('warning');
    for (const outcome of [
      { ...begun.transfers[0].outcome, provenBy: 'work' },
      { state: 'done', by: 'us', gasCost: '0.0' },
    ]) {
      writeFileSync(file, JSON.stringify({ ...begun, transfers: [{ ...begun.transfers[0], outcome }] }));
      printed.stderr = '';
      await transfer();
      expect(printed.stderr).not.toContain('warning');
    }
  });

  it('and one that was never signed gives its place to another one', async () => {
    const stop = new AbortController();
    const confirm = async () => {
      stop.abort();
      return true;
    };
    const named = join(directory, "the owner's key.json");
    copyFileSync(keyFile, named);
    expect(await transfer({ keyFile: [named], json: true }, { confirm, stop: stop.signal })).toBe(4);
    const flags = `--account ${ACCOUNT} --node ${world.url} --network development --key-file '${directory}/the owner'\\''s key.json'`;
    if (process.platform !== 'win32') expect(printed.stderr).toContain(`pickaxe tx transfer --resume ${flags}\n`);
    expect(JSON.parse(printed.stdout)).toMatchObject({ state: 'planned', sent: false });
    expect(printed.stderr).toMatch(/^Nothing was signed or sent\.\nTry again with: pickaxe tx transfer --resume/m);
    expect(printed.stderr).not.toMatch(/may still move|Do not pay again/);
    expect([sends(), readdirSync(state)]).toEqual([0, [expect.stringMatching(/^transfer-.*\.json$/)]]);
    expect(await paid({ amount: parseDecimal('0.25') })).toBe(0);
    expect([coins(0, BOB), readdirSync(state).length]).toEqual(['0.25', 1]);
  });

  it('when the process is killed between the command and its answer', async () => {
    const silent = await lyingNode(world.url, async ({ path }, truth) => {
      if (!path.includes('/send')) return undefined;
      await truth();
      return await new Promise<never>(() => {});
    });
    const args = ['tx', 'transfer', '--to', BOB, '--amount', '0.5', '--chain', '0', '--node', silent];
    const killed = start([...args, '--network', 'development', '--key-file', keyFile, '--yes'], {
      XDG_STATE_HOME: state,
    });
    await vi.waitFor(() => expect(sends()).toBe(1), PATIENCE);
    killed.child.kill('SIGKILL');
    await once(killed.child, 'close');
    state = join(state, 'pickaxe');
    await expect(transfer({ yes: true, keyFile: [keyFile] })).rejects.toThrow(
      'Finish it first, so that nothing is paid twice: pickaxe tx transfer --resume',
    );
    expect(await paid(resume)).toBe(0);
    expect([coins(0, BOB), world.commands(0)]).toEqual(['0.5', 1]);
  });

  it('when the node says that it has failed, and the block says otherwise', async () => {
    const liar = await lyingNode(world.url, ({ path, body }) => {
      if (!path.includes('/poll')) return undefined;
      const [reqKey] = JSON.parse(body).requestKeys;
      const result = { status: 'failure', error: { message: 'no', type: 'TxFailure', info: '', callStack: [] } };
      const metaData = { blockHeight: Number(world.node.ledger.chains.heightOf(0)) - 3 };
      const more = { gas: 5, txId: null, logs: null, continuation: null, metaData };
      return json({ [reqKey]: { reqKey, result, ...more } });
    });
    world.grow(5);
    const stop = new AbortController();
    const said = /the node says of the transfer: failure\. But the block of height \d+ does not say so/;
    const stopped = transfer({ yes: true, keyFile: [keyFile] }, { stop: stop.signal }, [liar]);
    await vi.waitFor(() => expect(printed.stderr).toMatch(said), PATIENCE);
    stop.abort();
    expect(await stopped).toBe(4);
    await expect(transfer({ yes: true, keyFile: [keyFile] })).rejects.toThrow('unfinished');
    expect(await paid(resume)).toBe(0);
    expect([coins(0, BOB), world.commands(0)]).toEqual(['0.5', 1]);
  });
});

describe('the command line', () => {
  const args = () => [
    'tx',
    'transfer',
    '--to',
    BOB,
    '--chain',
    '0',
    '--node',
    world.url,
    '--network',
    'development',
    '--key-file',
    keyFile,
  ];

  it.each(['1e-13', '0.0000000000001', '-1', '0.1+0.2', '.5', '1,5', ''])('takes no amount like %j', async (amount) => {
    const run = await pickaxeIn(directory, [...args(), '--amount', amount], { XDG_STATE_HOME: state });
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('Write an amount such as 0.01, with at most 12 decimal places.');
    expect(run.stderr).not.toContain('internal error');
  });

  it('prints a plan where nobody can be asked', async () => {
    const run = await pickaxeIn(directory, [...args(), '--amount', '0.5', '--json'], { XDG_STATE_HOME: state });
    expect(run.code, run.stderr).toBe(0);
    expect(JSON.parse(run.stdout)).toMatchObject({
      sent: false,
      state: 'planned',
      isNew: true,
      balance: '91.5',
    });
    const nothing = await pickaxeIn(directory, [...args(), '--amount', '0'], { XDG_STATE_HOME: state });
    expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('The amount must be above 0.')]);
  });
});
