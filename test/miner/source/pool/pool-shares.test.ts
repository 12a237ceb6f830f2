/** What the answers to shares say of a pool, and what the answers that do not come say. */

import { describe, expect, it } from 'vitest';
import type { Reply } from '#pickaxe/miner/source/pool/dialogue.js';
import type { ShareAnswer } from '#pickaxe/miner/source/pool/pool-health.js';
import { poolLimits } from '#pickaxe/miner/source/pool/pool-limits.js';
import { PoolShares } from '#pickaxe/miner/source/pool/pool-shares.js';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { USER } from './pool.ts';

const never = new AbortController().signal;
const SOLUTION = { work: { nonce1: { value: 1, bytes: 2 } }, nonce: 7n } as never;

/** A connection over which shares are sent. Its members can be changed at any time. */
function connection() {
  const now = {
    reply: 'late' as Reply | Promise<Reply>,
    everAnswered: true,
    lastLineMs: 0,
    isCurrent: true,
    isOpen: true,
    job: 'a' as string | undefined,
    whyEnded: undefined as { fault: string } | undefined,
  };
  const told: (ShareAnswer | undefined | 'disconnected')[] = [];
  const complaints: string[] = [];
  const sent: unknown[] = [];
  const clock = new FakeClock();
  const shares = new PoolShares({
    user: USER,
    dialogue: {
      get isOpen() {
        return now.isOpen;
      },
      get whyEnded() {
        return now.whyEnded;
      },
      get lastLineMs() {
        return now.lastLineMs;
      },
      askUntil: async (_: AbortSignal, __: number, { params }: { params: unknown }) => {
        sent.push(params);
        return now.reply;
      },
    } as never,
    works: { jobOf: () => now.job, isCurrent: () => now.isCurrent } as never,
    clock,
    limits: poolLimits,
    health: {
      get everAnswered() {
        return now.everAnswered;
      },
      sent: () => (answer?: ShareAnswer) => void told.push(answer),
      disconnected: () => void told.push('disconnected'),
    } as never,
    onComplaint: (text) => void complaints.push(text),
  });
  return { now, clock, shares, told, complaints, sent, submit: () => shares.submit(SOLUTION, never) };
}

const answer = (result: unknown, error?: unknown): Reply => ({ kind: 'answer', id: 1, result, error }) as Reply;

describe('the answer to a share', () => {
  it.each<[what: string, reply: Reply, isCurrent: boolean, said: ShareAnswer, complaints: string[]]>([
    ['yes', answer(true), true, { kind: 'accepted' }, []],
    ['yes, of an earlier job', answer(true), false, { kind: 'accepted' }, []],
    ['neither yes nor no', answer(null), true, { kind: 'other' }, []],
    ['that an earlier job is outdated', answer(null, 'stale'), false, { kind: 'other' }, ['stale']],
    ['that the latest job is outdated', answer(null, 'stale'), true, { kind: 'refused', reason: 'stale' }, ['stale']],
    ['no', answer(null, 'bad'), true, { kind: 'refused', reason: 'bad' }, ['bad']],
    ['no, of an earlier job', answer(null, 'bad'), false, { kind: 'refused', reason: 'bad' }, ['bad']],
  ])('that says %s is judged as what it is', async (_, reply, isCurrent, said, complaints) => {
    const share = connection();
    Object.assign(share.now, { reply, isCurrent });
    await share.submit();
    expect([share.told, share.complaints]).toEqual([[said], complaints]);
  });

  it('that does not come in time is none', async () => {
    const { told, submit } = connection();
    expect(await submit()).toMatchObject({ outcome: 'unknown', reason: 'the pool did not answer in time' });
    expect(told).toEqual([undefined]);
  });
});

describe('a connection that ends with shares', () => {
  it('counts once as unanswered, unless a share was answered before', async () => {
    const unanswered = connection();
    unanswered.now.reply = 'lost';
    for (let i = 0; i < 2; i++) expect((await unanswered.submit()).outcome).toBe('unknown');
    expect(unanswered.told).toEqual([undefined, 'disconnected', undefined]);
    const answered = connection();
    answered.now.reply = answer(true);
    await answered.submit();
    answered.now.reply = 'lost';
    await answered.submit();
    expect(answered.told).toEqual([{ kind: 'accepted' }, undefined]);
  });

  it.each([
    ['intended', []],
    ['network', ['disconnected']],
  ])('for the reason “%s” says of the pool: %j', async (fault, said) => {
    const { now, told, submit } = connection();
    Object.assign(now, { reply: 'lost', whyEnded: { fault } });
    await submit();
    expect(told).toEqual([undefined, ...said]);
  });
});

it.each([
  ['the connection has ended', { isOpen: false }, 'the connection that its job came over has ended; not sent'],
  ['the pool has dropped its job', { job: undefined }, 'the pool no longer wants its job; not sent'],
])('a share is not sent once %s', async (_, change, reason) => {
  const { now, sent, told, submit } = connection();
  Object.assign(now, change);
  expect(await submit()).toEqual({ outcome: 'stale', reason });
  expect([sent, told]).toEqual([[], []]);
});

describe('a pool that has answered shares before', () => {
  const { silenceMs } = poolLimits;

  it('does not answer once its oldest share and its last line are a silence old', async () => {
    const { now, clock, shares, submit } = connection();
    let reply = (_: Reply) => {};
    now.reply = new Promise((resolve) => {
      reply = resolve;
    });
    expect(shares.areAnswered()).toBe(true);
    const submitted = submit();
    clock.advance(1_000);
    now.lastLineMs = clock.monotonicMs();
    clock.advance(silenceMs - 1);
    const second = submit();
    expect(shares.areAnswered()).toBe(true);
    clock.advance(1);
    expect(shares.areAnswered()).toBe(false);
    // A pool that has never answered a share may be one that answers none.
    now.everAnswered = false;
    expect(shares.areAnswered()).toBe(true);
    now.everAnswered = true;
    reply(answer(true));
    await Promise.all([submitted, second]);
    expect(shares.areAnswered()).toBe(true);
  });

  it('has a silence of time for the first share after a time without lines', () => {
    const { now, clock, shares, submit } = connection();
    now.reply = new Promise(() => {});
    now.lastLineMs = clock.monotonicMs();
    clock.advance(10 * silenceMs);
    void submit();
    clock.advance(silenceMs - 1);
    expect(shares.areAnswered()).toBe(true);
    clock.advance(1);
    expect(shares.areAnswered()).toBe(false);
  });
});
