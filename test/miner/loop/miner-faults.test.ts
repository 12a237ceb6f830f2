import { afterEach, describe, expect, it, vi } from 'vitest';
import { Miner, type MinerOptions } from '#pickaxe/miner/loop/miner.js';
import { COUNTERS, PAGES } from '#pickaxe/protocol/chain/nonce.js';
import { FakeEngine, FakeSource, makeWork, Recorder } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { eventually, mine, mineWith, options, SOON } from './mining.ts';
import { NEVER } from './stepped-engine.ts';

afterEach(() => void vi.useRealTimers());

describe('what the interfaces forbid', () => {
  /** A miner whose `run` the test itself awaits. */
  function faulty(more: Partial<MinerOptions> & Pick<MinerOptions, 'source'>, ...engines: FakeEngine[]) {
    const events = new Recorder();
    return { events, miner: new Miner({ engines, emit: events.listen, ...options, ...more }) };
  }

  it('a source whose updates throw ends mining: the engines are closed, and run throws the same', async () => {
    const engine = new FakeEngine();
    const source = new FakeSource();
    const follow = source.follow.bind(source);
    let isBroken = false;
    source.follow = (listener, stop) =>
      follow((update) => {
        if (isBroken) throw new Error('the source is broken');
        listener(update);
      }, stop);
    const { miner } = faulty({ source }, engine);
    const run = miner.run();
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    isBroken = true;
    source.work(makeWork(NEVER));
    await expect(run).rejects.toThrow('the source is broken');
    expect(engine.closed).toBe(1);
  });

  it('a source whose time throws ends mining, also when the time is asked for by a search that needs more nonces', async () => {
    const engine = new FakeEngine('cpu', { counters: COUNTERS, pages: PAGES });
    engine.reported = () => [];
    const source = new FakeSource();
    let asked = 0;
    source.latestUs = () => {
      if (++asked > 1) throw new Error('no time');
      return BigInt(Date.now()) * 1000n;
    };
    const { miner, events } = faulty({ source }, engine);
    const run = miner.run();
    source.work(makeWork(NEVER));
    await expect(run).rejects.toThrow('no time');
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready']);
  });

  it.each(['work', 'hashes', 'proof', 'verdict'])('a listener that throws at a “%s” ends mining', async (type) => {
    const engine = new FakeEngine();
    const source = new FakeSource();
    const emit: MinerOptions['emit'] = (event) => {
      if (event.type === type) throw new Error(`the listener fails at ${type}`);
    };
    const { miner } = faulty({ source, emit }, engine);
    const run = miner.run();
    source.work(makeWork(SOON));
    await expect(run).rejects.toThrow(`the listener fails at ${type}`);
    expect(engine.closed).toBe(1);
  });

  it('an engine whose close ends no search is reopened and parked all the same, by the signal of its searches', async () => {
    const engine = new FakeEngine();
    engine.close = async () => {
      engine.closed++;
    };
    engine.alwaysWrong = true;
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() =>
      expect(events.of('device').at(-1)).toMatchObject({ state: 'parked', fault: 'wrong-hashes' }),
    );
    expect(engine.opened).toBe(6);
  });

  it('an engine whose search does not end at all is parked, and neither its reports nor a second opening follow', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const engine = new FakeEngine();
    let report: () => void = () => {};
    engine.search = async function* (job, ranges) {
      for (;;) {
        const searched = ranges.take(engine.step)!;
        engine.jobs.push(job);
        yield { searched, hashes: 64, beganMs: 0, candidates: engine.jobs.length > 1 ? [] : [7n, 8n, 9n] };
        await new Promise<void>((resolve) => {
          report = resolve;
        });
      }
    };
    const { source, events, stop, done } = mine(engine);
    source.work(makeWork(NEVER));
    await vi.waitUntil(() => engine.closed === 1, { timeout: 60_000 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(events.of('device').at(-1)).toMatchObject({ state: 'parked', fault: 'wrong-hashes' });
    expect(events.of('device').at(-1)!.reason).toMatch(
      /it did not end within 30 seconds, so it cannot be opened again/,
    );
    const hashes = events.of('hashes').length;
    report();
    await turns();
    expect(events.of('hashes').length).toBe(hashes);
    expect(engine.opened).toBe(1);
    stop.abort();
    await done;
  });

  it.each([
    ['another lane than that of nonce1', 0x1235n],
    ['a nonce below zero', -0x10000n + 0x1234n],
    ['a nonce above 64 bits', 2n ** 64n + 0x1234n],
  ])(
    'an engine that reports true hashes of %s has computed wrongly, and nothing of it is submitted',
    async (_, nonce) => {
      const engine = new FakeEngine();
      let next = nonce;
      engine.reported = () => {
        next += nonce < 0n ? -0x10000n : 0x10000n;
        return [next];
      };
      const { source, events } = mineWith({ reopenAfterMs: 60_000, firstProofDifficulty: 1 }, engine);
      source.work(makeWork(1, { nonce1: { value: 0x1234, bytes: 2 }, until: 'replaced' }));
      await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ fault: 'wrong-hashes' }));
      expect(events.of('hardware-error')).toHaveLength(3);
      expect(source.submitted).toEqual([]);
    },
  );

  it('two engines of one name are refused', () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0'), new FakeEngine('cpu')];
    expect(() => faulty({ source: new FakeSource() }, ...engines)).toThrow('two engines have the name “cpu”');
  });
});
