/** What real pools send, byte for byte, and what the client answers. */

import { once } from 'node:events';
import { type AddressInfo, createServer, Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Backoff } from '#pickaxe/base/net/backoff.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { FailoverSource } from '#pickaxe/miner/source/failover.js';
import type { SourceUpdate } from '#pickaxe/miner/source/source.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import type { Work } from '#pickaxe/protocol/chain/work.js';
import { Recorder } from '../../../fakes.ts';
import { eventually, Follower, mine } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import {
  AUTHORIZE,
  AUTHORIZED,
  followPool,
  GREETING,
  jobLine,
  makeHeader,
  poolSource,
  SUBSCRIBE,
  SUBSCRIBED,
  submitLine,
  targetLine,
} from './pool.ts';

/** Shares of a few dozen hashes. */
const EASY = 64;
const header = makeHeader();

/** What people were told, without how it began. */
const told = (recorder: Recorder, state: string) =>
  recorder
    .of('source')
    .filter((event) => event.state === state)
    .map(({ reason }) => reason);

/** @returns nonce2 as the wire has it: the nonce without its low bytes, most significant digit first */
const nonce2Of = (nonce: bigint, bytes: number) =>
  (nonce >> BigInt(8 * bytes)).toString(16).padStart(16 - 2 * bytes, '0');

/**
 * @param subscribed how the pool answers mining.subscribe.
 * @returns a client of that pool, and the work of its job 1
 */
async function clientOf(subscribed: string) {
  const job = jobLine('1', header);
  const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE, subscribed, AUTHORIZED, targetLine(EASY), job]);
  const client = followPool(pool.url);
  return { pool, client, work: await client.follower.work() };
}

/** Submits the first share of a work and plays the pool's answer. @param result what the answer has, as JSON */
async function submit(
  pool: MockPool,
  { source, follower }: ReturnType<typeof followPool>,
  { work, job, request = 3, lane = 0 }: { work: Work; job: string; request?: number; lane?: number },
  result: string,
) {
  const solution = mine(work, lane);
  const line = submitLine(request, job, nonce2Of(solution.nonce, work.nonce1.bytes));
  pool.play(line, `< {"id":${request},${result}}`);
  return { solution, verdict: await source.submit(solution, follower.stop) };
}

describe('a pool gives work and takes shares', () => {
  it('f2pool: subscribe, authorize, target, job, share', async () => {
    const job = jobLine('1d2e3f40a1b2', header, 'true');
    const pool = await MockPool.start([...GREETING, targetLine(EASY), job]);
    const client = followPool(pool.url);
    const work = await client.follower.work();
    expect(work).toMatchObject({
      chain: 3,
      height: 7n,
      header,
      target: targetForDifficulty(EASY),
      blockTarget: targetForDifficulty(1e12),
      nonce1: { value: 0x09e8, bytes: 2 },
      rollTime: false,
      until: 'replaced',
    });
    const share = { work, job: '1d2e3f40a1b2' };
    const { solution, verdict } = await submit(pool, client, share, '"result":true,"error":null');
    expect(verdict).toEqual({ outcome: 'accepted', reason: '' });
    // nonce1 “09e8” is the number 0x09e8, and the low two bytes of the nonce, which the header has first.
    expect(solution.nonce & 0xffffn).toBe(0x09e8n);
    expect([...solution.header.slice(278, 280)]).toEqual([0xe8, 0x09]);
    await pool.played();
    expect(told(client.recorder, 'connected')).toEqual(['the pool gives work']);
    expect(client.recorder.of('fetch')).toHaveLength(1);
  });

  it('poolflare: no clean flag; the same parent leaves the earlier job valid, another one condemns both', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header)]);
    const client = followPool(pool.url);
    const first = await client.follower.work();
    pool.play(jobLine('2', makeHeader({ payload: 10 })));
    const second = await eventually(async () => {
      const work = await client.follower.work();
      expect(work).not.toBe(first);
      return work;
    });
    expect(client.follower.of('stale')).toEqual([]);
    const late = await submit(pool, client, { work: first, job: '1' }, '"result":true,"error":null');
    expect(late.verdict.outcome).toBe('accepted');
    pool.play(jobLine('3', makeHeader({ parent: 2 })));
    await eventually(() => expect(client.follower.received).toHaveLength(3));
    expect(client.follower.of('stale')).toEqual([{ kind: 'stale', works: [first, second], reason: 'new-cut' }]);
    expect(await client.source.submit(mine(second), client.follower.stop)).toEqual({
      outcome: 'stale',
      reason: 'the pool no longer wants its job; not sent',
    });
    await pool.played();
  });

  it('the reference: authorize is answered with [], stale with false, a bad share with 31', async () => {
    const authorized = '< {"id":2,"result":[],"error":null}';
    const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE, SUBSCRIBED, authorized, targetLine(EASY)]);
    const client = followPool(pool.url);
    // New clients wait for the next job.
    pool.play(jobLine('0', header, 'true'));
    const work = await client.follower.work();
    const stale = await submit(pool, client, { work, job: '0' }, '"result":false,"error":null');
    expect(stale.verdict).toEqual({
      outcome: 'stale',
      reason: 'the pool answered false, which means an outdated job',
    });
    const bad = { work, job: '0', request: 4 };
    const { verdict } = await submit(pool, client, bad, '"result":null,"error":[31,"invalid nonce",null]');
    expect(verdict).toEqual({ outcome: 'rejected', reason: 'invalid nonce' });
    await pool.played();
  });

  it('antpool: target and job come after authorize, before subscribe is answered in its longer form', async () => {
    const pool = await MockPool.start([
      SUBSCRIBE,
      AUTHORIZE,
      AUTHORIZED,
      targetLine(EASY),
      jobLine('a1', header, 'true'),
    ]);
    const client = followPool(pool.url);
    await pool.played();
    expect(client.follower.received).toEqual([]);
    pool.play(
      '< {"id":1,"result":[[["mining.notify","ae6812eb4cd7735a302a8a9dd95cf71f"],["mining.set_target","b4b6693b72a50c7116db18d6497cac52"]],"4059",6],"error":null}',
    );
    const work = await client.follower.work();
    expect(work.nonce1).toEqual({ value: 0x4059, bytes: 2 });
    const { verdict } = await submit(pool, client, { work, job: 'a1' }, '"result":true,"error":null');
    expect(verdict.outcome).toBe('accepted');
    await pool.played();
  });

  it('NiceHash’s form: two elements, and nonce2 has what nonce1 leaves', async () => {
    const subscribed = '< {"id":1,"result":[["mining.notify","1","EthereumStratum/1.0.0"],"c7"],"error":null}';
    const { pool, client, work } = await clientOf(subscribed);
    expect(work.nonce1).toEqual({ value: 0xc7, bytes: 1 });
    const { solution, verdict } = await submit(pool, client, { work, job: '1' }, '"result":true,"error":null');
    expect(solution.nonce & 0xffn).toBe(0xc7n);
    expect(verdict.outcome).toBe('accepted');
    await pool.played();
  });

  it('ids come back as texts', async () => {
    const script = [SUBSCRIBE, AUTHORIZE, SUBSCRIBED.replace('1', '"1"'), AUTHORIZED.replace('2', '"2"')];
    const pool = await MockPool.start([...script, targetLine(EASY), jobLine('1', header, 'true')]);
    await followPool(pool.url).follower.work();
    await pool.played();
  });

  it('trusts a certificate that an authority has signed', async () => {
    const { authority, signed } = await import('../../../node/client/certificates.ts');
    const pool = await MockPool.start([...GREETING, jobLine('1', header, 'true')], signed);
    const trust = { by: 'authority', authorities: [authority.cert] } as const;
    await followPool(pool.url, {}, { trust }).follower.work();
    await pool.played();
  });

  it('speaks TLS when it is asked for, and trusts by the fingerprint', async () => {
    const { selfSigned } = await import('../../../node/client/certificates.ts');
    const { fingerprintOf } = await import('#pickaxe/base/net/certificate.js');
    const { X509Certificate } = await import('node:crypto');
    const fingerprint = fingerprintOf(new X509Certificate(selfSigned.cert).raw);
    const pool = await MockPool.start([...GREETING, jobLine('1', header, 'true')], selfSigned);
    expect(pool.url).toMatch(/^stratum\+ssl:/);
    const trust = { by: 'fingerprint', fingerprints: [fingerprint] } as const;
    await followPool(pool.url, {}, { trust }).follower.work();
    await pool.played();

    const strict = followPool(pool.url);
    await eventually(() => expect(pool.connections).toBeGreaterThan(3));
    expect(told(strict.recorder, 'lost')).toEqual([
      expect.stringMatching(/is not trusted \(.*\), so nothing was sent to it.*--pool-fingerprint stratum\+ssl:\/\//),
    ]);
    await pool.played();
  });
});

describe('nonce1', () => {
  it('may be missing: the pool leaves the whole nonce to the miner', async () => {
    const subscribed = '< {"id":1,"result":[null,"",8],"error":null}';
    const { pool, client, work } = await clientOf(subscribed);
    expect(work.nonce1).toEqual({ value: 0, bytes: 0 });
    const share = { work, job: '1', lane: 0xbeef };
    const { solution } = await submit(pool, client, share, '"result":true,"error":null');
    expect(solution.nonce & 0xffffn).toBe(0xbeefn);
    await pool.played();
  });

  it.each([
    [
      'of 5 bytes',
      '[null,"0102030405",3]',
      'it fixes 5 bytes of the nonce (nonce1), but at most 4 of its 8 may be fixed: the miner needs the others',
    ],
    ['of 6 bytes without a size', '[null,"010203040506"]', 'it fixes 6 bytes of the nonce (nonce1)'],
    ['of 9 bytes without a size', '[null,"010203040506070809"]', 'it fixes 9 bytes of the nonce (nonce1)'],
    [
      'of 9 bytes beside a size',
      '[null,"010203040506070809",6]',
      'it gives a nonce1 of 9 bytes and leaves 6 to the miner: together they must be 8',
    ],
    [
      'that does not fit nonce2',
      '[null,"010203",6]',
      'it gives a nonce1 of 3 bytes and leaves 6 to the miner: together they must be 8',
    ],
    ['that is no number', '[null,"xyz",6]', 'its nonce1 is no number in hex digits'],
    ['that is missing', 'true', 'it does not say which part of the nonce it has fixed (nonce1)'],
  ])('%s is refused in words', async (_, result, why) => {
    const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE, `< {"id":1,"result":${result},"error":null}`]);
    const { follower, recorder } = followPool(pool.url, { refusedPauses: { firstMs: 60_000, mostMs: 60_000 } });
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(told(recorder, 'lost')).toEqual([expect.stringContaining(`the pool cannot be used: ${why}`)]);
    await pool.played();
  });

  it.each([
    ['“010203” and 5', '[null,"010203",5]', { value: 0x010203, bytes: 3 }],
    // A transcript of a market's pool of this network.
    ['“4f0026” and 5', '[null,"4f0026",5]', { value: 0x4f0026, bytes: 3 }],
    ['“feedbeef” without a size', '[null,"feedbeef"]', { value: 0xfeed_beef, bytes: 4 }],
    ['“7” and 4', '[null,"7",4]', { value: 7, bytes: 4 }],
  ])('may have three or four bytes: %s', async (_, result, nonce1) => {
    const { pool, client, work } = await clientOf(`< {"id":1,"result":${result},"error":null}`);
    expect(work.nonce1).toEqual(nonce1);
    const { solution, verdict } = await submit(pool, client, { work, job: '1' }, '"result":true,"error":null');
    expect(solution.nonce % 256n ** BigInt(nonce1.bytes)).toBe(BigInt(nonce1.value));
    expect(verdict.outcome).toBe('accepted');
    await pool.played();
  });

  it('without leading zeros is padded to the size that nonce2 leaves', async () => {
    const subscribed = '< {"id":1,"result":[null,"9e8",6],"error":null}';
    expect((await clientOf(subscribed)).work.nonce1).toEqual({ value: 0x9e8, bytes: 2 });
  });

  it('can be changed by mining.set_extranonce, for the jobs that follow', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const client = followPool(pool.url);
    const first = await client.follower.work();
    pool.play('< {"id":null,"method":"mining.set_extranonce","params":["a0",7]}');
    const before = await submit(pool, client, { work: first, job: '1' }, '"result":true,"error":null');
    expect(before.solution.nonce & 0xffffn).toBe(0x09e8n);
    pool.play(jobLine('2', makeHeader({ payload: 10 }), 'false'));
    await eventually(() => expect(client.follower.received).toHaveLength(2));
    expect(client.follower.received[1].nonce1).toEqual({ value: 0xa0, bytes: 1 });
    await pool.played();
  });

  it('can be changed to another length, and back', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const client = followPool(pool.url);
    await client.follower.work();
    const changes = [
      ['"4f0026",5', { value: 0x4f_0026, bytes: 3 }],
      ['"feedbeef",4', { value: 0xfeed_beef, bytes: 4 }],
      ['"a0",7', { value: 0xa0, bytes: 1 }],
      ['"",8', { value: 0, bytes: 0 }],
      ['"09e8",6', { value: 0x09e8, bytes: 2 }],
    ] as const;
    for (const [i, [params, nonce1]] of changes.entries()) {
      const job = `${2 + i}`;
      pool.play(`< {"id":null,"method":"mining.set_extranonce","params":[${params}]}`);
      pool.play(jobLine(job, makeHeader({ payload: 10 + i }), 'false'));
      await eventually(() => expect(client.follower.received).toHaveLength(2 + i));
      const work = client.follower.received[1 + i];
      expect(work.nonce1).toEqual(nonce1);
      const { verdict } = await submit(pool, client, { work, job, request: 3 + i }, '"result":true,"error":null');
      expect(verdict.outcome).toBe('accepted');
    }
    await pool.played();
  });

  it('that is changed to more than four bytes ends the connection, with the reason', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const client = followPool(pool.url, { refusedPauses: { firstMs: 60_000, mostMs: 60_000 } });
    await client.follower.work();
    pool.play('< {"id":null,"method":"mining.set_extranonce","params":["0102030405",3]}');
    await eventually(() => expect(told(client.recorder, 'lost')).toHaveLength(1));
    expect(told(client.recorder, 'lost')).toEqual([expect.stringContaining('but at most 4 of its 8 may be fixed')]);
  });
});

it('nonce1 that the pool changes before it answers subscribe stays as it was changed', async () => {
  const changed = '< {"id":null,"method":"mining.set_extranonce","params":["a0",7]}';
  const pool = await MockPool.start([
    SUBSCRIBE,
    AUTHORIZE,
    changed,
    SUBSCRIBED,
    AUTHORIZED,
    jobLine('1', header, 'true'),
  ]);
  expect((await followPool(pool.url).follower.work()).nonce1).toEqual({ value: 0xa0, bytes: 1 });
});

it('a pool that cannot be used is left for the next one, whose connection is closed when the first can be', async () => {
  const subscribed = '< {"id":1,"result":[null,"0102030405",3],"error":null}';
  const first = await MockPool.start([SUBSCRIBE, AUTHORIZE, subscribed]);
  const second = await MockPool.start([...GREETING, jobLine('1', header, 'true')]);
  const recorder = new Recorder();
  const emit = recorder.listen;
  const sources = [first, second].map(({ url }) => poolSource(url, {}, {}, { emit }));
  const source = new FailoverSource({ sources, emit, patienceMs: 50, readyPatienceMs: 50, standbyMs: 50 });
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  await follower.work();
  await second.played();
  expect(told(recorder, 'info')).toEqual([`takes over from ${first.url}`]);
  first.play(...GREETING, jobLine('1', makeHeader({ parent: 2 }), 'true'));
  await eventually(() => expect(follower.received.at(-1)?.header).toEqual(makeHeader({ parent: 2 })));
  await eventually(() => expect(second.open).toBe(0));
  await eventually(() => expect(told(recorder, 'standby')).toHaveLength(1));
  const states = () => recorder.of('source').flatMap(({ source, state }) => (source === second.url ? [state] : []));
  expect(states().at(-1)).toBe('standby');
  expect(recorder.of('source').every(({ kind }) => kind === 'pool')).toBe(true);
  // When it is needed again, people are told anew that it gives work.
  second.play(...GREETING, jobLine('2', makeHeader({ parent: 3 }), 'true'));
  first.play('* close');
  await eventually(() => expect(follower.received.at(-1)?.header).toEqual(makeHeader({ parent: 3 })));
  expect(states().filter((state) => state === 'connected' || state === 'standby')).toEqual([
    'connected',
    'standby',
    'connected',
  ]);
});

it('a pool that answers shares no more, but sends jobs, is left for the next one, and its jobs do not bring it back', async () => {
  const first = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
  const second = await MockPool.start([...GREETING, jobLine('1', makeHeader({ parent: 2 }), 'true')]);
  const recorder = new Recorder();
  const emit = recorder.listen;
  const options = { emit, limits: { submitMs: 100, silenceMs: 60_000 } };
  const sources = [first, second].map(({ url }) => poolSource(url, {}, {}, options));
  const source = new FailoverSource({ sources, emit, patienceMs: 50, readyPatienceMs: 50, standbyMs: 60_000 });
  const follower = new Follower(source);
  onTestFinished(() => follower.end());
  const client = { source, follower } as unknown as ReturnType<typeof followPool>;
  const work = await follower.work();
  await submit(first, client, { work, job: '1' }, '"result":true,"error":null');
  first.play(submitLine(4, '1', nonce2Of(mine(work).nonce, 2)));
  expect((await source.submit(mine(work), follower.stop)).outcome).toBe('unknown');
  await eventually(() => expect(follower.received.at(-1)?.header).toEqual(makeHeader({ parent: 2 })));
  expect(told(recorder, 'unhealthy')).toEqual([
    'answers shares no more. It is mined on only while no other pool is better',
  ]);
  const given = follower.received.length;
  first.play(jobLine('2', makeHeader({ parent: 3 }), 'true'), '< {"id":1,"method":"client.get_version"}');
  first.play('> {"id":1,"result":"pickaxe/test","error":null}');
  await first.played();
  second.play(jobLine('2', makeHeader({ parent: 4 }), 'true'));
  await eventually(() => expect(follower.received).toHaveLength(given + 1));
  expect(follower.received.at(-1)?.header).toEqual(makeHeader({ parent: 4 }));
  expect(told(recorder, 'info')).toHaveLength(1);
});

it('the only pool is mined on when it answers shares no more, and that is said', async () => {
  const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
  const client = followPool(pool.url, { submitMs: 100 });
  const work = await client.follower.work();
  await submit(pool, client, { work, job: '1' }, '"result":true,"error":null');
  await client.source.submit(mine(work), client.follower.stop);
  expect(told(client.recorder, 'unhealthy')).toEqual([
    'answers shares no more. It is mined on all the same: there is no other pool',
  ]);
  pool.play(submitLine(4, '1', nonce2Of(mine(work).nonce, 2)));
  await submit(pool, client, { work, job: '1', request: 5 }, '"result":true,"error":null');
  expect(told(client.recorder, 'healthy')).toEqual(['answers shares again']);
});

it('after a suspension, the pool is connected to again', async () => {
  const job = jobLine('1', header, 'true');
  const pool = await MockPool.start([...GREETING, job]);
  let asleepMs = 0;
  const clock = { ...systemClock, nowUs: () => systemClock.nowUs() + BigInt(asleepMs) * 1000n };
  const recorder = new Recorder();
  const follower = new Follower(poolSource(pool.url, {}, {}, { clock, emit: recorder.listen }));
  onTestFinished(() => follower.end());
  await follower.work();
  pool.play(...GREETING, job);
  asleepMs = 3_600_000;
  await eventually(() => expect(follower.received).toHaveLength(2));
  await pool.played();
  // On a busy machine the suspension is noticed later, and counts as longer.
  expect(told(recorder, 'info')).toEqual([expect.stringMatching(/was suspended for 36\d\d s: connecting again$/)]);
});

describe('targets', () => {
  it('before the first one, a share must meet the block’s target; an easier block’s target always counts', async () => {
    const easyBlock = makeHeader({ difficulty: 10 });
    const pool = await MockPool.start([...GREETING, jobLine('1', header, 'true')]);
    const { follower } = followPool(pool.url);
    expect((await follower.work()).target).toEqual(targetForDifficulty(1e12));
    pool.play(targetLine(1e6), jobLine('2', easyBlock, 'true'));
    await eventually(() => expect(follower.received.at(-1)?.header).toEqual(easyBlock));
    expect(follower.received.at(-1)).toMatchObject({
      target: targetForDifficulty(10),
      blockTarget: targetForDifficulty(10),
    });
  });

  it('that change without another job make another work of the same header', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(1e6), jobLine('1', header, 'true')]);
    const client = followPool(pool.url);
    const first = await client.follower.work();
    // An easier one counts from the next job on, also if that is the same one again.
    pool.play(targetLine(EASY), jobLine('1', header, 'true'));
    await eventually(() => expect(client.follower.received).toHaveLength(2));
    const second = client.follower.received[1];
    expect(second).toMatchObject({ header: first.header, target: targetForDifficulty(EASY) });
    expect(second).not.toBe(first);
    expect(client.follower.of('stale')).toEqual([]);
    const { verdict } = await submit(pool, client, { work: second, job: '1' }, '"result":true,"error":null');
    expect(verdict.outcome).toBe('accepted');
    await pool.played();
  });

  it('as numbers are not guessed: nothing says what difficulty 1 is', async () => {
    const number = '< {"id":null,"method":"mining.set_difficulty","params":[512]}';
    const pool = await MockPool.start([...GREETING, number, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url, { refusedPauses: { firstMs: 60_000, mostMs: 60_000 } });
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(told(recorder, 'lost')).toEqual([
      expect.stringContaining('it sent mining.set_difficulty 512 and no target'),
    ]);
    expect(follower.received).toEqual([]);
  });

  it('as numbers do no harm beside a real target', async () => {
    const number = '< {"id":null,"method":"mining.set_difficulty","params":[512]}';
    const pool = await MockPool.start([...GREETING, targetLine(EASY), number, number, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url);
    expect((await follower.work()).target).toEqual(targetForDifficulty(EASY));
    expect(told(recorder, 'info')).toEqual([
      'the pool also sends mining.set_difficulty (512): what counts is its mining.set_target',
    ]);
  });

  it('can be suggested', async () => {
    const suggest = '> {"id":3,"method":"mining.suggest_difficulty","params":[2.5]}';
    const pool = await MockPool.start([...GREETING, suggest, '< {"id":3,"result":true,"error":null}']);
    const { recorder } = followPool(pool.url, {}, { difficulty: 2.5 });
    await pool.played();
    expect(told(recorder, 'info')).toEqual([]);
  });

  it('that are suggested in vain are told', async () => {
    const suggest = '> {"id":3,"method":"mining.suggest_difficulty","params":[2.5]}';
    const refused = '< {"id":3,"result":null,"error":[20,"unknown method",null]}';
    const pool = await MockPool.start([...GREETING, suggest, refused, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url, {}, { difficulty: 2.5 });
    await follower.work();
    expect(told(recorder, 'info')).toEqual(['the pool does not say that it takes the suggested difficulty']);
  });
});

describe('jobs', () => {
  it('that are sent twice are one job', async () => {
    const job = jobLine('1', header, 'true');
    const pool = await MockPool.start([...GREETING, targetLine(EASY), job]);
    const { follower } = followPool(pool.url);
    await follower.work();
    pool.play(job, job, jobLine('2', makeHeader({ parent: 2 }), 'true'));
    await eventually(() => expect(follower.received).toHaveLength(2));
    expect(follower.received[1].header).toEqual(makeHeader({ parent: 2 }));
  });

  it('of a clean notify condemn all earlier ones, and of another leave them', async () => {
    const pool = await MockPool.start([...GREETING, jobLine('1', header, 'true')]);
    const { follower } = followPool(pool.url);
    const jobs = [jobLine('2', makeHeader({ parent: 2 }), 'false'), jobLine('3', makeHeader({ parent: 3 }), 'true')];
    for (const [index, job] of jobs.entries()) {
      await eventually(() => expect(follower.received).toHaveLength(index + 1));
      pool.play(job);
    }
    await eventually(() => expect(follower.received).toHaveLength(3));
    expect(follower.of('stale')).toEqual([{ kind: 'stale', works: follower.received.slice(0, 2), reason: 'new-cut' }]);
  });

  it('that take the name of an earlier one replace it, because a share names its job by nothing else', async () => {
    const pool = await MockPool.start([...GREETING, jobLine('1', header, 'true')]);
    const { follower } = followPool(pool.url);
    const first = await follower.work();
    pool.play(jobLine('1', makeHeader({ payload: 10 }), 'false'));
    await eventually(() => expect(follower.received).toHaveLength(2));
    expect(follower.of('stale')).toMatchObject([{ works: [first] }]);
  });

  it('do not come for too long: the pool is dead, and is connected to again', async () => {
    const pool = await MockPool.start([...GREETING, ...GREETING, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url, { noWorkMs: 300 });
    await follower.work();
    expect(told(recorder, 'lost')).toEqual(['the pool has sent no job for 0 s.']);
    expect(pool.connections).toBe(2);
  });
});

describe('answers to shares', () => {
  it.each([
    ['"result":null,"error":[21,"Job not found",null]', 'stale', 'Job not found'],
    ['"result":null,"error":[21,"Low difficulty share",null]', 'rejected', 'Low difficulty share'],
    ['"result":null,"error":[23,"low difficulty",null]', 'rejected', 'low difficulty'],
    ['"result":null,"error":[22,"Duplicate share",null]', 'rejected', 'Duplicate share'],
    ['"result":false,"error":"Stale share"', 'stale', 'Stale share'],
    ['"result":null,"error":{"code":20,"message":"job expired"}', 'stale', 'job expired'],
    ['"result":null,"error":[31]', 'rejected', 'error 31, invalid nonce'],
    [
      '"result":null,"error":[21]',
      'rejected',
      'error 21, which is “job not found” at some pools and “low difficulty” at others',
    ],
    ['"result":null,"error":[99,"",null]', 'rejected', 'error 99'],
    ['"result":null,"error":7', 'rejected', 'the pool gave no reason'],
    ['"result":null,"error":null', 'unknown', 'the pool answered neither yes nor no'],
    ['"result":{"status":"OK"},"error":null', 'accepted', ''],
    ['"result":true,"error":[]', 'accepted', ''],
    ['"result":true,"error":{}', 'accepted', ''],
    ['"result":true,"error":false', 'accepted', ''],
    ['"result":true,"error":0', 'accepted', ''],
    ['"result":true,"error":""', 'accepted', ''],
    ['"result":null,"error":[]', 'unknown', 'the pool answered neither yes nor no'],
    ['"result":null,"error":[24,"Unauthorized\\u001b[31m\\nworker",null]', 'rejected', 'Unauthorized [31m worker'],
  ])('%s: %s', async (result, outcome, reason) => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const client = followPool(pool.url);
    const work = await client.follower.work();
    const { verdict } = await submit(pool, client, { work, job: '1' }, result);
    expect(verdict).toEqual({ outcome, reason });
    await pool.played();
  });

  it('that never come are unknown after a while', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const { source, follower } = followPool(pool.url, { submitMs: 100 });
    const verdict = await source.submit(mine(await follower.work()), follower.stop);
    expect(verdict).toEqual({ outcome: 'unknown', reason: 'the pool did not answer in time' });
    expect(await source.answers()).toBe(true);
  });

  it('that are lost with the connection are unknown, and later shares of its jobs are not sent', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const { source, follower } = followPool(pool.url);
    const work = await follower.work();
    const solution = mine(work);
    pool.play(submitLine(3, '1', nonce2Of(solution.nonce, 2)), '* close');
    expect(await source.submit(solution, follower.stop)).toEqual({
      outcome: 'unknown',
      reason: 'the connection ended before the pool answered',
    });
    expect(await source.submit(solution, follower.stop)).toEqual({
      outcome: 'stale',
      reason: 'the connection that its job came over has ended; not sent',
    });
    expect(follower.of('stale')).toEqual([{ kind: 'stale', works: [work], reason: 'expired' }]);
    expect(follower.of('lost')).toEqual([{ kind: 'lost', reason: 'the pool closed the connection.' }]);
  });

  it('that are on their way when the source is closed are waited for', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const { source, follower } = followPool(pool.url, { submitAfterStopMs: 600_000 });
    const work = await follower.work();
    const solution = mine(work);
    pool.play(submitLine(3, '1', nonce2Of(solution.nonce, 2)));
    const pending = source.submit(solution, new AbortController().signal);
    await pool.played();
    const ended = follower.end();
    pool.play('< {"id":3,"result":true,"error":null}');
    expect((await pending).outcome).toBe('accepted');
    await ended;
  });

  it('on their way when the source is closed keep it connected, and new jobs are not given any more', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const source = poolSource(pool.url, { submitAfterStopMs: 600_000 });
    const stop = new AbortController();
    const given: SourceUpdate[] = [];
    const following = source.follow((update) => given.push(update), stop.signal);
    await eventually(() => expect(given).toHaveLength(1));
    const [{ work }] = given as { work: Work }[];
    const solution = mine(work);
    pool.play(submitLine(3, '1', nonce2Of(solution.nonce, 2)));
    const pending = source.submit(solution, new AbortController().signal);
    await pool.played();
    stop.abort();
    pool.play(jobLine('2', makeHeader(), 'true'), '< {"id":3,"result":true,"error":null}');
    expect((await pending).outcome).toBe('accepted');
    await following;
    expect(given).toHaveLength(1);
  });

  it('of a pool that used to answer and falls silent say that it does not answer now', async () => {
    const pool = await MockPool.start([...GREETING, targetLine(EASY), jobLine('1', header, 'true')]);
    const client = followPool(pool.url, { silenceMs: 50 });
    const work = await client.follower.work();
    await submit(pool, client, { work, job: '1' }, '"result":true,"error":null');
    expect(await client.source.answers()).toBe(true);
    const pending = client.source.submit(mine(work), client.follower.stop);
    await eventually(async () => expect(await client.source.answers()).toBe(false));
    pool.play(submitLine(4, '1', nonce2Of(mine(work).nonce, 2)), '< {"id":4,"result":true,"error":null}');
    expect((await pending).outcome).toBe('accepted');
    expect(await client.source.answers()).toBe(true);
  });
});

describe('calls of the pool', () => {
  it('client.get_version is answered, unknown methods are answered with an error, notifications are not', async () => {
    const pool = await MockPool.start([
      ...GREETING,
      '< {"id":7,"method":"client.get_version","params":[]}',
      '> {"id":7,"result":"pickaxe/test","error":null}',
      '< {"id":"x","method":"mining.dance","params":{}}',
      '> {"id":"x","result":null,"error":[-3,"method not found",null]}',
      '< {"id":null,"method":"mining.dance","params":[]}',
      '< {"method":"mining.dance"}',
      '< {"id":8,"method":"client.get_version"}',
      '> {"id":8,"result":"pickaxe/test","error":null}',
    ]);
    followPool(pool.url);
    await pool.played();
  });

  it('client.show_message is shown on one line, once', async () => {
    const message = (text: string) => `< {"id":null,"method":"client.show_message","params":["${text}"]}`;
    const pool = await MockPool.start([
      ...GREETING,
      message('maintenance\\u001b[2J\\n at 12:00'),
      message('maintenance\\u001b[2J\\n at 12:00'),
      message('y'.repeat(500)),
      jobLine('1', header, 'true'),
    ]);
    const { follower, recorder } = followPool(pool.url);
    await follower.work();
    expect(told(recorder, 'info')).toEqual([
      'the pool says: “maintenance [2J at 12:00”',
      `the pool says: “${'y'.repeat(199)}…”`,
    ]);
  });

  it('client.reconnect without a host, or to the same host, is followed', async () => {
    const other = await MockPool.start([
      ...GREETING,
      '< {"id":null,"method":"client.reconnect","params":[]}',
      ...GREETING,
    ]);
    const pool = await MockPool.start([
      ...GREETING,
      `< {"id":null,"method":"client.reconnect","params":["127.0.0.1",${other.port},0]}`,
    ]);
    const { recorder } = followPool(pool.url);
    await other.played();
    await pool.played();
    expect(told(recorder, 'lost')).toEqual([
      `the pool asks to connect to ${other.url}.`,
      'the pool asks to connect again.',
    ]);
  });

  it('client.reconnect holds for one connection: after that, the configured pool is asked again', async () => {
    const other = await MockPool.start([...GREETING, '* close']);
    const call = `< {"id":null,"method":"client.reconnect","params":["127.0.0.1",${other.port},0]}`;
    const pool = await MockPool.start([...GREETING, call, ...GREETING, jobLine('1', header, 'true')]);
    await followPool(pool.url).follower.work();
    await pool.played();
    expect([pool.connections, other.connections]).toEqual([2, 1]);
  });

  it('client.reconnect of a pool with TLS is followed with TLS', async () => {
    const { authority, signed } = await import('../../../node/client/certificates.ts');
    const recorded: number[] = [];
    const other = createServer((socket) =>
      socket.once('data', ([first]) => recorded.push(first)).on('error', () => {}),
    );
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const call = `< {"id":null,"method":"client.reconnect","params":["",${port}]}`;
    const pool = await MockPool.start([...GREETING, call], signed);
    followPool(pool.url, {}, { trust: { by: 'authority', authorities: [authority.cert] } });
    // A record of TLS' handshake, and not a line with the user and the password.
    await eventually(() => expect(recorded).toEqual([0x16]));
  });

  it.each([
    [
      'a name of this machine',
      'localhost',
      'connect to another host, stratum\\+tcp://localhost:\\d+, which is refused: ',
    ],
    [
      'a private address',
      '192.168.1.7',
      'connect to another host, stratum\\+tcp://192.168.1.7:\\d+, which is refused: ',
    ],
    // It is looked up like a name, and found to be 127.0.0.1.
    ['a name of a private address', '127.1', 'stratum\\+tcp://127.1:\\d+ is in a private network, '],
  ])('client.reconnect of a pool of the Internet does not lead to %s', async (_, host, refusal) => {
    // What `remoteAddress`, which cannot be replaced, is read from. It is read once, on the first connection.
    const sockets = Socket.prototype as unknown as { _getpeername: () => { address: string } };
    const peer = vi.spyOn(sockets, '_getpeername').mockReturnValueOnce({ address: '203.0.113.7' });
    onTestFinished(() => peer.mockRestore());
    const other = await MockPool.start([]);
    const call = `< {"id":null,"method":"client.reconnect","params":["${host}",${other.port}]}`;
    const pool = await MockPool.start([...GREETING, call]);
    const { recorder } = followPool(pool.url, {}, { allowReconnect: true });
    const reasons = () => recorder.of('source').map(({ reason }) => reason);
    const why = 'a pool of the Internet cannot lead (there|into a private network)';
    await eventually(() => expect(reasons()).toContainEqual(expect.stringMatching(`${refusal}.*${why}`)));
    expect(other.log).toEqual([]);
  });

  it('client.reconnect to another host is refused, unless it is allowed', async () => {
    const other = await MockPool.start([...GREETING]);
    const call = `< {"id":null,"method":"client.reconnect","params":["localhost","${other.port}"]}`;
    const pool = await MockPool.start([...GREETING, call, call, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url);
    await follower.work();
    expect(told(recorder, 'warning')).toEqual([
      expect.stringMatching(
        /asks to connect to another host, stratum\+tcp:\/\/localhost:\d+, which is refused.*--pool-allow/,
      ),
    ]);
    expect(other.connections).toBe(0);

    const asking = await MockPool.start([...GREETING, call]);
    followPool(asking.url, {}, { allowReconnect: true });
    await other.played();
  });
});

describe('refusals', () => {
  const patient = { pauses: { firstMs: 1, mostMs: 1 }, refusedPauses: { firstMs: 60_000, mostMs: 60_000 } };

  it.each([
    [
      'a wrong user',
      ['< {"id":2,"result":false,"error":null}'],
      'does not accept the user k:abc.rig1. Check --user (pool.user).',
    ],
    [
      'a wrong user, in words',
      ['< {"id":2,"result":null,"error":[24,"Unauthorized worker",null]}'],
      'does not accept the user k:abc.rig1 (“Unauthorized worker”). Check --user (pool.user).',
    ],
    ['no room', ['< {"id":1,"result":null,"error":[20,"Pool is full",null]}'], 'refuses miners (“Pool is full”).'],
    [
      'a ban',
      ['< {"id":null,"method":"client.show_message","params":["You are banned for 10 minutes"]}', '* close'],
      'closed the connection. It said: “You are banned for 10 minutes”',
    ],
    [
      'a ban as an error of nothing',
      ['< {"id":null,"result":null,"error":[-1,"IP banned",null]}', '* close'],
      'closed the connection. It said: “IP banned”',
    ],
    ['no word at all', ['* close'], 'closed the connection without a word. It may have banned this address'],
    ['a web server', ['< HTTP/1.1 400 Bad Request'], 'sent what is not stratum: “HTTP/1.1 400 Bad Request”.'],
    [
      'a line without an end',
      [`< ${'x'.repeat(20_000)}`],
      'sent what is not stratum: a line of more than 16384 bytes.',
    ],
    ['JSON that is no message', ['< [1,2,3]'], 'sent what is not stratum: “[1,2,3]”.'],
    [
      'a job of another kind',
      [SUBSCRIBED, AUTHORIZED, jobLine('1', new Uint8Array(80))],
      'sent a job that cannot be read: ["1","00',
    ],
    [
      'a target of another kind',
      ['< {"id":null,"method":"mining.set_target","params":[7]}'],
      'sent a target that cannot be read: [7]',
    ],
  ])('%s: one clear reason, and a long pause', async (_, lines, reason) => {
    const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE, ...lines]);
    const { follower, recorder } = followPool(pool.url, patient);
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(told(recorder, 'lost')).toEqual([expect.stringContaining(`the pool ${reason}`)]);
    expect(pool.connections).toBe(1);
    await pool.played();
  });

  it('an empty list or object as the error of authorize is no refusal', async () => {
    const script = [SUBSCRIBE, AUTHORIZE, SUBSCRIBED.replace('"error":null', '"error":{}')];
    const pool = await MockPool.start([...script, '< {"id":2,"result":true,"error":[]}', jobLine('1', header, 'true')]);
    const { follower } = followPool(pool.url, patient);
    await follower.work();
    expect(pool.connections).toBe(1);
  });

  it('a job named by a number that JSON readers round is refused in words, and one below 2^53 is not', async () => {
    const named = (name: string) => jobLine('1', header, 'true').replace('"1"', name);
    const pool = await MockPool.start([...GREETING, named('9007199254740991'), named('9007199254740993')]);
    const { follower, recorder } = followPool(pool.url, patient);
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(told(recorder, 'lost')).toEqual([expect.stringContaining('names a job by a number beyond 2^53')]);
    expect(pool.connections).toBe(1);
    await pool.played();
  });

  /** A job whose name JSON readers round. */
  const UNUSABLE = jobLine('1', header, 'true').replace('"1"', '9007199254740993');

  /** Less than any time for which a pool gives work, and more than none. */
  const ANY_MS = Number.MIN_VALUE;

  it.each([
    ['refuses, the longer the pauses before the next connection are', [UNUSABLE], {}, [20, 40, 80]],
    ['breaks off at once, too', ['* close'], {}, [30, 60, 120]],
    ['breaks off after a good while, the shorter they are again', ['* close'], { steadyMs: ANY_MS }, [30, 30, 30]],
    ['refuses after a while, the longer they are all the same', [UNUSABLE], { steadyMs: ANY_MS }, [20, 40, 80]],
    ['refuses after a long while, the shorter they are again', [UNUSABLE], { refusedSteadyMs: ANY_MS }, [20, 20, 20]],
  ])('the more often a pool %s', async (_, end, limits, pauses) => {
    const nextMs = vi.spyOn(Backoff.prototype, 'nextMs');
    onTestFinished(() => nextMs.mockRestore());
    // The work comes before the end, which the answer to a question shows.
    const script = [...GREETING, jobLine('1', header, 'true'), '< {"id":9,"method":"client.get_version"}'];
    const connection = [...script, '> {"id":9,"result":"pickaxe/test","error":null}', ...end];
    const pool = await MockPool.start([...connection, ...connection, ...connection]);
    const quick = { pauses: { firstMs: 30, mostMs: 1_000 }, refusedPauses: { firstMs: 20, mostMs: 1_000 } };
    const source = poolSource(pool.url, { ...quick, ...limits }, {}, { random: () => 1 });
    const follower = new Follower(source);
    onTestFinished(() => follower.end());
    await eventually(() => expect(nextMs.mock.results.slice(0, 3).map(({ value }) => value)).toEqual(pauses));
  });

  it('no listener: cannot be reached, which is tried again soon', async () => {
    const { follower, recorder } = followPool('stratum+tcp://127.0.0.1:9');
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(told(recorder, 'lost')).toEqual([
      'cannot reach stratum+tcp://127.0.0.1:9 (ECONNREFUSED): nothing listens there. Is this a port of the pool, and is the pool up?',
    ]);
  });

  it('no answer to subscribe: it is no pool', async () => {
    const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE]);
    const { follower } = followPool(pool.url, { handshakeMs: 100 });
    await eventually(() => expect(follower.of('lost')).toHaveLength(1));
    expect(follower.of('lost')[0].reason).toBe('the pool did not answer in time. Is it a pool of this network?');
  });

  it('no answer to authorize: mining goes on after a while', async () => {
    const pool = await MockPool.start([SUBSCRIBE, AUTHORIZE, SUBSCRIBED, jobLine('1', header, 'true')]);
    const { follower, recorder } = followPool(pool.url, { handshakeMs: 200 });
    await follower.work();
    expect(told(recorder, 'info')).toEqual(['the pool does not say whether it accepts the user: mining goes on']);
  });
});
