/** Work, submissions and update streams, as miners use them (document 1). */

import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { HEADER_OFFSET, WORK_BYTES } from '#pickaxe/protocol/chain/bytes.js';
import {
  creationTimeOf,
  parentOf,
  parseWork,
  type Work,
  withCreationTime,
  withNonce,
} from '#pickaxe/protocol/chain/work.js';
import { eventually, mine, wrongSolution } from '../miner/source/follow.ts';
import { chainBytes, MINER, miningOf, OCTETS } from './mining.ts';

const startMining = miningOf('document');

describe('work', () => {
  it('is a record whose fields are in their places', async () => {
    const { getWork, node } = await startMining();
    const { body, headers } = await getWork();
    expect(headers['content-type']).toBe(OCTETS);
    expect(body).toHaveLength(WORK_BYTES);
    const header = body.subarray(36);
    expect(header.subarray(HEADER_OFFSET.target, HEADER_OFFSET.target + 32)).toEqual(body.subarray(4, 36));
    expect(header.readUInt32LE(HEADER_OFFSET.chain)).toBe(body.readUInt32LE(0));
    expect(header.readUInt16LE(48)).toBe(3);
    expect(creationTimeOf(header)).toBeLessThanOrEqual(node.ledger.nowUs());
    expect(Buffer.from(node.ledger.target)).toEqual(body.subarray(4, 36));
  });

  it('of one chain keeps its payload until the chain advances or the payload is refreshed', async () => {
    const { node, work } = await startMining();
    node.ledger.pickChain = () => 4;
    const payload = ({ header }: Work) => Buffer.from(header.subarray(190, 222)).toString('hex');
    const first = await work();
    expect(payload(await work())).toBe(payload(first));
    node.ledger.refreshPayload(4);
    const refreshed = await work();
    expect(payload(refreshed)).not.toBe(payload(first));
    expect(parentOf(refreshed.header)).toEqual(parentOf(first.header));
    node.ledger.advance(4);
    const next = await work();
    expect(parentOf(next.header)).not.toEqual(parentOf(first.header));
    expect(next.height).toBe(first.height + 1n);
  });

  it('comes for all chains, in the same order for the same seed', async () => {
    const chains = async () => {
      const { work } = await startMining({ seed: 9 });
      const seen: number[] = [];
      for (let i = 0; i < 100; i++) seen.push((await work()).chain);
      return seen;
    };
    const first = await chains();
    expect(new Set(first).size).toBeGreaterThan(15);
    expect(await chains()).toEqual(first);
  });

  it.each<[string, unknown, Record<string, string>, number]>([
    ['no JSON', '{', {}, 400],
    ['no body', '', {}, 400],
    ['no object', '[]', {}, 400],
    ['no account', { ...MINER, account: undefined }, {}, 400],
    ['no predicate', { ...MINER, predicate: undefined }, {}, 400],
    ['no list of keys', { ...MINER, 'public-keys': 'abc' }, {}, 400],
    ['an empty account', { ...MINER, account: '' }, {}, 403],
    ['a miner with no keys', { ...MINER, 'public-keys': [] }, {}, 403],
    ['an unknown predicate', { ...MINER, predicate: 'keys-most' }, {}, 403],
    ['another content type', MINER, { 'content-type': 'text/plain' }, 415],
    ['another type accepted', MINER, { accept: 'text/html' }, 406],
    ['a body that is too long', 'x'.repeat(2_100_000), {}, 413],
  ])('is refused to a request with %s', async (_, body, headers, status) => {
    const { getWork } = await startMining();
    expect((await getWork(body, headers)).status).toBe(status);
  });

  it('is given only to configured miners, which must match in all three parts', async () => {
    const two = { account: 'two', predicate: 'keys-2' as const, 'public-keys': ['x', 'y'] };
    const { getWork } = await startMining({ miners: [MINER, two] });
    expect((await getWork()).status).toBe(200);
    // Keys are a set: their order and repetitions do not matter.
    expect((await getWork({ ...two, 'public-keys': ['y', 'x', 'y'] })).status).toBe(200);
    expect((await getWork({ ...two, 'public-keys': ['x,y'] })).status).toBe(403);
    for (const other of [
      { account: 'abc' },
      { predicate: 'keys-any' },
      { predicate: 'keys-most' },
      { 'public-keys': [...MINER['public-keys'], 'd'] },
      { 'public-keys': [] },
      { 'public-keys': ['ABC'] },
    ]) {
      const { status, body } = await getWork({ ...MINER, ...other });
      expect(status).toBe(403);
      expect(body.toString()).toBe(`Unauthorized Miner: ${'account' in other ? 'abc' : MINER.account}`);
    }
  });

  it('is not served while there is more than the limit in the configuration', async () => {
    const { node, ask, getWork, submit, url } = await startMining({ workLimit: 2 });
    const chains = [0, 1, 2, 2, 3];
    node.ledger.pickChain = () => chains.shift()!;
    const works = [await getWork(), await getWork(), await getWork()];
    expect(works.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { status, body } = await getWork();
    expect([status, body.toString()]).toEqual([503, 'Too many work requests']);
    expect((await submit(mine(parseWork(works[0].body)).header)).status).toBe(200);
    expect((await getWork()).status).toBe(200);
    const config = JSON.parse((await ask('/config', {}, url)).body.toString());
    expect(config.mining.coordination.limit).toBe(2);
  });

  it('is not served while mining is disabled', async () => {
    const { node, getWork } = await startMining({ miningEnabled: false });
    expect((await getWork()).status).toBe(404);
    node.server.miningEnabled = true;
    expect((await getWork()).status).toBe(200);
  });

  it('follows the difficulty', async () => {
    const { node, work } = await startMining();
    node.ledger.difficulty = 1_000_000;
    expect(node.ledger.difficulty).toBeCloseTo(1_000_000, 0);
    expect((await work()).target).toEqual(node.ledger.target);
    expect(() => {
      node.ledger.target = new Uint8Array(31);
    }).toThrow('a target is 32 bytes');
  });
});

describe('a submission', () => {
  it('that solves advances the chain, once', async () => {
    const { node, work, submit, ask } = await startMining();
    const solution = mine(await work());
    const { chain, height } = solution.work;
    expect(await submit(solution.header)).toEqual({ status: 200, text: '' });
    expect(await submit(solution.header)).toEqual({ status: 404, text: 'No associated Payload' });
    expect(node.ledger.stats).toMatchObject({ accepted: 1, stale: 1, duplicates: 1, rejected: 0 });
    const page = await ask(`/chain/${chain}/block?minheight=${height}&maxheight=${height}`);
    const { items } = JSON.parse(page.body.toString());
    expect(items).toHaveLength(1);
    expect(items[0].header.nonce).toBe(solution.nonce.toString());
    expect(items[0].header.parent).toBe(Buffer.from(parentOf(solution.header)).toString('base64url'));
  });

  it('with a wrong hash drops the work', async () => {
    const { node, work, submit } = await startMining();
    const given = await work();
    expect(await submit(wrongSolution(given).header)).toEqual({
      status: 400,
      text: 'Invalid solved work: Invalid POW hash',
    });
    expect((await submit(mine(given).header)).status).toBe(404);
    expect(node.ledger.stats.rejected).toBe(1);
  });

  it('may change the creation time and the nonce only', async () => {
    const { node, work, submit } = await startMining();
    for (const at of [0, 7, 16, 60, 158, 222, 258, 266, 277]) {
      const { header } = mine(await work());
      header[at] ^= 1;
      expect((await submit(header)).status).toBe(400);
    }
    expect(node.ledger.stats.rejected).toBe(9);
  });

  it('has a creation time after its parents’ and not ahead of the node, to the microsecond', async () => {
    const clock = { ...systemClock, ms: 0, nowUs: () => 1_700_000_000_000_000n, monotonicMs: () => clock.ms };
    const { node, work, submit } = await startMining({ difficulty: 1 }, { clock });
    const { header: first } = await work();
    // The first blocks are 30 s old, so the parents of all chains have the same age.
    const parentUs = clock.nowUs() - 30_000_000n;
    const submitAt = async (timeUs: bigint) => submit(withCreationTime((await work()).header, timeUs));
    const refused = { status: 400, text: 'Invalid solved work: Invalid creation time' };
    expect(creationTimeOf(first)).toBe(clock.nowUs());
    expect(await submitAt(parentUs)).toEqual(refused);
    expect(await submitAt(clock.nowUs() + 1n)).toEqual(refused);
    expect(node.ledger.stats.timeViolations).toBe(2);
    const taken = { status: 200, text: '' };
    node.ledger.pickChain = () => 0;
    expect(await submitAt(parentUs + 1n)).toEqual(taken);
    node.ledger.pickChain = () => 1; // This chain has other parents.
    expect(await submitAt(clock.nowUs())).toEqual(taken);
    node.ledger.pickChain = () => 0; // Its parents are now a microsecond younger.
    expect(await submitAt(parentUs + 1n)).toEqual(refused);
    expect(await submitAt(parentUs + 2n)).toEqual(taken);
    expect(node.ledger.stats).toMatchObject({ timeViolations: 3, accepted: 3 });
    const record = node.ledger.stats.records.at(-1);
    expect(record).toMatchObject({ creationTimeUs: parentUs + 2n, workTimeUs: clock.nowUs() });
  });

  it('is 286 octets', async () => {
    const { work, submit } = await startMining();
    const { header } = mine(await work());
    for (const wrong of [header.subarray(0, 0), header.subarray(0, 285), Uint8Array.of(...header, 0)]) {
      expect(await submit(wrong)).toMatchObject({
        status: 400,
        text: expect.stringMatching(/^Decoding error: expected 286 bytes/),
      });
    }
    expect((await submit(header, { 'content-type': 'application/json' })).status).toBe(415);
    expect((await submit(header, { 'content-type': OCTETS, accept: OCTETS })).status).toBe(406);
    expect((await submit(header)).status).toBe(200);
  });

  it('may omit its content type', async () => {
    const { work, submit } = await startMining();
    expect((await submit(mine(await work()).header, { accept: 'application/json' })).status).toBe(200);
  });

  it('stays valid when another chain has advanced', async () => {
    const { node, work, submit } = await startMining();
    node.ledger.pickChain = () => 3;
    const { header } = mine(await work());
    node.ledger.advance(4);
    expect((await submit(header)).status).toBe(200);
  });

  it('counts as a duplicate with the same bytes, and with the same nonce at another time', async () => {
    const { node, work, submit } = await startMining({ difficulty: 1 });
    const { header } = await work();
    await submit(header);
    expect(node.ledger.stats.duplicates).toBe(0);
    await submit(withCreationTime(header, creationTimeOf(header) - 1n));
    expect(node.ledger.stats.duplicates).toBe(1);
    await submit(withNonce(header, 1n));
    expect(node.ledger.stats.duplicates).toBe(1);
    await submit(header);
    expect(node.ledger.stats.duplicates).toBe(2);
  });

  it('that is late is refused, or accepted and orphaned', async () => {
    for (const lateSolutions of ['refuse', 'orphan', undefined] as const) {
      const { node, work, submit } = await startMining({ lateSolutions, acceptedStatus: 204 });
      const given = await work();
      node.ledger.advance(given.chain);
      expect((await submit(mine(given).header)).status).toBe(lateSolutions === 'refuse' ? 404 : 204);
      expect(node.ledger.stats.orphaned).toBe(lateSolutions === 'refuse' ? 0 : 1);
    }
  });

  it('for forgotten work is refused', async () => {
    const clock = { ...systemClock, ms: 0, nowUs: () => 1_700_000_000_000_000n, monotonicMs: () => clock.ms };
    const { node, work, submit } = await startMining({}, { clock });
    let chain = 0;
    node.ledger.pickChain = () => chain++;
    const [{ header }, { header: another }] = [mine(await work()), mine(await work())];
    clock.ms = 299_999;
    expect((await submit(header)).status).toBe(200);
    clock.ms = 300_000;
    expect(await submit(another)).toEqual({ status: 404, text: 'No associated Payload' });
  });
});

describe('an update stream', () => {
  it('sends two New Cuts for each block of its chain, without a data line, and ends by itself', async () => {
    const { node, updates } = await startMining({ streamMs: 300 });
    const { body, headers } = await updates(chainBytes(3));
    expect(headers['content-type']).toBe('text/event-stream');
    node.ledger.advance(4);
    node.ledger.advance(3);
    node.ledger.refreshPayload(3);
    const text = await body.text();
    expect(text.replace('event:Refreshed Block\n\n', '')).toBe('event:New Cut\n\nevent:New Cut\n\n');
    expect(text).toContain('event:Refreshed Block\n\n');
    await eventually(() => expect(node.server.streams.open).toBe(0));
  });

  it('is refused to anything but 4 bytes', async () => {
    const { updates, node } = await startMining();
    for (const wrong of [[], [1, 0, 0], [1, 0, 0, 0, 0]]) {
      const { statusCode, body } = await updates(Uint8Array.from(wrong));
      expect([wrong, statusCode, await body.text()]).toEqual([wrong, 400, expect.stringMatching(/^Decoding error: /)]);
    }
    expect((await updates(chainBytes(1), { 'content-type': 'application/json' })).statusCode).toBe(415);
    expect(node.server.streams.open).toBe(0);
    expect((await updates(chainBytes(19))).statusCode).toBe(200);
  });

  it('opens whatever the client accepts, and whatever the type of its 4 bytes is', async () => {
    const { updates } = await startMining();
    for (const headers of [{ accept: 'application/json' }, { accept: 'text/event-stream', 'content-type': OCTETS }]) {
      const response = await updates(chainBytes(1), headers);
      expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream']);
    }
  });

  it('of a chain that is not there is never answered, and takes the place of a stream until the client leaves', async () => {
    const { ask, updates, node } = await startMining({ streamLimit: 1 });
    const leave = new AbortController();
    const { signal } = leave;
    const headers = { 'content-type': OCTETS };
    const waiting = ask('/mining/updates', { method: 'GET', body: chainBytes(20), headers, signal });
    await eventually(() => expect(node.server.streams.full).toBe(true));
    expect((await updates(chainBytes(1))).statusCode).toBe(503);
    leave.abort(new Error('the client has left'));
    await expect(waiting).rejects.toThrow('the client has left');
    await eventually(() => expect(node.server.streams.full).toBe(false));
    expect((await updates(chainBytes(1))).statusCode).toBe(200);
  });

  it('is refused beyond the limit, whatever is asked for', async () => {
    const { updates } = await startMining({ streamLimit: 1 });
    expect((await updates(chainBytes(1))).statusCode).toBe(200);
    for (const asked of [chainBytes(2), chainBytes(99), new Uint8Array(3)]) {
      const { statusCode, body } = await updates(asked);
      expect([statusCode, await body.text()]).toEqual([
        503,
        'No more update streams available currently. Retry later.',
      ]);
    }
  });
});
