/** The options of `pickaxe mock-node`, and its log, with a pretended mock node. */

import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { devAccounts } from '#pickaxe/mock-node/dev-accounts.js';
import { GenesisError } from '#pickaxe/mock-node/genesis-error.js';
import { folder, inNewFolders } from '../in-folder.ts';
import { pickaxeIn } from '../in-process.ts';

const made = vi.hoisted(() => ({
  nodes: [] as { readonly options: object; readonly faults: readonly unknown[] }[],
  fault: undefined as Error | string | undefined,
  events: [] as readonly object[],
  address: {},
}));

vi.mock('#pickaxe/mock-node/mock-node.js', () => ({
  MockNode: class {
    readonly ledger = { stats: { accepted: 4, orphaned: 1, rejected: 2, stale: 3 } };
    readonly options: object;
    readonly #onEvent: (event: object) => void;
    faults: readonly unknown[] = [];

    constructor(options: object, { onEvent }: { readonly onEvent: (event: object) => void }) {
      if (made.fault) throw made.fault;
      this.options = options;
      this.#onEvent = onEvent;
      made.nodes.push(this);
    }

    async start() {
      for (const event of made.events) this.#onEvent(event);
      return made.address;
    }

    async close() {}
  },
}));

inNewFolders();

const KEY = 'ab'.repeat(32);
const ADDRESS = { url: 'http://127.0.0.1:1', controlUrl: 'http://127.0.0.1:2' };

beforeEach(() => {
  Object.assign(made, { nodes: [], fault: undefined, events: [], address: ADDRESS });
});

/** Runs the command until it is stopped. @returns its end, and its lines of the log without their time */
async function mockNode(args: readonly string[]) {
  let logged = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    logged += text;
    return true;
  });
  onTestFinished(() => stderr.mockRestore());
  const words = ['mock-node', '--log-level', 'info', '--log-format', 'json', ...args];
  const ended = await pickaxeIn(folder.path, words, {}, { stop: AbortSignal.abort() });
  const lines = logged.split('\n').filter(Boolean);
  return { ...ended, lines: lines.map((line): string => JSON.parse(line).message) };
}

const FUNDED = devAccounts().map(({ account }) => ({ account, balance: '1000.0' }));
const MINE = { account: `k:${KEY}`, balance: '1.5' };
const DEV = { mineOnSend: true, accounts: FUNDED };
const USUAL = { network: 'development', difficulty: 50_000_000, controlPort: 0 };

describe('the options', () => {
  it.each([
    [[], USUAL],
    [
      ['--port', '65535', '--control-port', '1', '--network', 'testnet04', '--difficulty', '9007199254740992'],
      { network: 'testnet04', difficulty: 2 ** 53, controlPort: 1, port: 65_535 },
    ],
    [['--options', '{"rivalMs":5,"difficulty":7}'], { ...USUAL, rivalMs: 5, difficulty: 7 }],
    [['--options', 'null'], USUAL],
    [['--mine-on-send'], { ...USUAL, mineOnSend: true }],
    [['--dev'], { ...USUAL, ...DEV, port: 1848 }],
    [['--dev', '--port', '7', '--fund', `k:${KEY}=1.5`], { ...USUAL, ...DEV, port: 7, accounts: [...FUNDED, MINE] }],
    [['--dev', '--options', '{"port":0,"accounts":[1]}'], { ...USUAL, ...DEV, port: 0, accounts: [1, ...FUNDED] }],
    [
      ['--load', 'a.pact', '--load', 'b.pact'],
      {
        ...USUAL,
        contracts: [
          { name: 'a.pact', text: 'a' },
          { name: 'b.pact', text: 'b' },
        ],
      },
    ],
    [
      ['--options', '{"contracts":[{"code":"own"}]}', '--load', 'a.pact'],
      { ...USUAL, contracts: [{ code: 'own' }, { name: 'a.pact', text: 'a' }] },
    ],
    [['--options', '{"contracts":7}', '--load', 'a.pact'], { ...USUAL, contracts: 7 }],
    [['--fund', `k:${KEY}=1.5`], { ...USUAL, accounts: [expect.objectContaining({ account: `k:${KEY}` })] }],
    [
      ['--options', '{"accounts":[1]}', '--fund', `k:${KEY}=1.5`],
      { ...USUAL, accounts: [1, expect.objectContaining({ account: `k:${KEY}` })] },
    ],
  ])('%j', async (args, options) => {
    for (const name of ['a', 'b']) folder.write(`${name}.pact`, name);
    const stdout = args.includes('--dev') ? expect.stringContaining('Anybody knows their keys') : '';
    expect(await mockNode(args)).toMatchObject({ code: 0, stdout, stderr: '' });
    const [{ options: given }] = made.nodes;
    expect(given).toMatchObject(options);
    expect(Object.keys(given).sort()).toEqual(Object.keys(options).sort());
  });

  it('--faults are those from its start', async () => {
    await mockNode(['--faults', '[{"endpoint":"work","kind":"unavailable","times":3}]']);
    expect(made.nodes[0].faults).toEqual([{ endpoint: 'work', kind: 'unavailable', times: 3 }]);
  });

  it.each([
    ['--port', '65536'],
    ['--port', '0'],
    ['--control-port', '65536'],
    ['--difficulty', '0'],
    ['--difficulty', '9007199254740994'],
  ])('%s %s is refused', async (flag, value) => {
    expect(await mockNode([flag, value])).toMatchObject({ code: 2, stderr: expect.stringContaining(flag) });
    expect(made.nodes).toEqual([]);
  });

  it.each([
    ['--options', '{', /^error: --options is not valid JSON: \{\n$/],
    ['--faults', 'x', /^error: --faults is not valid JSON: x\n$/],
  ])('%s %s is no JSON', async (flag, text, message) => {
    expect(await mockNode([flag, text])).toMatchObject({ code: 2, stderr: expect.stringMatching(message) });
  });

  it.each([
    [new GenesisError('no such module'), 2, /^error: The mock node cannot be started: no such module\n$/],
    [
      Object.assign(new Error('x'), { syscall: 'listen', code: 'EADDRINUSE', port: 80 }),
      2,
      /^error: The mock node cannot listen: .*80/,
    ],
    [
      Object.assign(new Error('x'), { syscall: 'getaddrinfo', code: 'ENOTFOUND' }),
      2,
      /^error: The mock node cannot listen: /,
    ],
    [Object.assign(new Error('x'), { syscall: 'read' }), 1, /^internal error, please report it: Error: x\n/],
    [new Error('y'), 1, /^internal error, please report it: Error: y\n/],
    ['z', 1, /^internal error, please report it: z\n/],
  ])('a node that cannot start says why: %s', async (fault, code, message) => {
    made.fault = fault;
    expect(await mockNode([])).toMatchObject({ code, stderr: expect.stringMatching(message), lines: [] });
  });
});

describe('the log', () => {
  it('says where the node is, and counts at the end', async () => {
    const { lines } = await mockNode([]);
    expect(lines).toEqual([
      `mock node at ${ADDRESS.url}, network development, difficulty 50000000`,
      `to mine on it: pickaxe mine --node ${ADDRESS.url} --network development --public-key ${'0'.repeat(64)}`,
      `to tell it what to do wrong: curl ${ADDRESS.controlUrl} -d '{"do":"orphan-next"}' (docs/mock-node.md)`,
      '4 accepted (1 orphaned), 2 rejected, 3 stale',
    ]);
  });

  it('has each event', async () => {
    const at = { chain: 1, height: 7n };
    const events = [
      { type: 'work', ...at, account: 'k:me' },
      { type: 'submission', ...at, outcome: 'accepted', nonce: '0f', orphaned: false, reason: '' },
      { type: 'submission', ...at, outcome: 'accepted', nonce: '0f', orphaned: true, reason: 'not said' },
      { type: 'submission', ...at, outcome: 'rejected', nonce: '0f', orphaned: false, reason: 'too easy' },
      { type: 'block', ...at, by: 'rival' },
      { type: 'block', ...at, by: 'miner' },
      {
        type: 'command',
        requestKey: 'doGwjBOfIrLerg2rXJdE-YVZ_bOibawu3CSE0HSByhw',
        ...at,
        gas: 5,
        outcome: 'failure a\nb',
      },
      { type: 'join', chains: [] },
      { type: 'join', chains: [1, 2] },
      { type: 'cut dropped', reason: `a\n${'b'.repeat(300)}` },
      { type: 'stream', chain: 1, open: 2 },
      { type: 'instructed', instruction: 'faults' },
      { type: 'fault', kind: 'status', endpoint: 'cut' },
    ];
    Object.assign(made, { events, address: { ...ADDRESS, p2pUrl: 'http://127.0.0.1:3' } });
    const { lines } = await mockNode(['--log-level', 'debug']);
    const usual = (await mockNode([])).lines;
    expect(lines.filter((line) => !usual.includes(line))).toEqual(['block of a rival on chain 1 height 7']);
    expect(lines.slice(0, events.length)).toMatchInlineSnapshot(`
      [
        "gave work of chain 1 height 7 to k:me",
        "accepted chain 1 height 7 nonce 0f",
        "accepted chain 1 height 7 nonce 0f orphaned: the chain has advanced",
        "rejected chain 1 height 7 nonce 0f too easy",
        "block of a rival on chain 1 height 7",
        "block of a miner on chain 1 height 7",
        "command doGwjBOfIr… on chain 1 height 7, 5 gas: failure a b",
        "the cut of a peer changes nothing",
        "took the cut of a peer on the chains 1, 2",
        "did not take the cut of a peer: a bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb…",
        "stream for chain 1, 2 open",
        "was told: faults",
        "fault status on cut",
      ]
    `);
    expect(lines).toContain('what nodes serve to each other is at http://127.0.0.1:3');
  });
});
