import { afterEach, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import type { Assessment } from '#pickaxe/rig/survey/comparison.js';
import { NodeHealth, watchNodes } from '#pickaxe/rig/survey/node-health.js';

const GOOD: Assessment = { hasAnswered: true, problems: [] };
const WARNED: Assessment = {
  hasAnswered: true,
  problems: [{ about: 'clock', state: 'warning', what: 'has a wrong clock' }],
};
const SILENT: Assessment = {
  hasAnswered: false,
  problems: [{ about: 'connection', state: 'fault', what: 'does not answer' }],
};
const bad = (...faults: string[]): Assessment => {
  return { hasAnswered: true, problems: faults.map((what) => ({ about: 'ledger', state: 'fault', what })) };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Watches nodes; each survey returns the result of `answer`. */
function watch(answer: () => Assessment[] | Promise<Assessment[]>, random = () => 0.5) {
  const surveyedAtMs: number[] = [];
  const told: [number, string | undefined][] = [];
  const failures: (string | undefined)[] = [];
  const stopping = new AbortController();
  const survey = async () => {
    surveyedAtMs.push(performance.now());
    return await answer();
  };
  const watching = watchNodes(
    {
      clock: systemClock,
      survey,
      changed: (index, fault) => told.push([index, fault]),
      failing: (reason) => failures.push(reason),
      random,
    },
    stopping.signal,
  );
  const end = async () => {
    stopping.abort();
    await watching;
  };
  onTestFinished(end);
  const pauses = () => surveyedAtMs.slice(1).map((ms, i) => ms - surveyedAtMs[i]);
  return { told, failures, pauses, end };
}

it('looks once a minute, again soon when a node seems unhealthy, and tells each change once', async () => {
  let assessments = [GOOD, WARNED];
  const { told, pauses } = watch(() => assessments);
  await pass(60_000);
  assessments = [GOOD, bad('lags', 'follows another branch')];
  await pass(60_000);
  expect(told).toEqual([]);
  await pass(15_000);
  expect(told).toEqual([[1, 'lags; follows another branch']]);
  await pass(120_000);
  assessments = [GOOD, GOOD];
  await pass(120_000);
  expect(told).toEqual([
    [1, 'lags; follows another branch'],
    [1, undefined],
  ]);
  expect(pauses()).toEqual([60_000, 60_000, 15_000, 60_000, 60_000, 60_000, 60_000]);
});

it('takes silence neither for a fault nor for health', async () => {
  const answers = [[bad('lags')], [SILENT], [SILENT], [bad('lags')], [SILENT], [GOOD], [SILENT], [GOOD]];
  const { told } = watch(() => answers.shift() ?? [SILENT]);
  await pass(3 * 72_000);
  expect(told).toEqual([[0, 'lags']]);
  await pass(10 * 60_000);
  expect(told).toEqual([
    [0, 'lags'],
    [0, undefined],
  ]);
});

it('says once that surveys fail, tries again, and says when they succeed', async () => {
  let isBroken = true;
  const { failures, told } = watch(() => {
    if (isBroken) throw new Error('no memory');
    return [bad('lags')];
  });
  await pass(5 * 60_000);
  expect(failures).toEqual(['no memory']);
  isBroken = false;
  await pass(75_000);
  expect(failures).toEqual(['no memory', undefined]);
  expect(told).toEqual([[0, 'lags']]);
});

it.each([
  [0, 48_000],
  [0.75, 66_000],
])('pauses for a time that differs from rig to rig (%d)', async (random, ms) => {
  const { pauses } = watch(
    () => [GOOD],
    () => random,
  );
  await pass(2 * ms);
  expect(pauses()).toEqual([ms, ms]);
});

it('ends at once, also in a survey, and has no timer then', async () => {
  const { end } = watch(() => [GOOD]);
  await pass(1_000);
  await end();
  // A timer of another file, which this process may run, fires and is gone; one that is set again and again is not.
  await pass(600_000);
  expect(vi.getTimerCount()).toBe(0);
  const failing = watch(async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    throw new Error('stopped');
  });
  const ended = failing.end();
  await pass(10);
  await ended;
  expect(failing.failures).toEqual([]);
});

/** @param looks `-` for a look with a fault, `+` for a look without one */
function news(looks: string): string {
  const health = new NodeHealth();
  const letters = { unchanged: '.', doubtful: '?', unhealthy: 'U', healthy: 'H' };
  return [...looks].map((look) => letters[health.observe(look === '-')]).join('');
}

it.each([
  ['++++', '....'],
  ['-', '?'],
  ['--', '?U'],
  ['----', '?U..'],
  ['-+-+-+', '?.?.?.'],
  ['--+', '?U.'],
  ['--++', '?U.H'],
  ['--+-+-++', '?U.....H'],
  ['--++--', '?U.H?U'],
])('two looks in a row change what is thought of a node: %s', (looks, expected) => {
  expect(news(looks)).toBe(expected);
});
