import { expect, test } from 'vitest';
import { nextRunNumber, SearchRun, TaskSize, type TaskThread } from '#pickaxe/miner/engine/cpu/thread-pool.js';
import type { Task, TaskResult } from '#pickaxe/miner/engine/cpu/worker-thread.js';
import type { CoreKind } from '#pickaxe/miner/engine/device.js';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import { COUNTERS, PAGES, sizeOf } from '#pickaxe/protocol/chain/nonce.js';
import { jobOf, nothingSolves, someHeaderHex } from '../../../interfaces/jobs.ts';
import { Rectangle } from '../../../interfaces/rectangle.ts';
import { turns } from '../../../turns.ts';

/** Fractions of the rows that a stopped search has searched: none, part of a column, whole columns, or all. */
const parts = [0, 0.3, 0.5, 0.75, 0.999, 1];

/** Tasks are several columns at once. */
function wideTasks(): TaskSize {
  const taskSize = new TaskSize(512);
  for (let i = 0; i < 30; i++) taskSize.learn(sizeOf(taskSize.most), sizeOf(taskSize.most) / 300_000);
  expect(taskSize.most).toEqual({ counters: 5 * 512, pages: PAGES });
  return taskSize;
}

test('a stopped task of several columns reports what it searched, and the rest is given back', async () => {
  const ranges = new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
  const answers: (() => void)[] = [];
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges,
    threads: [
      {
        taskSize: wideTasks(),
        run: ({ range }) =>
          new Promise((resolve) => {
            const rows = Math.floor((parts[answers.length % parts.length] * sizeOf(range)) / 512);
            answers.push(() => resolve({ rows, candidates: [], beganMs: 0, ms: 1 }));
          }),
      },
    ],
    tasksPerThread: parts.length,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
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
  const whole = { lane: 3, step: 1, page: 0, pages: PAGES, counter: 1024, counters: 5 * 512 };
  const ranges = new Rectangle(whole);
  let tasks = 0;
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges,
    threads: [
      {
        taskSize: wideTasks(),
        run: async ({ range }) => {
          tasks++;
          const all = sizeOf(range) / 512;
          // A nonce of the last row that is searched.
          const early = all > 1000;
          const rows = early ? Math.floor(all / 2) : all;
          return { rows, candidates: early ? [BigInt(tasks)] : [], beganMs: 0, ms: 1 };
        },
      },
    ],
    tasksPerThread: 2,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
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
  /** A run whose tasks wait for answers. */
  const begin = (number: number) => {
    const answers: (() => void)[] = [];
    const ranges = new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
    const run = new SearchRun({
      number,
      puzzle: jobOf(someHeaderHex, nothingSolves),
      ranges,
      threads: [
        {
          taskSize: wideTasks(),
          run: () =>
            new Promise((resolve) => answers.push(() => resolve({ rows: 0, candidates: [], beganMs: 0, ms: 1 }))),
        },
      ],
      tasksPerThread: 2,
      currentRun,
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

/** A thread on a fake clock, which searches one task after the other. */
class FakeThread implements TaskThread {
  readonly taskSize = new TaskSize(30);
  readonly taken: { hashes: number; ms: number }[] = [];
  readonly #hashesPerMs: number;
  readonly cores?: CoreKind;
  #freeMs = 0;

  constructor(hashesPerMs: number, cores?: CoreKind) {
    this.#hashesPerMs = hashesPerMs;
    if (cores) this.cores = cores;
  }

  /** The tasks that have not ended, the next first. */
  readonly waiting: { endMs: number; answer: () => void }[] = [];

  run({ range }: Task): Promise<TaskResult> {
    const hashes = sizeOf(range);
    const ms = hashes / this.#hashesPerMs;
    const beganMs = this.#freeMs;
    this.#freeMs += ms;
    this.taken.push({ hashes, ms });
    return new Promise((resolve) => {
      const answer = () => resolve({ rows: hashes / 512, candidates: [], beganMs, ms });
      this.waiting.push({ endMs: this.#freeMs, answer });
    });
  }
}

/** A run that never solves anything. */
const runOn = (
  threads: readonly TaskThread[],
  ranges = new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS }),
) =>
  new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges,
    threads,
    tasksPerThread: 2,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
  });

test('a thread of a slow core gets tasks that take as long as those of a fast one, and reports say which cores they are', async () => {
  const fast = new FakeThread(100_000, 'performance');
  const slow = new FakeThread(20_000, 'efficiency');
  const threads = [fast, slow];
  const run = runOn(threads);
  const byCores = new Map<string | undefined, number>();
  const reading = (async () => {
    for await (const { cores, hashes } of run.reports()) byCores.set(cores, (byCores.get(cores) ?? 0) + hashes);
  })();
  for (let nowMs = 0; nowMs < 3_000; ) {
    const next = threads.reduce((a, b) => (a.waiting[0].endMs <= b.waiting[0].endMs ? a : b)).waiting.shift()!;
    nowMs = next.endMs;
    next.answer();
    await new Promise(setImmediate);
    for (const { waiting } of threads) expect(waiting).toHaveLength(2);
  }
  const stopping = run.stop();
  for (const { waiting } of threads) for (const { answer } of waiting.splice(0)) answer();
  await Promise.all([reading, stopping]);
  for (const { taken } of threads) {
    // The last task of a column can be shorter.
    const ms = taken.slice(-20).map((task) => task.ms);
    expect(Math.max(...ms)).toBeCloseTo(30, 0);
    expect(ms.filter((each) => each < 29).length).toBeLessThan(5);
  }
  expect([...byCores.keys()].sort()).toEqual(['efficiency', 'performance']);
  expect(byCores.get('performance')! / byCores.get('efficiency')!).toBeCloseTo(5, 0);
});

test('each thread has its first task before any has its second', () => {
  const order: number[] = [];
  const threads = [0, 1, 2].map((i) => ({
    taskSize: new TaskSize(30),
    run: () => {
      order.push(i);
      return new Promise<TaskResult>(() => {});
    },
  }));
  const run = runOn(threads);
  void run.reports().next();
  expect(order).toEqual([0, 1, 2, 0, 1, 2]);
});

test('the size of tasks is learned from tasks that ran to their end, not from those that returned early', async () => {
  const learned: number[] = [];
  const taskSize = Object.assign(new TaskSize(30), { learn: (hashes: number) => void learned.push(hashes) });
  let tasks = 0;
  const whole: number[] = [];
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges: new Rectangle({ lane: 3, step: 1, page: 0, pages: 64, counter: 0, counters: 512 }),
    threads: [
      {
        taskSize,
        run: async ({ range }) => {
          const isEarly = tasks++ % 2 === 0 && range.pages > 1;
          if (!isEarly) whole.push(sizeOf(range));
          const rows = isEarly ? 1 : range.pages;
          return { rows, candidates: isEarly ? [1n] : [], beganMs: 0, ms: 1 };
        },
      },
    ],
    tasksPerThread: 1,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
  });
  for await (const _ of run.reports());
  expect(learned).toEqual(whole);
  expect(whole.length).toBeLessThan(tasks);
});

test('a search ends with the first fault of its threads', async () => {
  const failing = (message: string) => ({ taskSize: new TaskSize(30), run: () => Promise.reject(new Error(message)) });
  const reading = runOn([failing('the first'), failing('the second')])
    .reports()
    .next();
  await expect(reading).rejects.toThrow('a CPU thread failed: the first');
});

test('no thread gets a task after one has refused its first', async () => {
  let tasks = 0;
  const refuses = {
    taskSize: new TaskSize(30),
    run: () => {
      throw new Error('refused');
    },
  };
  const works = {
    taskSize: new TaskSize(30),
    run: () => {
      tasks++;
      return new Promise<TaskResult>(() => {});
    },
  };
  const ranges = new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
  await expect(runOn([refuses, works], ranges).reports().next()).rejects.toThrow('a CPU thread failed: refused');
  expect(tasks).toBe(0);
  ranges.expectBalanced([]);
});

/** A thread that answers each task at once, and whose tasks stay as small as the first one. */
function quickThread() {
  const tasks: Task[] = [];
  const run = async (task: Task): Promise<TaskResult> => {
    tasks.push(task);
    return { rows: sizeOf(task.range) / 512, candidates: [], beganMs: 0, ms: 1 };
  };
  return { tasks, taskSize: Object.assign(new TaskSize(30), { learn: () => {} }), run };
}

test('no tasks are started while 256 reports are unread, and the next ones when some were read', async () => {
  const thread = quickThread();
  const reading = runOn([thread]).reports();
  await reading.next();
  await turns(600);
  const count = thread.tasks.length;
  // One report was read, and two tasks were in flight.
  expect(count).toBeGreaterThanOrEqual(257);
  expect(count).toBeLessThanOrEqual(258);
  for (let i = 0; i < 10; i++) await reading.next();
  await turns(600);
  expect(thread.tasks.length).toBeGreaterThanOrEqual(count + 8);
  expect(thread.tasks.length).toBeLessThanOrEqual(count + 10);
  await reading.return();
});

test('reports that nobody reads any more are given back', async () => {
  const thread = quickThread();
  const ranges = new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: COUNTERS });
  const reading = runOn([thread], ranges).reports();
  const { value } = await reading.next();
  await turns(50);
  expect(thread.tasks.length).toBeGreaterThan(10);
  await reading.return();
  ranges.expectBalanced([value!]);
});

test('candidates of a task of several columns belong to the part that was searched last', async () => {
  const run = new SearchRun({
    number: 1,
    puzzle: jobOf(someHeaderHex, nothingSolves),
    ranges: new Rectangle({ lane: 3, step: 1, page: 0, pages: PAGES, counter: 0, counters: 5 * 512 }),
    threads: [
      {
        taskSize: wideTasks(),
        // One whole column, and a part of the next one.
        run: async ({ range }) => ({ rows: range.pages + 7, candidates: [7n], beganMs: 5, ms: 1 }),
      },
    ],
    tasksPerThread: 1,
    currentRun: new Int32Array(new SharedArrayBuffer(4)),
  });
  const reading = run.reports();
  const [first, second] = [(await reading.next()).value!, (await reading.next()).value!];
  expect(first).toEqual({
    searched: expect.objectContaining({ counters: 512, pages: PAGES }),
    hashes: 512 * PAGES,
    beganMs: 5,
    candidates: [],
  });
  expect(second).toEqual({
    searched: expect.objectContaining({ counters: 512, pages: 7 }),
    hashes: 512 * 7,
    beganMs: 5,
    candidates: [7n],
  });
  expect('cores' in first).toBe(false);
});

test('numbers of runs are positive i32, and begin again at 1 when they are used up', () => {
  expect(nextRunNumber(0)).toBe(1);
  expect(nextRunNumber(1)).toBe(2);
  expect(nextRunNumber(2 ** 31 - 2)).toBe(2 ** 31 - 1);
  expect(nextRunNumber(2 ** 31 - 1)).toBe(1);
});
