import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { Command } from '#pickaxe/base/system/process-group.js';
import { ExternalRelay, type ExternalRelayOptions } from '#pickaxe/miner/relay/external-relay.js';
import { Folder } from '../../../app/config/folder.ts';
import { FakeSource, makeWork, Recorder } from '../../../fakes.ts';
import { isRunning } from '../../../running.ts';
import { turns } from '../../../turns.ts';
import { eventually } from '../../source/follow.ts';

const SCRIPT = fileURLToPath(new URL('./pretend-worker.mjs', import.meta.url));

let folder: Folder;
beforeEach(() => {
  folder = new Folder();
});
afterEach(() => folder.remove());

async function withRelay(
  command: Command,
  test: (world: { source: FakeSource; said: string[]; recorder: Recorder }) => Promise<void>,
  more: Partial<ExternalRelayOptions> = {},
): Promise<void> {
  const source = new FakeSource();
  const recorder = new Recorder();
  const said: string[] = [];
  const say = (line: string) => void said.push(line);
  const log = { debug: say, info: say, warn: (line: string) => say(`WARN ${line}`) };
  const options = { command, source, emit: recorder.listen, clock: systemClock, log, firstRestMs: 10 };
  const relay = new ExternalRelay({ ...options, ...more });
  await relay.open();
  const stop = new AbortController();
  const ran = relay.run(stop.signal);
  try {
    await test({ source, said, recorder });
  } finally {
    stop.abort();
    await ran;
  }
}

/** @returns how often the relay has started its worker: it tells of each start and of each end at once */
const starts = (recorder: Recorder) => recorder.of('relay').filter(({ sessions }) => sessions === 1).length;

const worker = (how: string, ...args: string[]) => [process.execPath, SCRIPT, how, ...args];

describe('an external worker', () => {
  it.each<[string, Command]>([
    ['a list', worker('works')],
    ['a shell line', `"${process.execPath}" "${SCRIPT}" works`],
  ])('solves work, given as %s', (_, command) =>
    withRelay(command, async ({ source, said, recorder }) => {
      const first = source.work(makeWork(100));
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([first]));
      const second = source.work(makeWork(100));
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([first, second]));
      expect(said).toContain('started works with 286 bytes');
      expect(said.join()).toMatch(/it claims \d+ hashes, 12345 a second/);
      expect(recorder.of('verdict')).toMatchObject([
        { device: 'external-worker', isRelay: true, outcome: 'accepted' },
        {},
      ]);
      expect(recorder.of('hashes')).toEqual([]);
      const [told] = recorder.of('relay').filter(({ sessions }) => sessions === 1);
      expect(told).toMatchObject({ relay: 'external-worker', workers: [{ name: 'external-worker', sessions: 1 }] });
    }),
  );

  it('goes on with a pool’s work after each share', () =>
    withRelay(worker('works'), async ({ source }) => {
      const work = source.work(makeWork(50, { until: 'replaced' }));
      await eventually(() => expect(source.submitted.length).toBeGreaterThan(2));
      expect(new Set(source.submitted.map(({ work }) => work))).toEqual(new Set([work]));
    }));

  it('is killed with all that it has started when its work is stale or replaced, and at the end', async () => {
    const file = join(folder.path, 'pids');
    writeFileSync(file, '');
    const pids = () => readFileSync(file, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number);
    await withRelay(worker('hangs', file), async ({ source }) => {
      source.work(makeWork(1e30));
      await eventually(() => expect(pids()).toHaveLength(2));
      source.stale();
      await eventually(() => expect(pids().filter(isRunning)).toEqual([]));
      source.work(makeWork(1e30));
      await eventually(() => expect(pids()).toHaveLength(4));
      source.work(makeWork(1e30));
      await eventually(() => expect(pids()).toHaveLength(6));
      await eventually(() => expect(pids().filter(isRunning)).toEqual(pids().slice(4)));
    });
    await eventually(() => expect(pids().filter(isRunning)).toEqual([]));
  });

  it.each([
    ['lies', 'gave a wrong nonce, 0 (2 wrong so far)'],
    ['crashes', 'ended with exit code 3, without a nonce'],
    ['finds nothing', 'ended with exit code 0, without a nonce'],
    ['talks', 'printed no nonce but “I am a worker”'],
  ])('that %s rests longer each time, and nothing is sent', (how, says) =>
    withRelay(worker(how), async ({ source, said }) => {
      source.work(makeWork(1e9));
      const rests = () => said.flatMap((line) => /started again in ([\d.]+) s/.exec(line)?.[1] ?? []);
      await eventually(() => expect(rests().slice(0, 3)).toEqual(['0.01', '0.02', '0.04']));
      expect(said.join('\n')).toContain(says);
      expect(source.submitted).toEqual([]);
    }),
  );

  it('gets a later time only when its claimed rate shows that it runs out of nonces', () =>
    withRelay(
      worker('boasts'),
      async ({ source, said }) => {
        const starts = () => said.filter((line) => line.startsWith('started')).length;
        source.work(makeWork(10));
        await eventually(() => expect(source.submitted).toHaveLength(1));
        expect(starts()).toBe(1);
        source.work(makeWork(1e30));
        await eventually(() => expect(starts()).toBeGreaterThan(2));
        expect(said.filter((line) => line.startsWith('WARN'))).toEqual([]);
      },
      { leastRenewalMs: 1 },
    ));

  it('that claims a rate which nothing has is not killed before it has begun', () =>
    withRelay(worker('dreams'), async ({ source, said }) => {
      // As exact as a real clock, so that a later time is always there.
      source.latestUs = () => BigInt(Math.round(1000 * (performance.timeOrigin + performance.now())));
      const starts = () => said.filter((line) => line.startsWith('started')).length;
      source.work(makeWork(10));
      await eventually(() => expect(source.submitted).toHaveLength(1));
      source.work(makeWork(1e30));
      await eventually(() => expect(starts()).toBe(2));
    }));

  it.each<[string, () => Command]>([
    ['is not there', () => [join(folder.path, 'nothing')]],
    ['is said to be in a file', () => [join(SCRIPT, 'nothing')]],
    ['has a name that no program has', () => ['a\0b']],
  ])('that %s is tried again ever later', (_, command) =>
    withRelay(command(), async ({ source, said }) => {
      source.work(makeWork(1e9));
      const rests = () => said.flatMap((line) => /cannot be started: .*again in ([\d.]+) s/s.exec(line)?.[1] ?? []);
      await eventually(() => expect(rests().slice(0, 3)).toEqual(['0.01', '0.02', '0.04']));
    }),
  );

  it('gets no work whose nonces are assigned, and that is said once', () =>
    withRelay(worker('works'), async ({ source, said }) => {
      const warnings = () => said.filter((line) => line.includes('gets no work')).length;
      for (let i = 0; i < 3; i++) {
        source.work(makeWork(1, { nonce1: { value: 1, bytes: 2 } }));
        await eventually(() => expect(warnings()).toBe(1));
        await turns();
      }
      const last = source.work(makeWork(1));
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([last]));
      expect(warnings()).toBe(1);
    }));

  it.each([
    ['without a line feed', 'ends its line never'],
    ['after its end, by a process that it has left behind', 'leaves a printer'],
  ])('may give its answer %s', (_, how) =>
    withRelay(worker(how), async ({ source }) => {
      const work = source.work(makeWork(10));
      await eventually(() => expect(source.submitted.map(({ work }) => work)).toEqual([work]));
    }),
  );

  it('does not search a node’s work that it has solved', () =>
    withRelay(worker('works'), async ({ source, recorder }) => {
      source.work(makeWork(10));
      await eventually(() => expect(recorder.of('verdict')).toHaveLength(1));
      await turns();
      source.work(makeWork(10));
      await eventually(() => expect(recorder.of('verdict')).toHaveLength(2));
      expect(starts(recorder)).toBe(2);
    }));

  it('that claims to have tried all nonces goes on where its source has no later time', () =>
    withRelay(
      worker('boasts'),
      async ({ source, recorder }) => {
        const nowUs = BigInt(Date.now()) * 1000n;
        let asked = 0;
        source.latestUs = () => {
          asked++;
          return nowUs;
        };
        source.work(makeWork(10));
        await eventually(() => expect(source.submitted).toHaveLength(1));
        source.work(makeWork(1e30));
        await eventually(() => expect(starts(recorder)).toBe(2));
        const before = asked;
        await eventually(() => expect(asked).toBeGreaterThan(before));
        expect(starts(recorder)).toBe(2);
      },
      { leastRenewalMs: 1 },
    ));

  it('that rests is not started for new work', () =>
    withRelay(
      worker('crashes'),
      async ({ source, said, recorder }) => {
        source.work(makeWork(10));
        await eventually(() => expect(said.join()).toContain('it is started again in 60 s'));
        source.work(makeWork(10));
        await turns();
        expect(starts(recorder)).toBe(1);
      },
      { firstRestMs: 60_000 },
    ));

  it('rests as after a first failure again once it has found a nonce', () => {
    const file = join(folder.path, 'runs');
    return withRelay(worker('takes turns', file), async ({ source, said }) => {
      source.work(makeWork(10, { until: 'replaced' }));
      const rests = () => said.flatMap((line) => /started again in ([\d.]+) s/.exec(line)?.[1] ?? []);
      await eventually(() => expect(rests().slice(0, 4)).toEqual(['0.01', '0.02', '0.01', '0.02']));
      expect(source.submitted).toHaveLength(1);
    });
  });
});

it('ends when its source throws, which it may not', async () => {
  const source = new FakeSource();
  const recorder = new Recorder();
  const log = { debug() {}, info() {}, warn() {} };
  const relay = new ExternalRelay({
    command: worker('hangs'),
    source,
    emit: recorder.listen,
    clock: systemClock,
    log,
  });
  source.work(makeWork(100));
  const running = relay.run(new AbortController().signal);
  const ended = expect(running).rejects.toThrow('a fault of the source');
  await eventually(() => expect(starts(recorder)).toBe(1));
  source.fail();
  await ended;
  expect(recorder.of('relay').at(-1)?.sessions).toBe(0);
});
