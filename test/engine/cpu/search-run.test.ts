import { expect, test } from 'vitest';
import { COUNTERS, PAGES, sizeOf } from '#pickaxe/chain/nonce.js';
import { nextRunNumber, SearchRun } from '#pickaxe/engine/cpu/search-run.js';
import { TaskSize } from '#pickaxe/engine/cpu/task-size.js';
import type { SearchReport } from '#pickaxe/engine/engine.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../contract/jobs.ts';
import { Rectangle } from '../../contract/rectangle.ts';

/** How many rows a stopped search has searched: none, part of a column, whole columns, or all. */
const parts = [0, 0.3, 0.5, 0.75, 0.999, 1];

/** Tasks are several columns at once. */
function wideTasks(): TaskSize {
  const taskSize = new TaskSize(512);
  for (let i = 0; i < 30; i++) taskSize.learn(sizeOf(taskSize.most), sizeOf(taskSize.most) / 300_000);
  expect(taskSize.most).toEqual({ counters: 5 * 512, pages: PAGES });
  return taskSize;
}

test('a stopped task of several columns reports what it searched, and the rest is given back', async () => {
  const ranges = new Rectangle({ lane: 3, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
  const answers: (() => void)[] = [];
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges,
    taskSize: wideTasks(),
    tasks: parts.length,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
    runTask: ({ range }) =>
      new Promise((resolve) => {
        const rows = Math.floor((parts[answers.length % parts.length] * sizeOf(range)) / 512);
        answers.push(() => resolve({ rows, candidates: [], beganMs: 0, ms: 1 }));
      }),
  });
  const reports: SearchReport[] = [];
  const reading = (async () => {
    for await (const report of run.reports()) reports.push(report);
  })();
  expect(answers).toHaveLength(parts.length);
  const stopping = run.stop();
  for (const answer of answers) answer();
  await Promise.all([reading, stopping]);
  expect(answers).toHaveLength(parts.length);
  expect(reports.length).toBeGreaterThanOrEqual(parts.length - 1);
  ranges.expectBalanced(reports);
});

test('the rest of a task that returned early is searched next', async () => {
  const whole = { lane: 3, page: 0, pages: PAGES, counter: 1024, counters: 5 * 512 };
  const ranges = new Rectangle(whole);
  let tasks = 0;
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges,
    taskSize: wideTasks(),
    tasks: 2,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
    runTask: async ({ range }) => {
      tasks++;
      const rows = sizeOf(range) / 512;
      // A nonce of the last row that is searched.
      const early = rows > 1000;
      return { rows: early ? Math.floor(rows / 2) : rows, candidates: early ? [BigInt(tasks)] : [], beganMs: 0, ms: 1 };
    },
  });
  const reports: SearchReport[] = [];
  for await (const report of run.reports()) reports.push(report);
  ranges.expectUsedUp();
  ranges.expectBalanced(reports);
  const candidates = reports.flatMap((report) => report.candidates);
  expect(new Set(candidates).size).toBe(candidates.length);
  expect(candidates.length).toBeGreaterThan(5);
});

test('a run ends when another one begins, and does not stop that one, however often it is stopped itself', async () => {
  const currentRun = new Int32Array(new SharedArrayBuffer(4));
  /** A run whose tasks wait to be answered. */
  const begin = (number: number) => {
    const answers: (() => void)[] = [];
    const ranges = new Rectangle({ lane: 3, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
    const run = new SearchRun({
      number,
      puzzle: jobOf(someHeaderHex, nothingSolves),
      ranges,
      taskSize: wideTasks(),
      tasks: 2,
      currentRun,
      runTask: () =>
        new Promise((resolve) => answers.push(() => resolve({ rows: 0, candidates: [], beganMs: 0, ms: 1 }))),
    });
    const ended = (async () => {
      for await (const _ of run.reports());
      ranges.expectBalanced([]);
    })();
    return { run, answers, ended };
  };
  const old = begin(1);
  expect(currentRun[0]).toBe(1);
  const next = begin(2);
  expect(currentRun[0]).toBe(2);
  for (const answer of old.answers) answer();
  await old.ended;
  expect(old.answers).toHaveLength(2);
  await old.run.stop();
  expect(currentRun[0]).toBe(2);

  const stopping = next.run.stop();
  expect(currentRun[0]).toBe(0);
  for (const answer of next.answers) answer();
  await Promise.all([stopping, next.ended]);
});

test('numbers of runs are positive i32, and begin again at 1 when they are used up', () => {
  expect(nextRunNumber(0)).toBe(1);
  expect(nextRunNumber(1)).toBe(2);
  expect(nextRunNumber(2 ** 31 - 2)).toBe(2 ** 31 - 1);
  expect(nextRunNumber(2 ** 31 - 1)).toBe(1);
});
