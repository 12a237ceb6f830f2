import { describe, expect, it } from 'vitest';
import { fromHex, toHex } from '#pickaxe/protocol/chain/bytes.js';
import { difficultyOf, meetsTarget } from '#pickaxe/protocol/chain/target.js';
import { powHash } from '#pickaxe/protocol/chain/verify.js';
import { headerTargetOf } from '#pickaxe/protocol/chain/work.js';
import { eventually, Follower, mine } from '../follow.ts';
import { job, makeHeader, ParentWorld, ScriptedParent, targetHex } from './parent.ts';

async function inWorld(test: (world: ParentWorld & { follower: Follower }) => Promise<void>): Promise<void> {
  const world = new ParentWorld();
  const follower = new Follower(world.source);
  try {
    await test(Object.assign(world, { follower }));
  } finally {
    await follower.end();
  }
}

const never = new AbortController().signal;

describe('jobs of a parent', () => {
  it('become work: the header’s own target unless there is another, nonce1, time, number of solutions', () =>
    inWorld(async (world) => {
      const header = makeHeader(1_000);
      const parent = world.connect();
      parent.say(job('a', header));
      const plain = await world.follower.work();
      expect(plain.header).toEqual(header);
      expect(plain.target).toEqual(headerTargetOf(header));
      expect(plain).toMatchObject({ height: 1_000n, rollTime: false, until: 'replaced', nonce1: { bytes: 0 } });
      parent.say(
        job('b', header, {
          target: targetHex(10),
          nonce1: { value: 258, bytes: 2 },
          timeMayRoll: true,
          solutions: 'one',
        }),
      );
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const rich = await world.follower.work();
      expect(difficultyOf(rich.target)).toBeCloseTo(10, 3);
      expect(rich.blockTarget).toEqual(headerTargetOf(header));
      expect(rich).toMatchObject({ rollTime: true, until: 'solved', nonce1: { value: 258, bytes: 2 } });
      expect(world.source.latestTimeUs()).toBeGreaterThan(0n);
    }));

  it('are held until they are cancelled: the newest is mined, and late shares of older ones count', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('old'));
      const old = await world.follower.work();
      parent.say(job('new'));
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      expect(await world.source.submit(mine(old), never)).toMatchObject({ outcome: 'delivered' });
      await eventually(() => expect(parent.of('share').map(({ id }) => id)).toEqual(['old']));
      parent.say({ type: 'cancel', id: 'new' });
      await eventually(() => expect(world.follower.received.at(-1)).toBe(old));
      parent.say({ type: 'cancel' });
      await eventually(() => expect(world.follower.of('stale').flatMap(({ works }) => works)).toContain(old));
      expect(world.follower.of('stale').map(({ reason }) => reason)).toEqual(['cancelled', 'cancelled']);
      expect(await world.source.submit(mine(old, 1), never)).toMatchObject({ outcome: 'stale' });
      expect(parent.of('share')).toHaveLength(1);
    }));

  it('replace all earlier ones when they are clean, and the same id is refused while it is held', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('a'), job('a'));
      await eventually(() => expect(parent.of('error')).toMatchObject([{ code: 'id-in-use', id: 'a', line: 2 }]));
      const first = await world.follower.work();
      parent.say(job('a', makeHeader(), { clean: true }));
      await eventually(() => expect(world.follower.of('stale')[0].works).toEqual([first]));
      expect(await world.follower.work()).not.toBe(first);
    }));

  it('end with their first share where one is wanted; then the next newest goes on', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('pool'));
      const pool = await world.follower.work();
      parent.say(job('block', makeHeader(), { solutions: 'one' }));
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const block = world.follower.received[1];
      await world.source.submit(mine(block), never);
      await eventually(() => expect(world.follower.received.at(-1)).toBe(pool));
      expect(await world.source.submit(mine(block, 1), never)).toMatchObject({ outcome: 'stale' });
    }));

  it('get another target without another header', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('a', makeHeader(1_000), { target: targetHex(100) }));
      const before = await world.follower.work();
      parent.say({ type: 'target', id: 'a', target: targetHex(50) });
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const after = await world.follower.work();
      expect(after.header).toEqual(before.header);
      expect(difficultyOf(after.target)).toBeCloseTo(50, 3);
      expect(world.follower.of('stale')).toEqual([]);
      expect(await world.source.submit(mine(before), never)).toMatchObject({ outcome: 'delivered' });
      // Of devices that still search for the former target nothing is wanted either.
      parent.say({ type: 'cancel', id: 'a' });
      await eventually(() => expect(world.follower.of('stale')).toMatchObject([{ works: [after, before] }]));
    }));

  it('end when too many are held: the oldest goes', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('0'));
      const oldest = await world.follower.work();
      for (let i = 1; i <= 64; i++) parent.say(job(`${i}`));
      await eventually(() => expect(world.follower.of('stale').flatMap(({ works }) => works)).toEqual([oldest]));
      parent.say({ type: 'stats' });
      await eventually(() => expect(parent.of('stats')).toMatchObject([{ jobs: 64 }]));
    }));
});

describe('shares', () => {
  it('have all that a parent needs, and are numbered', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('a', makeHeader(1_000), { target: targetHex(50) }));
      const work = await world.follower.work();
      for (const lane of [1, 2]) await world.source.submit(mine(work, lane), never);
      await eventually(() => expect(parent.of('share').map(({ share }) => share)).toEqual([1, 2]));
      for (const { header, hash, nonce, isBlock, difficulty } of parent.of('share')) {
        const bytes = fromHex(header);
        expect(toHex(powHash(bytes))).toBe(hash);
        expect(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(278, true)).toBe(BigInt(nonce));
        expect(isBlock).toBe(meetsTarget(fromHex(hash), work.blockTarget));
        expect(difficulty).toBeCloseTo(50, 3);
      }
    }));

  it('get the parent’s verdicts where it judges', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.onAnswer = (answer) => {
        if (answer.type !== 'share') return;
        const { share } = answer;
        parent.say({ type: 'verdict', share, outcome: share === 1 ? 'accepted' : 'rejected', reason: 'so it is' });
      };
      parent.say(job('a', makeHeader(), { verdicts: true }));
      const work = await world.follower.work();
      expect(await world.source.submit(mine(work, 1), never)).toEqual({ outcome: 'accepted', reason: 'so it is' });
      expect(await world.source.submit(mine(work, 2), never)).toEqual({ outcome: 'rejected', reason: 'so it is' });
      parent.say({ type: 'verdict', share: 2, outcome: 'accepted' }, { type: 'verdict', share: 9, outcome: 'stale' });
      await eventually(() =>
        expect(parent.of('error').map(({ code }) => code)).toEqual(['unknown-share', 'unknown-share']),
      );
    }));

  it('are unknown when the parent dies before it judges, and nothing hangs', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('a', makeHeader(), { verdicts: true }));
      const work = await world.follower.work();
      const verdict = world.source.submit(mine(work), never);
      await eventually(() => expect(parent.of('share')).toHaveLength(1));
      parent.die();
      expect(await verdict).toMatchObject({ outcome: 'unknown' });
      await eventually(() => expect(world.follower.of('lost')).toHaveLength(1));
      expect(world.follower.of('stale')[0].works).toContain(work);
    }));

  it('wait for a parent that does not read; none is lost, and the source says so', () =>
    inWorld(async (world) => {
      const parent = world.connect(new ScriptedParent(false));
      parent.say(job('a'));
      const work = await world.follower.work();
      // No other share has used this signal: Node.js must not warn of its listeners.
      const { signal } = new AbortController();
      const verdicts = Array.from({ length: 100 }, (_, lane) => world.source.submit(mine(work, lane), signal));
      const said = () =>
        world.events.filter(({ type }) => type === 'source').map((event) => (event as { state: string }).state);
      await eventually(() => expect(said()).toContain('warning'));
      parent.read();
      const settled = await Promise.all(verdicts);
      expect(new Set(settled.map(({ outcome }) => outcome))).toEqual(new Set(['delivered']));
      await eventually(() => expect(parent.of('share')).toHaveLength(100));
      expect(new Set(parent.of('share').map(({ nonce }) => nonce)).size).toBe(100);
      expect(said()).toContain('info');
      expect(world.events).toContainEqual(expect.objectContaining({ type: 'source', kind: 'parent', state: 'info' }));
    }));

  it('become rarer where the parent limits their rate, but no block is missed', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say({ type: 'rate', sharesPerSecond: 2 });
      parent.say(job('a', makeHeader(1e9), { target: targetHex(10) }));
      const first = await world.follower.work();
      const hashing = setInterval(() => {
        world.hashes += 10_000;
      }, 10);
      await eventually(() => expect(difficultyOf(world.follower.received.at(-1)!.target)).toBeGreaterThan(100_000));
      expect(world.follower.received.at(-1)!.header).toEqual(first.header);
      parent.say(job('b', makeHeader(500), { target: targetHex(10) }));
      await eventually(() => {
        const { target, blockTarget } = world.follower.received.at(-1)!;
        expect(difficultyOf(target)).toBeCloseTo(500, 0);
        expect(target).toEqual(blockTarget);
      });
      parent.say({ type: 'rate', sharesPerSecond: null });
      await eventually(() => expect(difficultyOf(world.follower.received.at(-1)!.target)).toBeCloseTo(10, 0));
      clearInterval(hashing);
    }));
});

describe('several parents', () => {
  it('get their own shares; the newest job of all is mined, and the next when its parent goes', () =>
    inWorld(async (world) => {
      const [one, two] = [world.connect(), world.connect()];
      one.say(job('x'));
      const first = await world.follower.work();
      two.say(job('x'));
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const second = world.follower.received[1];
      await Promise.all([world.source.submit(mine(first), never), world.source.submit(mine(second), never)]);
      await eventually(() => expect([one, two].map((each) => each.of('share').length)).toEqual([1, 1]));
      two.die();
      await eventually(() => expect(world.follower.received.at(-1)).toBe(first));
      expect(world.follower.of('lost')).toEqual([]);
      one.die();
      await eventually(() => expect(world.follower.of('lost')).toHaveLength(1));
    }));

  it('rest while they do not read: jobs of those that read go first', () =>
    inWorld(async (world) => {
      const reading = world.connect();
      const deaf = world.connect(new ScriptedParent(false));
      reading.say(job('r'));
      const first = await world.follower.work();
      deaf.say(job('d'));
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const second = world.follower.received[1];
      const verdicts = Array.from({ length: 80 }, (_, lane) => world.source.submit(mine(second, lane), never));
      await eventually(() => expect(world.follower.received.at(-1)).toBe(first));
      deaf.read();
      await Promise.all(verdicts);
      await eventually(() => expect(world.follower.received.at(-1)).toBe(second));
    }));
});

describe('a parent', () => {
  it('is told what is wrong with each bad line, and everything else goes on', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      const header = toHex(makeHeader());
      parent.say('', 'junk', '[]', '{"type":"nope"}', { type: 'job', id: 1, header }, { type: 'job', id: 'a' });
      parent.say({ ...job('a'), colour: 'red' }, { type: 'cancel', id: 'q' }, { type: 'target', id: 'q', target: '1' });
      parent.say(job('n', makeHeader(), { nonce1: { value: 256, bytes: 1 } }), 'x'.repeat(200_000), { type: 'ping' });
      await eventually(() => expect(parent.of('pong')).toHaveLength(1));
      const errors = parent.of('error');
      expect(errors.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(errors.map(({ code }) => code)).toEqual([
        'not-json',
        'wrong-message',
        'wrong-message',
        'wrong-message',
        'wrong-message',
        'wrong-message',
        'unknown-job',
        'unknown-job',
        'wrong-message',
        'line-too-long',
      ]);
      expect(errors.map(({ message }) => message).join('\n')).toMatchInlineSnapshot(`
        "this line is not JSON: "junk". Write one JSON object a line, like {"type":"ping"}
        a line is an object whose "type" is one of: job, cancel, target, verdict, rate, stats, ping, drain
        a line is an object whose "type" is one of: job, cancel, target, verdict, rate, stats, ping, drain
        job: id: give a text of 1 to 64 characters
        job: header: give 572 hex digits (286 bytes)
        job: there is no "colour": remove it
        no job q is held: it was cancelled, was solved or never came
        no job q is held: it was cancelled, was solved or never came
        job: nonce1: give {"value": V, "bytes": 0 to 4} with V below 256^bytes
        this line has more than 65536 bytes: write one JSON object a line, and end each with a line feed"
      `);
    }));

  it('may write without reading: its lines are read again once it has read', () =>
    inWorld(async (world) => {
      const parent = world.connect(new ScriptedParent(false));
      const echo = 'e'.repeat(200);
      for (let i = 0; i < 8_000; i++) parent.say({ type: 'ping', echo });
      await eventually(() => expect(parent.input.isPaused()).toBe(true));
      expect(parent.output.writableLength).toBeLessThan(2 ** 21);
      parent.read();
      await eventually(() => expect(parent.of('pong')).toHaveLength(8_000));
    }));

  it('that writes far too much is read more slowly, which is said once, and nothing is lost', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      // Each of these uses up what may be read at once.
      for (let i = 1; i <= 3; i++) {
        parent.say('\n'.repeat(40_000), { type: 'ping', echo: `${i}` });
        await eventually(() => expect(parent.of('pong').map(({ echo }) => echo)).toHaveLength(i));
      }
      const warnings = world.events.filter((event) => event.type === 'source' && event.state === 'warning');
      expect(warnings).toMatchObject([
        { reason: 'writes more than is read, on average 1 MB a second: the rest waits, and nothing is lost' },
      ]);
    }));

  it('that ends its side wants no more shares, and a last line without an end counts', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.input.end('{"type":"ping"}');
      await eventually(() => expect(world.drained).toEqual(['input-ended']));
      await eventually(() => expect(parent.of('pong')).toHaveLength(1));
    }));

  it('that drains gets what devices find in that moment, then a goodbye', () =>
    inWorld(async (world) => {
      const parent = world.connect();
      parent.say(job('a'));
      const work = await world.follower.work();
      const left = parent.session?.drain('drained');
      expect(await world.source.submit(mine(work), never)).toMatchObject({ outcome: 'delivered' });
      await eventually(() => expect(world.follower.updates.at(-1)?.kind).toBe('rest'));
      parent.say(job('b'));
      await left;
      await eventually(() => expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'drained', shares: 1 }));
      await eventually(() => expect(world.follower.of('stale')).toMatchObject([{ works: [work] }]));
      expect(world.follower.received).toEqual([work]);
      expect(parent.of('bye')).toHaveLength(1);
    }));

  it('that drains makes room for another one’s job at once', () =>
    inWorld(async (world) => {
      const [first, second] = [world.connect(), world.connect()];
      first.say(job('a'));
      const work = await world.follower.work();
      second.say(job('b'));
      await eventually(() => expect(world.follower.received).toHaveLength(2));
      const left = second.session?.drain('drained');
      await eventually(() => expect(world.follower.received.at(-1)).toBe(work));
      await left;
      expect(world.follower.of('rest')).toEqual([]);
    }));

  it('is left with a goodbye when the worker ends', async () => {
    const world = new ParentWorld();
    const follower = new Follower(world.source);
    const parent = world.connect();
    await eventually(() => expect(parent.of('hello')).toHaveLength(1));
    await follower.end();
    await eventually(() => expect(parent.answers.at(-1)).toEqual({ type: 'bye', reason: 'stopped', shares: 0 }));
    expect(parent.wrong).toEqual([]);
  });
});
