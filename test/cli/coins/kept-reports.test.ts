/** What `pickaxe sweep` and `pickaxe tx transfer` print about what an earlier run has kept, to the last character. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '#pickaxe/app/config/load.js';
import { NEVER } from '#pickaxe/base/system/abort.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { runSweep } from '#pickaxe/cli/coins/sweep/sweep.js';
import { runTxTransfer } from '#pickaxe/cli/coins/sweep/transfer.js';
import { SweepStore } from '#pickaxe/node/sweep/state-files.js';
import { type Outcome, plannedTransfer, type Sweep, type Transfer } from '#pickaxe/node/sweep/sweep-state.js';
import { requestKeyOfCmd } from '#pickaxe/protocol/ledger/command/command.js';
import { parseDecimal } from '#pickaxe/protocol/ledger/decimal.js';
import { decodeBase64url } from '#pickaxe/protocol/ledger/json.js';
import { ACCOUNT, PAIR } from '../../node/sweep/world.ts';

const coins = parseDecimal;
const OTHER = 'e'.repeat(64);
const GUARD = { keys: [PAIR.publicKey, OTHER], pred: 'keys-any' };

function signed(chain: number) {
  const meta = { chainId: `${chain}`, sender: 'a', gasLimit: 1, gasPrice: 1e-8, ttl: 600, creationTime: 1 };
  const payload = { exec: { code: '1', data: null } };
  const cmd = JSON.stringify({ networkId: 'own', payload, signers: [{ pubKey: PAIR.publicKey }], meta, nonce: '' });
  const hash = requestKeyOfCmd(cmd);
  return { cmd, hash, sigs: [{ sig: PAIR.sign(decodeBase64url(hash)) }] };
}

function moved(chain: number, outcome?: Outcome | null, amount = '1.5'): Transfer {
  const planned = plannedTransfer(chain, coins(amount), 2_500);
  return outcome === undefined ? planned : { ...planned, step0: signed(chain), signedMs: 1, outcome };
}

const done = (by: 'us' | 'somebody else', provenBy: Outcome['provenBy']): Outcome => ({
  ...{ state: 'done', by, provenBy },
  gasCost: coins('0.00001'),
});
const failed = (reason: string, provenBy: Outcome['provenBy']): Outcome => ({
  ...{ state: 'failed', reason, provenBy },
  gasCost: coins('0.00002'),
});

const SWEEP: Sweep = {
  ...{ network: 'own', account: ACCOUNT, guard: GUARD, receiver: null, targetChain: 0 },
  ...{ gasPrice: coins('0.00000001'), gasStation: null, startedMs: 1, transfers: [] },
};

/** @returns what the command with --resume prints about this state, with its code, or why it refuses */
async function resumed(
  kind: 'sweep' | 'transfer',
  changes: Partial<Sweep>,
  options: object = {},
  named: object = { 'miner.account': ACCOUNT },
) {
  const sweep = { ...SWEEP, ...changes };
  const directory = mkdtempSync(join(tmpdir(), 'pickaxe-kept-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const store = new SweepStore(directory, sweep.network, sweep.account, kind);
  store.open();
  store.save(sweep);
  store.close();
  const settings = { 'node.urls': ['http://127.0.0.1:9'], 'node.network': 'own', ...named };
  const flags = new Map<string, string | string[]>(Object.entries(settings));
  const loaded = loadConfig({ flags, environment: {}, cwd: directory });
  let text = '';
  const io = {
    out: (it: string) => {
      text += it;
    },
    say: (it: string) => {
      text += `> ${it}\n`;
    },
    ...{ confirm: async () => undefined, stateDirectory: directory, clock: systemClock, pauseMs: 1, stop: NEVER },
  };
  const usual = { yes: false, resume: true, timeout: 1, json: false, keep: 0n, min: 0n, ...options };
  try {
    const code = kind === 'sweep' ? await runSweep(loaded, usual, io) : await runTxTransfer(loaded, usual, io);
    text += `code ${code}`;
  } catch (error) {
    text += `${error}`;
  }
  return text
    .replaceAll(PAIR.publicKey, 'KEY')
    .replaceAll(OTHER, 'OTHER')
    .replace(/(?<= |")[\w-]{43}(?=[ :"\n]|$)/gm, 'HASH');
}

const ENDED = [
  moved(1, done('us', 'work')),
  moved(2, done('somebody else', 'nodes'), '20.25'),
  moved(3, failed('no\ngas', 'node')),
  moved(4, failed('too late', null)),
  moved(5, done('us', null)),
];

describe('a sweep that has begun', () => {
  it('is shown with each outcome, for people and as JSON', async () => {
    expect(await resumed('sweep', { transfers: ENDED })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state   amount
          1  done       1.5  gas 0.00001, proven by the work of its blocks
          2  done     20.25  gas 0.00001, finished by somebody else, by the word of the nodes
          3  failed     1.5  gas 0.00002, request key HASH: no gas, by the word of one node
          4  failed     1.5  gas 0.00002, request key HASH: too late
          5  done       1.5  gas 0.00001
             total    26.25
      The coins arrive for keys-any of
        KEY
        OTHER
      > This sweep is finished.
      code 1"
    `);
    const json = await resumed('sweep', { transfers: ENDED }, { json: true });
    expect(JSON.parse(json.split('\n')[0])).toMatchInlineSnapshot(`
      {
        "account": "k:KEY",
        "chains": [
          {
            "amount": "1.5",
            "by": "us",
            "chain": 1,
            "gasCost": "0.00001",
            "provenBy": "work",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "20.25",
            "by": "somebody-else",
            "chain": 2,
            "gasCost": "0.00001",
            "provenBy": "nodes",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "1.5",
            "chain": 3,
            "gasCost": "0.00002",
            "provenBy": "node",
            "reason": "no gas",
            "requestKey": "HASH",
            "state": "failed",
          },
          {
            "amount": "1.5",
            "chain": 4,
            "gasCost": "0.00002",
            "reason": "too late",
            "requestKey": "HASH",
            "state": "failed",
          },
          {
            "amount": "1.5",
            "by": "us",
            "chain": 5,
            "gasCost": "0.00001",
            "requestKey": "HASH",
            "state": "done",
          },
        ],
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "sent": false,
        "targetChain": 0,
        "total": "26.25",
      }
    `);
    const right = { transfers: [moved(1, done('us', 'work'))], guard: { keys: [PAIR.publicKey], pred: 'keys-all' } };
    expect(await resumed('sweep', right)).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state  amount
          1  done      1.5  gas 0.00001, proven by the work of its blocks
             total     1.5
      The coins arrive for keys-all of
        KEY
      > This sweep is finished.
      code 0"
    `);
  });

  it('is shown while it is unfinished, and says how to go on', async () => {
    const transfers = [moved(1, done('us', 'work')), moved(2, null), moved(3)];
    expect(await resumed('sweep', { transfers })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          1  done        1.5  gas 0.00001, proven by the work of its blocks
          2  pending     1.5  request key HASH
          3  planned     1.5
             total       4.5
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing more was sent; what was sent before may still arrive.
      > Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    expect(JSON.parse((await resumed('sweep', { transfers }, { json: true })).split('\n')[0])).toMatchInlineSnapshot(`
      {
        "account": "k:KEY",
        "chains": [
          {
            "amount": "1.5",
            "by": "us",
            "chain": 1,
            "gasCost": "0.00001",
            "provenBy": "work",
            "requestKey": "HASH",
            "state": "done",
          },
          {
            "amount": "1.5",
            "chain": 2,
            "requestKey": "HASH",
            "state": "pending",
          },
          {
            "amount": "1.5",
            "chain": 3,
            "state": "planned",
          },
        ],
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "sent": false,
        "targetChain": 0,
        "total": "4.5",
      }
    `);
    expect(await resumed('sweep', { transfers: [moved(2)] })).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          2  planned     1.5
             total       1.5
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const dear = { transfers: [moved(2)], gasPrice: coins('0.001') };
    expect(await resumed('sweep', dear)).toMatchInlineSnapshot(`
      "k:KEY on own, to chain 0:

      chain  state    amount
          2  planned     1.5
             total       1.5
      Warning: Gas may cost more coins than are moved. The gas price is 0.001, the usual one 0.00000001.
      The coins arrive for keys-any of
        KEY
        OTHER
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
  });

  const AGAIN = 'pickaxe sweep --resume --account k:KEY --node http://127.0.0.1:9 --network own';

  it.each([
    [{ toChain: 1 }, {}, `This sweep goes to chain 0. Finish it first: ${AGAIN}`],
    [{ gasStation: 'x' }, {}, `In this sweep, the account itself pays for the arrival. Finish it first: ${AGAIN}`],
    [{ gasStation: 'y' }, { gasStation: 'x' }, `In this sweep, x pays for the arrival. Finish it first: ${AGAIN}`],
    [{ yes: true }, {}, 'Name the key files of the account with --key-file: KEY, OTHER.'],
  ])('goes on with nothing else: case %#', async (options, changes, text) => {
    const transfers = [{ ...moved(2, null) }];
    const needed = 'yes' in options ? [moved(2)] : transfers;
    expect(await resumed('sweep', { transfers: needed, ...changes }, options)).toBe(`UsageError: ${text}`);
  });

  it.each([[{ toChain: 0 }], [{ gasStation: 'x' }]])('goes on as it was begun, said again: %j', async (options) => {
    expect(await resumed('sweep', { transfers: [moved(2)], gasStation: 'x' }, options)).toMatch(/code 4$/);
  });

  it('names the account again unless the settings do', async () => {
    const transfers = [moved(2, null)];
    const guard = { keys: [PAIR.publicKey], pred: 'keys-all' };
    const refused = (named: object) => resumed('sweep', { transfers, guard }, { toChain: 1 }, named);
    const node = '--node http://127.0.0.1:9 --network own';
    const first = 'UsageError: This sweep goes to chain 0. Finish it first: pickaxe sweep --resume';
    expect(await refused({ 'miner.public-keys': [PAIR.publicKey] })).toBe(`${first} ${node} --public-key KEY`);
    expect(await refused({ 'miner.account': ACCOUNT })).toBe(`${first} --account k:KEY ${node}`);
  });
});

const PAYMENT = { receiver: { account: 'bob', guard: { keys: [OTHER], pred: 'keys-all' } } };

describe('a transfer that has begun', () => {
  it('is shown with each outcome, for people and as JSON', async () => {
    const texts = [];
    for (const [chain, outcome] of [
      [0, done('us', 'work')],
      [1, done('us', null)],
      [0, failed('no\ngas', 'node')],
      [1, null],
      [0, undefined],
    ] as const)
      texts.push(await resumed('transfer', { ...PAYMENT, transfers: [moved(chain, outcome)] }));
    expect(texts.join('\n\n')).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00001
      result     done
                 proven by the work of its blocks
      > This transfer is finished.
      code 0

      network    own, from chain 1 to chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00001
      result     done
      > This transfer is finished.
      code 0

      network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      gas        0.00002
      result     failed: no gas
                 by the word of one node
      > This transfer is finished.
      code 1

      network    own, from chain 1 to chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      command    HASH
      result     pending
      > Nothing more was sent; the transfer may still arrive: pickaxe tx poll HASH --chain 1 --node http://127.0.0.1:9 --network own
      > Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4

      network    own, chain 0
      from       k:KEY
      to         bob
      only for   OTHER
      amount     1.5
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const many = { receiver: { account: 'bob', guard: GUARD }, transfers: [moved(0, failed('why', 'nodes'))] };
    expect(await resumed('transfer', many)).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         bob
      only for   keys-any of KEY, OTHER
      amount     1.5
      command    HASH
      gas        0.00002
      result     failed: why
                 by the word of the nodes
      > This transfer is finished.
      code 1"
    `);
    expect(JSON.parse((await resumed('transfer', many, { json: true })).split('\n')[0])).toMatchInlineSnapshot(`
      {
        "amount": "1.5",
        "chain": 0,
        "from": "k:KEY",
        "gasCost": "0.00002",
        "guard": {
          "keys": [
            "KEY",
            "OTHER",
          ],
          "predicate": "keys-any",
        },
        "network": "own",
        "provenBy": "nodes",
        "reason": "why",
        "requestKey": "HASH",
        "sent": false,
        "state": "failed",
        "targetChain": 0,
        "to": "bob",
      }
    `);
    const plain = { receiver: { account: 'bob', guard: null }, transfers: [moved(0)], gasPrice: coins('0.001') };
    expect(await resumed('transfer', plain, { json: true })).toMatchInlineSnapshot(`
      "{"network":"own","from":"k:KEY","to":"bob","amount":"1.5","chain":0,"targetChain":0,"guard":null,"sent":false,"state":"planned","warning":"Gas may cost more coins than are moved. The gas price is 0.001, the usual one 0.00000001."}
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
    const own = {
      receiver: { account: `k:${OTHER}`, guard: { keys: [OTHER], pred: 'keys-all' } },
      transfers: [moved(0)],
    };
    expect(await resumed('transfer', own)).toMatchInlineSnapshot(`
      "network    own, chain 0
      from       k:KEY
      to         k:OTHER
      amount     1.5
      > Nothing was sent. Add --yes to do it, and --key-file FILE with the keys of the account.
      code 4"
    `);
  });

  it.each([
    [{ to: 'bob', amount: coins('1.5'), chain: 1, toChain: 0, gasStation: undefined }, true],
    [{ to: 'eve' }, false],
    [{ amount: coins('1.6') }, false],
    [{ chain: 0 }, false],
    [{ toChain: 1 }, false],
    [{ gasStation: 'x' }, false],
    [{ receiverKey: [OTHER] }, false],
  ])('goes on with nothing else: case %#', async (options, isSame) => {
    const shown = await resumed('transfer', { ...PAYMENT, transfers: [moved(1)] }, options);
    const other =
      'UsageError: The transfer that has begun is one of 1.5 to bob on chain 1. Go on with it as it is: pickaxe tx transfer --resume --account k:KEY --node http://127.0.0.1:9 --network own';
    if (isSame) expect(shown).toMatch(/code 4$/);
    else expect(shown).toBe(other);
  });
});

it('what is over has no warning of its price', async () => {
  const dear = { transfers: [moved(0, done('us', 'work'))], gasPrice: coins('0.01') };
  expect(await resumed('transfer', { ...dear, ...PAYMENT })).not.toContain('warning');
  expect(await resumed('sweep', { ...dear, transfers: [moved(1, done('us', 'work'))] })).not.toContain('Warning');
});
