import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { startBlockLog } from '#pickaxe/app/composition/block-recorder.js';
import { blocks } from '#pickaxe/app/composition/sidecars.js';
import type { BlockEvent } from '#pickaxe/miner/events/events.js';
import { readLine } from '#pickaxe/node/blocks/block-lines.js';
import { MemoryStore } from '#pickaxe/node/blocks/block-log.js';
import { recordOf } from '#pickaxe/node/blocks/record.js';
import { parseHeader } from '#pickaxe/protocol/ledger/header.js';
import { decodeBase64url, encodeBase64url, parseExactJson } from '#pickaxe/protocol/ledger/json.js';
import { payloadWithOutputsFromJson } from '#pickaxe/protocol/ledger/payload.js';
import { FakeClock, madeHeader, madeRecord, PretendNode } from '../../../node/blocks/pretend.ts';
import { PATIENCE } from '../../../patience.ts';
import { payloads } from '../../../protocol/ledger/vectors.ts';
import { hashes, verdict } from '../../../rig/status/fakes.ts';
import { idleMiner } from './fakes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const SETTINGS = { log: true, settledDepth: 2 };
/** The modules that follow blocks are loaded within a second or two; a busy machine takes longer. */
const soon = (check: () => void) => vi.waitFor(check, PATIENCE);

const NODES = { node: { insecureTls: false }, ledger: { dialect: 'auto' } } as const;
/** A look every few milliseconds. */
const SPEED = 10_000;
const header = madeHeader(3, 42n);
const { hash } = madeRecord(header);
const ACCEPTED: BlockEvent = {
  type: 'accepted-block',
  device: 'gpu0',
  isRelay: false,
  chain: 3,
  height: 42n,
  nonce: 0n,
  isBlock: true,
  isShare: false,
  difficulty: 1_000,
  header,
  source: 'http://two',
  answerSeconds: 0.02,
};

/** A miner with the block log beside it, and two nodes. */
type Options = Parameters<typeof blocks>[0];
async function rig(settings: Options['settings'] = { ...SETTINGS, folder }, more: Partial<Options> = {}) {
  const nodes = [new PretendNode('http://one'), new PretendNode('http://two')];
  const close = vi.fn(async () => {});
  const miner = idleMiner();
  const openViews = () => ({ views: nodes, close });
  const options = { settings, ...NODES, account: 'k:me', openViews, speed: SPEED, ...more };
  const end = await blocks(options)!(miner.running);
  return { nodes, close, end, ...miner };
}

const linesIn = () =>
  readFileSync(join(folder, 'blocks.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => readLine(line));

test('an accepted block is recorded with all that is known of it, and followed until it is settled', async () => {
  const { nodes, end, close, running, recorded } = await rig();
  const { emit } = running.events;
  for (const event of [
    { type: 'job-switch', device: 'gpu0', switchSeconds: 0.004 },
    hashes('gpu0', 500, 1_000),
    verdict('gpu0', 'accepted'),
    ACCEPTED,
  ] as const) {
    emit(event);
  }
  await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
  expect(recorded.of('block-state')).toMatchObject([{ state: 'pending', blockHash: hash, chain: 3, height: 42n }]);
  for (const node of nodes) {
    node.has(3, 42n, hash);
    node.headIs(3, 44n);
  }
  await soon(() => expect(recorded.of('block-state').at(-1)?.state).toBe('settled'));
  expect(running.tally.summary().acceptedBlocks).toEqual({
    won: 1,
    settled: 1,
    orphaned: 0,
    pending: 0,
    unanswered: 0,
    lost: 0,
    paidElsewhere: 0,
  });
  emit(hashes('gpu0', 250, 1_000));
  await end();
  expect(close).toHaveBeenCalledOnce();
  const lines = linesIn();
  expect(lines[0]).toEqual({
    type: 'found',
    record: recordOf({
      header,
      foundMs: expect.any(Number) as number,
      network: 'mainnet01',
      node: 'http://two',
      isAnswered: true,
      account: 'k:me',
      device: 'gpu0',
      isRelay: false,
      difficulty: 1_000,
      answerSeconds: 0.02,
      switchSeconds: 0.004,
      expectedBlocks: 0.5,
    }),
  });
  expect(lines.at(-1)).toEqual({ type: 'searched', expectedBlocks: 0.25 });
});

test('a block whose answer was lost is recorded as such, and found on the chain', async () => {
  const { nodes, end, running, recorded } = await rig();
  running.events.emit({ ...ACCEPTED, type: 'unanswered-block' });
  await soon(() => expect(recorded.of('block-state')).toMatchObject([{ state: 'unanswered', depth: 0 }]));
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 0, pending: 0, unanswered: 1 });
  for (const node of nodes) {
    node.has(3, 42n, hash);
    node.headIs(3, 43n);
  }
  await soon(() => expect(recorded.of('block-state').at(-1)).toMatchObject({ state: 'won', previous: 'unanswered' }));
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 1, unanswered: 0 });
  await end();
  expect(linesIn()[0]).toMatchObject({ type: 'found', record: { hash, isAnswered: false } });
});

test('a block is in the log before its answer, which is all that an event tells', async () => {
  const { end, running, recorded } = await rig();
  const { answerSeconds: _, ...about } = ACCEPTED as Extract<BlockEvent, { answerSeconds: number }>;
  running.events.emit({ ...about, type: 'sent-block' });
  await soon(() => expect(linesIn()).toMatchObject([{ type: 'found', record: { hash, isAnswered: false } }]));
  expect(recorded.of('block-state')).toEqual([]);
  running.events.emit(ACCEPTED);
  await soon(() => expect(recorded.of('block-state')).toMatchObject([{ state: 'pending', blockHash: hash }]));
  expect(recorded.of('block-state')[0]).not.toHaveProperty('isEarlier');
  await end();
  expect(linesIn()[1]).toEqual({ type: 'answer', hash, outcome: 'accepted', answerSeconds: 0.02 });
});

test('a refused block is shown nowhere until a chain has it', async () => {
  const { nodes, end, running, recorded } = await rig();
  running.events.emit({ ...ACCEPTED, type: 'refused-block' });
  running.events.emit({ ...ACCEPTED, header: madeHeader(3, 40n) });
  await soon(() => expect(recorded.of('block-state')).toMatchObject([{ height: 40n }]));
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 0, pending: 1, unanswered: 0, lost: 0 });
  for (const node of nodes) {
    node.has(3, 42n, hash);
    node.headIs(3, 43n);
  }
  await soon(() => expect(recorded.of('block-state').find(({ blockHash }) => blockHash === hash)?.state).toBe('won'));
  const told = recorded.of('block-state').find(({ blockHash }) => blockHash === hash);
  expect(told).not.toHaveProperty('previous');
  expect(told?.reason).toBe('the node answered that it refused the block, but a node has it');
  expect(running.tally.summary().acceptedBlocks).toMatchObject({ won: 1, unanswered: 0, lost: 0 });
  await end();
});

/** A block of a real chain, which pays somebody else. */
const vector = payloads.find(({ header }) => header)!;
const foreign = decodeBase64url(vector.header!).subarray(0, 286);
const { rewardTo: payee } = vector.expect;

function showForeignPayload(node: PretendNode): void {
  const payload = payloadWithOutputsFromJson(parseExactJson(JSON.stringify(vector.payloadWithOutputs)));
  node.payloads.set(encodeBase64url(parseHeader(foreign).payloadHash), payload);
}

test.each(['accepted-block', 'refused-block'] as const)(
  'who is paid is looked at by one %s beyond the bound, too',
  async (type) => {
    const leave = vi.fn();
    const { nodes, end, running, recorded, said } = await rig(undefined, { leave, speed: 1 });
    showForeignPayload(nodes[0]);
    for (let height = 0; height < 1_100; height++) {
      running.events.emit({ ...ACCEPTED, type: 'refused-block', header: madeHeader(3, BigInt(height)) });
    }
    running.events.emit({ ...ACCEPTED, type, source: 'http://one', header: foreign });
    await soon(() => expect(leave).toHaveBeenCalledTimes(1));
    expect(leave).toHaveBeenCalledWith('http://one', expect.stringContaining(`works for ${payee}`));
    expect(recorded.of('block-reward')).toMatchObject([{ paidTo: payee, source: 'http://one' }]);
    expect(JSON.stringify(said)).toContain('blocks are sent faster than 10 a minute');
    await end();
  },
);

test('blocks are followed of the networks that their nodes serve, and a change of an earlier one is told as such', async () => {
  const nodes = [new PretendNode('http://one'), new PretendNode('http://two')];
  nodes[1].network = 'testnet04';
  const views = () => ({ views: nodes, close: async () => {} });
  const before = await rig(undefined, { openViews: views });
  before.running.events.emit(ACCEPTED);
  await soon(() => expect(before.recorded.of('block-state')).toHaveLength(1));
  await before.end();
  expect(linesIn()[0]).toMatchObject({ record: { network: 'testnet04', node: 'http://two' } });
  const after = await rig(undefined, { openViews: views });
  for (const node of nodes) node.headIs(3, 44n);
  nodes[1].has(3, 42n, hash);
  await soon(() =>
    expect(after.recorded.of('block-state').at(-1)).toMatchObject({ state: 'settled', isEarlier: true }),
  );
  expect(after.recorded.of('block-state').every(({ isEarlier }) => isEarlier)).toBe(true);
  expect(nodes[0].asked).toEqual([]);
  await after.end();
});

test.each([
  ['me', 'http://one', true, 'mainnet01'],
  [`k:${'a'.repeat(64)}`, 'http://three', false, 'testnet04'],
])(
  'a record of %s has the keys only if the name is not that of a key (from %s)',
  async (account, source, has, network) => {
    const keyset = { predicate: 'keys-all', publicKeys: ['b'.repeat(64)] } as const;
    const nodes = [new PretendNode('http://first'), new PretendNode('http://one')];
    nodes[0].network = 'testnet04';
    const openViews = () => ({ views: nodes, close: async () => {} });
    const { end, running, recorded } = await rig(undefined, { account, keyset, openViews });
    running.events.emit({ ...ACCEPTED, source });
    await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
    await end();
    const [found] = linesIn();
    // From a node that is not one of the settings, a block is taken to be of the first one's network.
    expect(found).toMatchObject({ record: { account, network, node: source } });
    expect((found as { record: object }).record).toEqual(
      has ? expect.objectContaining({ keyset }) : expect.not.objectContaining({ keyset }),
    );
    running.events.emit({ ...ACCEPTED, header: madeHeader(3, 43n) });
    expect([recorded.of('block-state').length, linesIn().length]).toEqual([1, 1]);
  },
);

test('what has no solution of a block is not recorded: a share, a rejected block, an unknown verdict', async () => {
  const { end, running, recorded } = await rig();
  for (const outcome of ['rejected', 'stale', 'unknown'] as const) running.events.emit(verdict('gpu0', outcome));
  running.events.emit(verdict('gpu0', 'accepted', '', { isBlock: false, isShare: true }));
  await end();
  expect(recorded.of('block-state')).toEqual([]);
  expect(() => linesIn()).toThrow('ENOENT');
});

test('a block of an earlier run is followed, and is not counted in this one', async () => {
  const before = await rig();
  before.running.events.emit(ACCEPTED);
  await before.end();
  const { nodes, end, recorded, running } = await rig();
  for (const node of nodes) {
    node.keeps(3, 42n, hash);
    node.headIs(3, 43n);
  }
  await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
  expect(recorded.of('block-state')[0]).toMatchObject({ state: 'orphaned', previous: 'pending', device: 'gpu0' });
  expect(running.tally.summary().acceptedBlocks).toBeNull();
  await end();
});

test('the end waits until it is known what became of the last block and what it earned, if it is asked to', async () => {
  const vector = payloads.find(({ header }) => header)!;
  const real = decodeBase64url(vector.header!).subarray(0, 286);
  const { chain, height, payloadHash } = parseHeader(real);
  const { nodes, end, recorded, running } = await rig(undefined, {
    speed: 100,
    lastLooksMs: 600_000,
    account: vector.expect.rewardTo!,
  });
  running.events.emit({ ...ACCEPTED, chain, height, header: real });
  await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
  const payload = payloadWithOutputsFromJson(parseExactJson(JSON.stringify(vector.payloadWithOutputs)));
  for (const node of nodes) {
    node.has(chain, height, madeRecord(real).hash);
    node.headIs(chain, height + 1n);
    node.payloads.set(encodeBase64url(payloadHash), payload);
  }
  await end();
  const last = recorded.of('block-state').at(-1);
  expect(last).toMatchObject({ state: 'won', settledInSeconds: 0.3, reward: expect.any(String) });
});

test('the end waits no longer than it is asked to', async () => {
  const { end, recorded, running } = await rig(undefined, { lastLooksMs: 100 });
  running.events.emit(ACCEPTED);
  await end();
  expect(recorded.of('block-state')).toMatchObject([{ state: 'pending' }]);
});

test('the end asks no node if it is not asked to wait', async () => {
  // So slow that no look is due during the test.
  const { nodes, end, recorded, running } = await rig(undefined, { speed: 0.001 });
  running.events.emit(ACCEPTED);
  await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
  const before = nodes.map(({ asked }) => asked.length);
  await end();
  expect(nodes.map(({ asked }) => asked.length)).toEqual(before);
});

test('a header that is none, and a folder that cannot be made, are said; mining goes on', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  const { end, running, recorded, said } = await rig({ ...SETTINGS, folder: file });
  running.events.emit({ ...ACCEPTED, header: new Uint8Array(285) });
  running.events.emit(ACCEPTED);
  await soon(() => expect(recorded.of('block-state')).toHaveLength(1));
  await soon(() =>
    expect(said.map((line) => JSON.stringify(line)).join('\n')).toMatch(
      /cannot be recorded: A header .*\n.*cannot be (written|read)/s,
    ),
  );
  await end();
});

describe('with a clock that stands still', () => {
  const blockLog = () => {
    const { running, said } = idleMiner();
    const clock = new FakeClock();
    const openViews = () => ({ views: [new PretendNode('http://one')], close: async () => {} });
    const options = { settings: { ...SETTINGS, folder }, ...NODES, account: 'k:me', openViews };
    const count = (text: string) => said.filter((line) => JSON.stringify(line).includes(text)).length;
    return { clock, count, ...startBlockLog({ ...running, clock }, new MemoryStore(), options) };
  };

  test('headers that are none are said five times, and then one in ten seconds', async () => {
    const { clock, count, record, end } = blockLog();
    for (const faults of [5, 7, 9]) {
      for (let i = 0; i < 9; i++) record({ ...ACCEPTED, header: new Uint8Array(285) });
      expect(count('cannot be recorded')).toBe(faults);
      clock.advance(20_000);
    }
    await end();
  });

  test('that blocks are sent too fast is said once, and then once in ten seconds', async () => {
    const { clock, count, record, end } = blockLog();
    for (let height = 0; height < 1_003; height++) {
      record({ ...ACCEPTED, type: 'refused-block', header: madeHeader(3, BigInt(height)) });
    }
    expect(count('blocks are sent faster than 10 a minute')).toBe(1);
    clock.advance(10_000);
    for (const height of [2_000n, 2_001n, 2_002n]) record({ ...ACCEPTED, header: madeHeader(3, height) });
    expect(count('blocks are sent faster than 10 a minute')).toBe(2);
    await end();
  });
});

test('nodes that cannot be asked at all, as with a wrong certificate file, are said; mining goes on', async () => {
  const { running, recorded, said } = idleMiner();
  const openViews = () => {
    throw new Error('the file holds no certificate');
  };
  const end = await blocks({ settings: { ...SETTINGS, folder }, ...NODES, account: 'k:me', openViews })!(running);
  running.events.emit(ACCEPTED);
  await soon(() => expect(JSON.stringify(said)).toContain('accepted blocks are not tracked: the file holds no'));
  await end();
  expect(recorded.of('block-state')).toEqual([]);
});

test('without it there is none', () => {
  expect(blocks({ settings: { ...SETTINGS, log: false }, ...NODES, account: 'k:me' })).toBeUndefined();
});

test('that a block of an earlier run pays somebody else is told as such, and no node is left for it', async () => {
  const { chain, height } = parseHeader(foreign);
  const before = await rig();
  before.running.events.emit({ ...ACCEPTED, chain, height, header: foreign });
  await soon(() => expect(before.recorded.of('block-state')).toHaveLength(1));
  const [{ blockHash }] = before.recorded.of('block-state');
  await before.end();
  const leave = vi.fn();
  const { nodes, end, recorded } = await rig(undefined, { leave });
  for (const node of nodes) {
    node.has(chain, height, blockHash);
    node.headIs(chain, height + 2n);
    showForeignPayload(node);
  }
  await soon(() => expect(recorded.of('block-reward')).toMatchObject([{ paidTo: payee, isEarlier: true }]));
  expect(leave).not.toHaveBeenCalled();
  await end();
});
