import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import type { SourceUpdate, UpdateListener, Verdict } from '#pickaxe/miner/source/source.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { isSettled, turns } from '../../turns.ts';
import { mineStepped, NEVER, SteppedEngine } from './stepped-engine.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** An engine that the user asked for and that does not exist. */
function missingEngine(name: string): SteppedEngine {
  const engine = new SteppedEngine(name);
  engine.opening = () => {
    throw new DeviceError('missing', 'no such device');
  };
  return engine;
}

/** A source whose updates reach the miner without a turn of the event loop. */
function directSource() {
  const source = new FakeSource();
  const { follow } = source;
  let give: UpdateListener = () => {};
  source.follow = (listener, stop) => {
    give = listener;
    return follow.call(source, listener, stop);
  };
  return { source, give: (update: SourceUpdate) => give(update) };
}

describe('a run', () => {
  it('ends when its last device is parked, and leaves no timer and no listener', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    const { stop, done, source } = mineStepped([missingEngine('gpu0'), missingEngine('gpu1')]);
    await done;
    expect(source.ended).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  });

  it('goes on while one device is left, and ends when it is stopped, twice if need be', async () => {
    const { miner, done, source } = mineStepped([missingEngine('gpu0'), new SteppedEngine('gpu1')]);
    expect(await isSettled(done)).toBe(false);
    miner.stop();
    miner.stop();
    await done;
    expect(source.ended).toBe(true);
  });

  it('is the only one of its miner: a second is refused, also when the first has ended', async () => {
    const { miner, stop, done, source } = mineStepped([new SteppedEngine()]);
    const refusal = 'a miner runs once: make a new one to mine again';
    await expect(miner.run(AbortSignal.abort())).rejects.toThrow(refusal);
    expect(source.ended).toBe(false);
    stop.abort();
    await done;
    await expect(miner.run()).rejects.toThrow(refusal);
  });

  it('without devices goes on only if it is to stay, as for relays', async () => {
    const leaves = mineStepped([missingEngine('gpu0')], { staysWithoutEngines: false });
    const stays = mineStepped([missingEngine('gpu0')], { staysWithoutEngines: true });
    await leaves.done;
    expect(await isSettled(stays.done)).toBe(false);
    expect(stays.source.ended).toBe(false);
    stays.stop.abort();
    await stays.done;
    expect(stays.source.ended).toBe(true);
  });

  it('that is stopped before it begins opens no device', async () => {
    const engine = new SteppedEngine();
    const miner = new Miner({ source: new FakeSource(), engines: [engine] });
    await miner.run(AbortSignal.abort());
    expect(engine.opened).toBe(0);
  });

  it('needs neither a listener nor a signal', async () => {
    const engine = new SteppedEngine();
    const source = new FakeSource();
    const miner = new Miner({ source, engines: [engine] });
    const done = miner.run();
    source.work(makeWork(NEVER));
    await turns();
    expect(engine.running).toHaveLength(1);
    miner.stop();
    await done;
    expect(engine.closed).toBe(1);
  });

  it('waits until its source has ended', async () => {
    let end = () => {};
    const source = new FakeSource();
    source.follow = () =>
      new Promise((resolve) => {
        end = resolve;
      });
    const { stop, done } = mineStepped([new SteppedEngine()], { source });
    stop.abort();
    expect(await isSettled(done)).toBe(false);
    end();
    await done;
  });

  it('tells nothing of updates that come with its end or after it', async () => {
    const { source, give } = directSource();
    const engine = new SteppedEngine();
    const { miner, events, done } = mineStepped([engine], { source });
    const work = makeWork(NEVER);
    give({ kind: 'work', work });
    await turns();
    give({ kind: 'work', work: makeWork(NEVER) });
    give({ kind: 'stale', works: [work], reason: 'new-cut' });
    miner.stop();
    give({ kind: 'work', work: makeWork(NEVER) });
    await done;
    expect(events.all.map(({ type }) => type)).toEqual(['device', 'work']);
    expect(engine.searches).toHaveLength(1);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('tells nothing after its end, which comes %i steps after a work', async (steps) => {
    const told: string[] = [];
    const { source, give } = directSource();
    const engine = new SteppedEngine();
    const { miner, done } = mineStepped([engine], { source, emit: ({ type }) => told.push(type) });
    await turns();
    give({ kind: 'work', work: makeWork(NEVER) });
    for (let step = 0; step < steps; step++) await Promise.resolve();
    miner.stop();
    const before = [...told];
    await done;
    expect(told).toEqual(before);
    expect(engine.running).toEqual([]);
  });

  it('whose listener stops it at a work searches nothing', async () => {
    const engine = new SteppedEngine();
    const told: MinerEvent['type'][] = [];
    const { source, miner, done } = mineStepped([engine], {
      emit: ({ type }) => {
        told.push(type);
        if (type === 'work') miner.stop();
      },
    });
    await turns();
    source.work(makeWork(NEVER));
    await done;
    expect(told).toEqual(['device', 'work']);
    expect(engine.running).toEqual([]);
  });

  it.each([
    ['the listener', 'the source'],
    ['the source', 'the listener'],
  ])('that ends by an error of %s throws that, and not a later one of %s', async (first) => {
    const engine = new SteppedEngine();
    const source = new FakeSource();
    const { done, clock } = mineStepped([engine], {
      source,
      emit: ({ type }) => {
        if (type === 'hashes') throw new Error('an error of the listener');
      },
    });
    engine.lingers = true;
    source.work(makeWork(NEVER));
    await turns();
    clock.advance(1_000);
    const acts = [() => source.fail(new Error('an error of the source')), () => engine.latest.report({ hashes: 1 })];
    for (const act of first === 'the source' ? acts : acts.reverse()) {
      act();
      await turns();
    }
    engine.latest.end();
    await expect(done).rejects.toThrow(`an error of ${first}`);
    expect(engine.closed).toBe(1);
  });
});

describe('the work that is told', () => {
  it('has the difficulties and the network that its header names', async () => {
    const { source, events } = mineStepped([new SteppedEngine()]);
    const nodes = source.work(makeWork(2 ** 40));
    await turns();
    const pools = source.work(makeWork(2 ** 30, { until: 'replaced', blockTarget: makeWork(2 ** 40).target }));
    await turns();
    const networkCode = (index: number) => events.of('work')[index].networkCode;
    expect(events.of('work')).toEqual([
      { type: 'work', chain: nodes.chain, height: nodes.height, difficulty: 2 ** 40, networkCode: networkCode(0) },
      {
        type: 'work',
        chain: pools.chain,
        height: pools.height,
        difficulty: 2 ** 40,
        shareDifficulty: 2 ** 30,
        networkCode: networkCode(1),
      },
    ]);
    for (const index of [0, 1]) expect(networkCode(index)).toBeGreaterThan(0);
  });
});

describe('solutions without verdicts', () => {
  it('pause all devices at 1024, and they resume at 512; the next time it is the same', async () => {
    const [cpu, gpu] = [new SteppedEngine('cpu'), new SteppedEngine('gpu0')];
    const { source, events } = mineStepped([cpu, gpu], { firstProofDifficulty: 1 });
    const answers: (() => void)[] = [];
    const accepted: Verdict = { outcome: 'accepted', reason: '' };
    source.verdict = () => new Promise((resolve) => answers.push(() => resolve(accepted)));
    // A run waits for its verdicts, also if this test fails.
    onTestFinished(() => {
      source.verdict = () => accepted;
      for (const each of answers.splice(0)) each();
    });
    source.work(makeWork(1, { until: 'replaced' }));
    await turns();
    let nonce = 0n;
    const find = async (solutions: number) => {
      for (let i = 0; i < solutions; i++) cpu.latest.report({ candidates: [nonce++] });
      await vi.waitFor(() => expect(events.of('solution').length).toBe(Number(nonce)), {
        timeout: 60_000,
        interval: 1,
      });
      await turns();
    };
    const answer = async (solutions: number) => {
      for (const each of answers.splice(0, solutions)) each();
      await turns();
    };
    const states = () => events.of('device').map(({ device, state }) => `${device} ${state}`);
    const both = (state: string) => [`cpu ${state}`, `gpu0 ${state}`];

    await find(1_023);
    expect(states()).toEqual(both('ready'));
    for (const round of [1, 2]) {
      await find(round === 1 ? 1 : 512);
      expect(states().slice(-2)).toEqual(both('paused'));
      const reason = 'fake source does not answer: 1024 solutions wait for their verdicts';
      for (const event of events.of('device').slice(-2)) expect(event).toMatchObject({ reason });
      await answer(511);
      expect(states()).toHaveLength(4 * round);
      await answer(1);
      expect(states().slice(-2)).toEqual(both('ready'));
      expect(states()).toHaveLength(4 * round + 2);
    }
    await answer(answers.length);
    expect(states()).toHaveLength(10);
    expect(events.of('verdict')).toHaveLength(Number(nonce));
  });
});

describe('controls', () => {
  it.each([
    [undefined, true, ['cpu', 'gpu0']],
    ['gpu0', true, ['gpu0']],
    ['gpu1', false, []],
  ])('for %s say whether there is such a device, and act on no other', async (device, isKnown, names) => {
    const { miner, events } = mineStepped([new SteppedEngine('cpu'), new SteppedEngine('gpu0')]);
    await turns();
    const told = (act: () => boolean) => {
      const before = events.all.length;
      expect(act()).toBe(isKnown);
      return events.all.slice(before).map((event) => (event.type === 'device' ? `${event.device} ${event.state}` : ''));
    };
    expect(told(() => miner.pause('user', 'you asked for it', device))).toEqual(names.map((name) => `${name} paused`));
    expect(told(() => miner.resume('battery', device))).toEqual([]);
    expect(told(() => miner.resume('user', device))).toEqual(names.map((name) => `${name} ready`));
    expect(told(() => miner.resume('user', device))).toEqual([]);
  });
});
