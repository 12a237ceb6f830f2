import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { turns } from '../../turns.ts';
import { assignmentOf, NOTHING, SteppedEngine, supervise } from './stepped-engine.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LOST = new DeviceError('lost', 'fell off the bus');

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A supervised engine with work, whose time passes for its timers as well. */
async function supervised(engine = new SteppedEngine(), options: Parameters<typeof supervise>[1] = {}) {
  const supervision = supervise(engine, options);
  const pass = async (ms: number) => {
    supervision.clock.advance(ms);
    await vi.advanceTimersByTimeAsync(ms);
    await turns();
  };
  supervision.supervisor.assign(assignmentOf());
  await turns();
  return { engine, pass, last: () => supervision.events.of('device').at(-1)!, ...supervision };
}

describe('a device that fails', () => {
  it.each([
    ['an error of its device', new DeviceError('wrong-hashes', 'a wrong hash'), 'wrong-hashes', 'a wrong hash'],
    ['any other error', new TypeError('no such function'), 'lost', 'no such function'],
    ['a text', 'out of memory', 'lost', 'out of memory'],
  ])('while it opens or searches, with %s, is reopened, and says why', async (_, thrown, fault, reason) => {
    const engine = new SteppedEngine();
    engine.opening = () => {
      engine.opening = () => {};
      throw thrown;
    };
    const { events, pass, states } = await supervised(engine);
    await pass(1_000);
    engine.latest.fail(thrown);
    await turns();
    expect(states()).toEqual(['reopening', 'ready', 'reopening']);
    for (const event of events.of('device').filter(({ state }) => state === 'reopening')) {
      expect(event).toMatchObject({ fault, reason });
    }
    await pass(2_000);
    expect(states().at(-1)).toBe('ready');
    expect(engine.running).toHaveLength(1);
  });

  it('is called by its name until it has been opened, and then by what it is', async () => {
    const engine = new SteppedEngine('gpu0');
    engine.opening = () => {
      throw LOST;
    };
    const { events, pass } = await supervised(engine);
    engine.opening = () => {};
    await pass(1_000);
    expect(events.of('device').map(({ description }) => description)).toEqual([
      'gpu0',
      'fake: kernel reference (it is a test)',
    ]);
  });

  it('is reopened after waits that double, and after five attempts no more', async () => {
    const engine = new SteppedEngine();
    engine.opening = () => {
      throw LOST;
    };
    const { last, done, pass } = await supervised(engine);
    for (const [attempts, waitMs] of [1_000, 2_000, 4_000, 8_000, 16_000].entries()) {
      await pass(waitMs - 1);
      expect(engine.opened).toBe(attempts + 1);
      expect(last()).toMatchObject({ state: 'reopening', fault: 'lost', reason: 'fell off the bus' });
      await pass(1);
      expect(engine.opened).toBe(attempts + 2);
    }
    await done;
    const reason = 'fell off the bus (5 attempts to reopen it did not help)';
    expect(last()).toMatchObject({ state: 'parked', fault: 'lost', reason });
  });

  it('before it ever opened, and is then missing, is parked after one attempt', async () => {
    const engine = new SteppedEngine();
    const faults = [LOST, new DeviceError('missing', 'no adapter')];
    engine.opening = () => {
      throw faults.shift();
    };
    const { last, done, pass } = await supervised(engine);
    await pass(1_000);
    await done;
    const reason = 'no adapter (1 attempt to reopen it did not help)';
    expect(last()).toMatchObject({ state: 'parked', fault: 'missing', reason });
  });

  it.each([
    ['more than a minute is reopened after the first wait each time', MINUTE_MS + 1, [1, 1, 1, 1, 1, 1], 'reopening'],
    ['a minute is reopened after waits that double, and then parked', MINUTE_MS, [1, 2, 4, 8, 16], 'parked'],
  ])('again and again after a service of %s', async (_, servedMs, waits, state) => {
    const { engine, pass, last } = await supervised();
    const lose = async () => {
      await pass(servedMs);
      engine.listener.lost!(LOST);
      await turns();
    };
    for (const seconds of waits) {
      await lose();
      expect(last()).toMatchObject({ state: 'reopening' });
      await pass(1_000 * seconds - 1);
      expect(last()).toMatchObject({ state: 'reopening' });
      await pass(1);
      expect(last()).toMatchObject({ state: 'ready' });
    }
    await lose();
    expect(last()).toMatchObject({ state });
  });

  it('once after a long service, and then at each opening, is parked after five attempts', async () => {
    const { engine, last, pass, done } = await supervised();
    await pass(HOUR_MS);
    engine.opening = () => {
      throw LOST;
    };
    engine.listener.lost!(LOST);
    await turns();
    for (const waitMs of [1_000, 2_000, 4_000, 8_000, 16_000]) await pass(waitMs);
    await done;
    expect(last()).toMatchObject({ state: 'parked', reason: expect.stringContaining('5 attempts') });
    expect(engine.opened).toBe(6);
  });

  it('causes no event, and is closed, when mining ends while it opens', async () => {
    const engine = new SteppedEngine();
    engine.opening = () => new Promise(() => {});
    const { events, stop, done } = await supervised(engine);
    stop.abort();
    await done;
    expect(events.all).toEqual([]);
    expect([engine.opened, engine.closed]).toEqual([1, 1]);
  });

  it('is not reopened once mining has ended, and its wait leaves no timer', async () => {
    const { engine, stop, done, states } = await supervised();
    engine.listener.lost!(LOST);
    await turns();
    stop.abort();
    await done;
    expect(vi.getTimerCount()).toBe(0);
    expect(engine.opened).toBe(1);
    expect(states()).toEqual(['ready', 'reopening']);
  });
});

describe('a device that is lost while a search goes on', () => {
  it('is parked for good when the search does not end within thirty seconds', async () => {
    const engine = new SteppedEngine();
    engine.lingers = true;
    const { last, states, done, pass } = await supervised(engine);
    engine.listener.lost!(LOST);
    await pass(29_999);
    expect(states()).toEqual(['ready']);
    await pass(1);
    const reason = 'fell off the bus (it did not end within 30 seconds, so it cannot be opened again)';
    expect(last()).toMatchObject({ state: 'parked', fault: 'lost', reason });
    await done;
    await pass(HOUR_MS);
    expect(engine.opened).toBe(1);
  });

  it.each(['ends', 'ends with candidates'])('is reopened when the search %s in time', async (how) => {
    const engine = new SteppedEngine();
    engine.lingers = true;
    const { events, states, pass, exhausted } = await supervised(engine, { firstProofDifficulty: 1 });
    engine.listener.lost!(LOST);
    await pass(29_999);
    if (how !== 'ends') engine.latest.report({ hashes: 3, candidates: [1n, 2n, 3n] });
    engine.latest.end();
    await turns();
    expect(events.of('proof')).toHaveLength(how === 'ends' ? 0 : 3);
    await pass(1_000);
    expect(states()).toEqual(['ready', 'reopening', 'ready']);
    expect(exhausted).toEqual([]);
    engine.latest.end();
  });
});

describe('wrong candidates', () => {
  it('take a device out of service when the third comes less than an hour after the first', async () => {
    const { engine, clock, events, states } = await supervised();
    const errAfter = async (ms: number) => {
      clock.advance(ms);
      engine.latest.report({ candidates: [7n] });
      await turns();
    };
    await errAfter(0);
    await errAfter(HOUR_MS / 2);
    await errAfter(HOUR_MS / 2);
    expect(states()).toEqual(['ready']);
    await errAfter(HOUR_MS / 2 - 1);
    expect(states()).toEqual(['ready', 'reopening']);
    expect(events.of('hardware-error')).toHaveLength(4);
    expect(events.of('proof')).toEqual([]);
    const reason =
      '3 candidates that it reported are wrong: it computes wrong hashes. Lower its clocks or check its cooling.';
    expect(events.of('device').at(-1)).toMatchObject({ fault: 'wrong-hashes', reason });
  });

  it('are counted from zero once the device is open again', async () => {
    const { engine, states, events, pass } = await supervised();
    for (const round of [1, 2]) {
      for (const wrong of [1, 2]) {
        engine.latest.report({ candidates: [7n] });
        await turns();
        expect(states()).toHaveLength(2 * round - 1);
        expect(events.of('hardware-error')).toHaveLength(3 * (round - 1) + wrong);
      }
      engine.latest.report({ candidates: [7n] });
      await turns();
      expect(states().at(-1)).toBe('reopening');
      await pass(2_000);
    }
    expect(states()).toEqual(['ready', 'reopening', 'ready', 'reopening', 'ready']);
  });

  it('do not count, and do not use up the space, when the device is out of service', async () => {
    const engine = new SteppedEngine();
    // Its search ends with its first report, before the device is closed.
    const reports = [{ ...NOTHING, candidates: [1n, 2n, 3n, 4n] }];
    engine.search = () => ({
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          const value = reports.shift();
          return value ? { value, done: false } : { value, done: true };
        },
      }),
    });
    const { events, states, exhausted } = await supervised(engine);
    expect(events.of('hardware-error').map(({ nonce }) => nonce)).toEqual([1n, 2n, 3n]);
    expect(exhausted).toEqual([]);
    expect(states()).toEqual(['ready', 'reopening']);
  });
});

describe('the temperature of a device', () => {
  const temperatureLimits = () => ({ stopCelsius: 90, resumeCelsius: 80 });

  it('without limits does not matter', async () => {
    const { engine, events, states } = await supervised();
    engine.listener.telemetry!({ temperatureCelsius: 1_000 });
    await turns();
    expect(states()).toEqual(['ready']);
    expect(events.of('telemetry')).toEqual([
      { type: 'telemetry', device: 'cpu', telemetry: { temperatureCelsius: 1_000 } },
    ]);
  });

  it('is told while the device opens, and pauses it only once it is open', async () => {
    let open = () => {};
    const engine = new SteppedEngine();
    engine.opening = () =>
      new Promise<void>((resolve) => {
        open = resolve;
      });
    const { events, states } = await supervised(engine, { temperatureLimits });
    engine.listener.telemetry!({ temperatureCelsius: 95 });
    expect(events.of('telemetry')).toHaveLength(1);
    expect(states()).toEqual([]);
    open();
    await turns();
    expect(states()).toEqual(['ready']);
    engine.listener.telemetry!({ temperatureCelsius: 95 });
    expect(states()).toEqual(['ready', 'paused']);
  });

  it('that is not told any more for a minute of a pause makes it lost', async () => {
    const { engine, last, pass, states } = await supervised(new SteppedEngine(), { temperatureLimits });
    engine.listener.telemetry!({ temperatureCelsius: 95 });
    await pass(59_999);
    expect(states()).toEqual(['ready', 'paused']);
    await pass(1);
    expect(last()).toMatchObject({ state: 'reopening', fault: 'lost', reason: expect.stringContaining('its sensors') });
  });

  it('is forgotten when the device is lost: silent sensors are no second fault', async () => {
    const { engine, pass, states } = await supervised(new SteppedEngine(), { temperatureLimits });
    engine.listener.telemetry!({ temperatureCelsius: 95 });
    engine.listener.lost!(LOST);
    await pass(1_000);
    expect(states()).toEqual(['ready', 'paused', 'reopening', 'ready']);
    expect(engine.running).toHaveLength(1);
    await pass(HOUR_MS);
    expect(states()).toHaveLength(4);
  });
});
