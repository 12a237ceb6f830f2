import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { DeviceError } from '#pickaxe/miner/engine/engine.js';
import { joinNonce } from '#pickaxe/protocol/chain/nonce.js';
import { verify } from '#pickaxe/protocol/chain/verify.js';
import { FakeEngine, makeWork } from '../../fakes.ts';
import { turns } from '../../turns.ts';
import { eventually, mine, mineWith, SOON } from './mining.ts';
import { NEVER } from './stepped-engine.ts';

describe('devices', () => {
  it('that report wrong candidates are reopened, and parked when that does not help, while the others go on', async () => {
    const liar = new FakeEngine('gpu0');
    const honest = new FakeEngine('cpu');
    const { source, events } = mine(liar, honest);
    source.work(makeWork(NEVER));
    liar.alwaysWrong = true;
    await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'parked' }));
    expect(events.of('device').at(-1)).toMatchObject({ fault: 'wrong-hashes' });
    expect(events.of('device').at(-1)!.reason).toMatch(/^3 candidates .* \(5 attempts to reopen it did not help\)$/);
    expect(events.of('device').filter(({ state }) => state === 'reopening')).toHaveLength(5);
    expect(events.of('hardware-error')).toHaveLength(6 * 3);
    await eventually(() => expect(liar.closed).toBe(6));
    const before = honest.searched.length;
    await eventually(() => expect(honest.searched.length).toBeGreaterThan(before));
    expect(source.submitted).toHaveLength(0);
  });

  it('that report wrong candidates now and then are reopened after three within an hour, not after three in a month', async () => {
    let nowMs = 0;
    const clock = { ...systemClock, monotonicMs: () => nowMs };
    const engine = new FakeEngine();
    const { source, events } = mineWith({ clock }, engine);
    source.work(makeWork(NEVER));
    const errAfter = async (minutes: number) => {
      nowMs += 60_000 * minutes;
      const before = events.of('hardware-error').length;
      engine.wrong = [7n];
      await eventually(() => expect(events.of('hardware-error').length).toBe(before + 1));
    };
    for (const minutes of [1, 31, 31, 31, 31]) await errAfter(minutes);
    await turns();
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready']);
    await errAfter(1);
    await eventually(() => expect(events.of('device').at(-1)).toMatchObject({ state: 'ready' }));
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'reopening', 'ready']);
  });

  it('that are lost are reopened and search the current job', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.fault = new DeviceError('lost', 'fell off the bus');
    const lost = expect.objectContaining({ state: 'reopening', fault: 'lost' });
    await eventually(() => expect(events.of('device')).toContainEqual(lost));
    engine.fault = undefined;
    expect(engine.closed).toBeGreaterThan(0);
    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs.at(-1)!.work).toBe(next));
    expect(events.of('device').at(-1)).toMatchObject({ state: 'ready' });
  });

  it('that were in service are reopened when they are missing for a while, as during a driver’s reset', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    const work = source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.openFaults.push(new DeviceError('missing', 'no adapter'));
    engine.fault = new DeviceError('lost', 'reset');
    const missing = expect.objectContaining({ state: 'reopening', fault: 'missing' });
    await eventually(() => expect(events.of('device')).toContainEqual(missing));
    engine.fault = undefined;
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched));
    expect(engine.jobs.at(-1)!.work).toBe(work);
  });

  it('are out of service after the third wrong candidate: further ones in the same report change nothing', async () => {
    const engine = new FakeEngine();
    const { source, events } = mine(engine);
    engine.wrong = Array.from({ length: 1_000 }, (_, i) => BigInt(i));
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.opened).toBe(2));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('hardware-error')).toHaveLength(3);
  });

  it('that are too hot are paused until they have cooled down, while the others go on', async () => {
    const [hot, cool] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const { source, events } = mine(hot, cool);
    const work = source.work(makeWork(NEVER));
    await eventually(() => expect(hot.searched.length).toBeGreaterThan(3));
    hot.listener!.telemetry!({ temperatureCelsius: 89 });
    hot.listener!.telemetry!({ temperatureCelsius: 90 });
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'paused' });
    expect(events.of('device').at(-1)!.reason).toBe('its temperature is 90 °C; it resumes at 80 °C');
    const [searched, before] = [hot.searched.length, cool.searched.length];
    await eventually(() => expect(cool.searched.length).toBeGreaterThan(before + 10));
    expect(hot.searched.length).toBe(searched);
    expect(hot.closed).toBe(0);

    const next = source.work(makeWork(NEVER));
    await eventually(() => expect(cool.jobs.at(-1)!.work).toBe(next));
    hot.listener!.telemetry!({ temperatureCelsius: 81 });
    expect(hot.jobs.at(-1)!.work).toBe(work);
    hot.listener!.telemetry!({});
    hot.listener!.telemetry!({ temperatureCelsius: 80 });
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'ready' });
    await eventually(() => expect(hot.searched.length).toBeGreaterThan(searched + 3));
    expect(hot.jobs.at(-1)!.work).toBe(next);
    expect(events.of('telemetry')).toHaveLength(5);
  });

  it('say so when they go on with another kernel', async () => {
    const engine = new FakeEngine('gpu0');
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.listener!.changed!({ model: 'RTX', kernel: 'wgsl', why: 'wgsl 64×8, fastest of 36 variants that run here' });
    expect(events.of('device').at(-1)).toMatchObject({
      device: 'gpu0',
      state: 'ready',
      kernel: 'wgsl',
      description: 'RTX: kernel wgsl 64×8, fastest of 36 variants that run here',
    });
    const { opened, jobs } = engine;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(6));
    expect([engine.opened, engine.jobs]).toEqual([opened, jobs]);
  });

  it('are judged by the limits for their kind', async () => {
    const [cpu, gpu] = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    gpu.kind = 'gpu';
    const limits = { cpu: { stopCelsius: 105, resumeCelsius: 95 }, gpu: { stopCelsius: 90, resumeCelsius: 80 } };
    const { source, events } = mineWith({ temperatureLimits: (kind) => limits[kind] }, cpu, gpu);
    source.work(makeWork(NEVER));
    for (const engine of [cpu, gpu]) await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    const paused = () => events.of('device').flatMap(({ device, state }) => (state === 'paused' ? device : []));
    for (const engine of [cpu, gpu]) engine.listener!.telemetry!({ temperatureCelsius: 100 });
    expect(paused()).toEqual(['gpu0']);
    cpu.listener!.telemetry!({ temperatureCelsius: 105 });
    expect(paused()).toEqual(['gpu0', 'cpu']);
    expect(events.of('device').at(-1)!.reason).toBe('its temperature is 105 °C; it resumes at 95 °C');
  });

  it('are judged by limits of their own, where they have some', async () => {
    const [warm, cold] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const limitOf = (name: string) => (name === 'gpu1' ? 70 : 90);
    const temperatureLimits = (_: string, name: string) => ({ stopCelsius: limitOf(name), resumeCelsius: 60 });
    const { source, events } = mineWith({ temperatureLimits }, warm, cold);
    source.work(makeWork(NEVER));
    for (const engine of [warm, cold]) await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    for (const engine of [warm, cold]) engine.listener!.telemetry!({ temperatureCelsius: 75 });
    const paused = events.of('device').flatMap(({ device, state }) => (state === 'paused' ? device : []));
    expect(paused).toEqual(['gpu1']);
  });

  it('that are lost while they are paused are reopened, and not paused any more', async () => {
    const engine = new FakeEngine('gpu0');
    const { source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    engine.listener!.telemetry!({ temperatureCelsius: 95 });
    engine.listener!.lost!(new DeviceError('lost', 'fell off the bus'));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'paused', 'reopening', 'ready']);
  });

  it('that leave service do not use up the space for the others', async () => {
    const [failing, other] = [new FakeEngine('gpu0'), new FakeEngine('gpu1')];
    const { source } = mine(failing, other);
    source.work(makeWork(NEVER));
    await eventually(() => expect(failing.searched.length).toBeGreaterThan(3));
    failing.listener!.lost!(new DeviceError('lost', 'fell off the bus'));
    await eventually(() => expect(failing.opened).toBe(2));
    expect(other.jobs).toHaveLength(1);
  });

  it('may be many without a warning of leaking listeners', async () => {
    const warned = vi.fn();
    process.on('warning', warned);
    const engines = Array.from({ length: 13 }, (_, i) => new FakeEngine(`gpu${i}`));
    const { source } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every((engine) => engine.searched.length > 3)).toBe(true));
    await turns(1);
    process.off('warning', warned);
    expect(warned).not.toHaveBeenCalled();
  });

  it('have the address of their card in their events', async () => {
    const engine = new FakeEngine('gpu0');
    engine.bus = '0000:65:00.0';
    const { events } = mine(engine, new FakeEngine('cpu'));
    await eventually(() => expect(events.of('device')).toHaveLength(2));
    const ofDevice = (name: string) => events.of('device').find(({ device }) => device === name);
    const facts = { model: 'fake', kernel: 'reference' };
    expect(ofDevice('gpu0')).toMatchObject({ state: 'ready', ...facts, bus: '0000:65:00.0' });
    expect(ofDevice('cpu')).toMatchObject(facts);
    expect(ofDevice('cpu')).not.toHaveProperty('bus');
  });

  it('report progress while they open', async () => {
    const engine = new FakeEngine('gpu0');
    const { events } = mine(engine);
    await eventually(() => expect(engine.listener).toBeDefined());
    engine.listener!.progress!('measuring', 0.5);
    expect(events.of('progress')).toEqual([{ type: 'progress', device: 'gpu0', what: 'measuring', done: 0.5 }]);
  });

  it('that come into service say what they are, also after a pause', async () => {
    const engine = new FakeEngine('cpu');
    const cores = [{ kind: 'efficiency', threads: 4, kernel: 'sse41' }] as const;
    engine.info = { kernel: 'sse41', cores, threads: 4, why: 'asked for', detail: 'in full' };
    const { events } = mine(engine);
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    const ready = {
      state: 'ready',
      description: 'fake: kernel sse41, 4 threads (asked for)',
      kernel: 'sse41',
      cores,
      detail: 'in full',
    };
    expect(events.of('device').at(-1)).toMatchObject(ready);
    engine.listener!.telemetry!({ temperatureCelsius: 95 });
    engine.listener!.telemetry!({ temperatureCelsius: 70 });
    expect(events.of('device').map(({ state }) => state)).toEqual(['ready', 'paused', 'ready']);
    expect(events.of('device').at(-1)).toMatchObject(ready);
    expect(engine.opened).toBe(1);
  });

  it('whose reasons begin with the variant of the kernel do not name the kernel twice', async () => {
    const engine = new FakeEngine('gpu0');
    engine.info = { model: 'card', kernel: 'wgsl', why: 'wgsl 128×16, batches of 8 ms' };
    const { events } = mine(engine);
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    expect(events.of('device')[0]).toMatchObject({ description: 'card: kernel wgsl 128×16, batches of 8 ms' });
  });

  it('that are missing are parked; with none left the run ends', async () => {
    const engine = new FakeEngine();
    engine.openFaults.push(new DeviceError('missing', 'no such device'));
    const { events, done } = mine(engine);
    await done;
    expect(events.of('device')).toMatchObject([{ state: 'parked', fault: 'missing', reason: 'no such device' }]);
  });
});

describe('proofs', () => {
  const easy = { firstProofDifficulty: 8 };

  it('are verified candidates at an easier target, and only those that also solve the work are submitted', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith(easy, engine);
    // The first candidate of the second work may already be its solution.
    source.work(makeWork(NEVER));
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(1));
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('verdict')).toHaveLength(1));
    const proofs = events.of('proof');
    for (const { device, hashes, difficulty } of proofs) {
      expect({ device, hashes }).toEqual({ device: 'cpu', hashes: 8 });
      expect(difficulty).toBeGreaterThanOrEqual(8);
    }
    expect(events.of('hardware-error')).toEqual([]);
    expect(source.submitted).toHaveLength(1);
  });

  it('that are reported again count once', async () => {
    const engine = new FakeEngine();
    engine.late = true; // The first candidates that the engine reports must be those that this test chooses.
    const { source, events } = mineWith(easy, engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    const job = engine.jobs[0];
    const { lane, page } = engine.searched[0].range;
    const nonces = Array.from({ length: 1_000 }, (_, counter) => joinNonce({ lane, step: 1, page, counter }));
    const right = nonces.filter((nonce) => verify(job, nonce).proves).slice(0, 3);
    engine.late = false;
    engine.reported = () => [...right, ...right];
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(0));
    const searched = engine.searched.length;
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(searched + 3));
    expect(events.of('proof')).toHaveLength(3);
    expect(events.of('hardware-error')).toEqual([]);
  });

  it('that do not meet the easier target are hardware errors', async () => {
    const engine = new FakeEngine();
    const { source, events } = mineWith(easy, engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.jobs).toHaveLength(1));
    const wrong = Array.from({ length: 20 }, (_, n) => BigInt(n)).find(
      (nonce) => !verify(engine.jobs[0], nonce).proves,
    )!;
    engine.wrong = [wrong];
    await eventually(() => expect(events.of('hardware-error')).toMatchObject([{ nonce: wrong }]));
  });

  it('use the work’s own target if that is easier', async () => {
    const { source, events } = mineWith({ firstProofDifficulty: NEVER }, new FakeEngine());
    source.work(makeWork(SOON));
    await eventually(() => expect(events.of('proof').length).toBeGreaterThan(0)); // One report can have two proofs.
    expect(events.of('proof')[0].hashes).toBeCloseTo(SOON, 0);
  });
});

describe('controls', () => {
  it('pause all devices, or one, until no reason is left', async () => {
    const [cpu, gpu] = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    const { miner, source, events } = mine(cpu, gpu);
    source.work(makeWork(NEVER));
    await eventually(() => expect(Math.min(cpu.searched.length, gpu.searched.length)).toBeGreaterThan(3));

    expect(miner.pause('battery', 'it runs on its battery')).toBe(true);
    expect(miner.pause('user', 'you asked for it', 'gpu0')).toBe(true);
    expect(events.of('device').at(-1)).toMatchObject({
      device: 'gpu0',
      state: 'paused',
      reason: 'it runs on its battery; you asked for it',
    });
    expect(miner.resume('battery')).toBe(true);
    const searched = gpu.searched.length;
    const before = cpu.searched.length;
    await eventually(() => expect(cpu.searched.length).toBeGreaterThan(before + 10));
    expect(gpu.searched.length).toBe(searched);
    expect(events.of('device').at(-1)).toMatchObject({ device: 'gpu0', state: 'paused', reason: 'you asked for it' });

    expect(miner.resume('user')).toBe(true);
    await eventually(() => expect(gpu.searched.length).toBeGreaterThan(searched + 3));
    expect([cpu.closed, gpu.closed]).toEqual([0, 0]);
  });

  it('that name an unknown device change nothing and return false', async () => {
    const engine = new FakeEngine('cpu');
    const { miner, source, events } = mine(engine);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
    expect(miner.pause('user', 'you asked for it', 'gpu7')).toBe(false);
    expect(miner.resume('user', 'gpu7')).toBe(false);
    expect(events.of('device')).toHaveLength(1);
  });

  it('that pause a device before it opens keep it paused when it opens', async () => {
    const engine = new FakeEngine('cpu');
    let open = () => {};
    engine.opening = new Promise((resolve) => {
      open = resolve;
    });
    const { miner, source, events } = mine(engine);
    source.work(makeWork(NEVER));
    miner.pause('schedule', 'it is night');
    open();
    await eventually(() => expect(events.of('device')).toHaveLength(1));
    expect(events.of('device')[0]).toMatchObject({ state: 'paused', reason: 'it is night' });
    expect(engine.jobs).toEqual([]);
    miner.resume('schedule');
    await eventually(() => expect(engine.searched.length).toBeGreaterThan(3));
  });

  it('stop the miner: its devices are closed, and nothing is searched any more', async () => {
    const engines = [new FakeEngine('cpu'), new FakeEngine('gpu0')];
    const { miner, source, done } = mine(...engines);
    source.work(makeWork(NEVER));
    await eventually(() => expect(engines.every(({ searched }) => searched.length > 3)).toBe(true));
    miner.stop();
    await done;
    expect(engines.map(({ closed }) => closed)).toEqual([1, 1]);
    const searched = engines.map((engine) => engine.searched.length);
    source.work(makeWork(NEVER));
    await turns();
    expect(engines.map((engine) => engine.searched.length)).toEqual(searched);
  });
});
