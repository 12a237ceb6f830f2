// Runs the tests with faults. First each test is repeated in place with the faults that it reaches (runner.mjs). Then
// the faults that no test has noticed are active from the start of the nearest files that reach them, several at once,
// and in halves where a test fails. So a fault is found that acts only while a module is loaded, or in `beforeAll`.

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A test that takes longer is not repeated in place: in the second part of the campaign, one run tries many faults. */
const MOST_TEST_MS = 500;
/** Time that a fault may take in place in one file of tests. After that, only the second part tries it there. */
const MOST_FAULT_MS = 2_000;
/** A test with a fault has failed when it takes this long, and twenty times as long as without. */
const LEAST_LIMIT_MS = 5_000;
/** Time after a limit at which a process that has not reported the limit itself counts as stuck in a loop. */
const GRACE_MS = 5_000;
/** Time limit of a test without a limit of its own, in milliseconds: in place, and with several faults at once. */
const TIMEOUT_MS = { inPlace: 60_000, together: 20_000 };
const LONG_TIMEOUT_MS = 400_000;
/** A file with faults has failed when it takes this long, and ten times as long as without. */
const LEAST_FILE_MS = 60_000;
/** Maximum number of times that a file whose process has ended is started again. The second part follows anyway. */
const MOST_RESTARTS = 12;
const PAUSE_MS = 200;

export class Campaign {
  /** By fault: `failure`, `time limit` or `crash`. */
  noticed = new Map();
  /** Tests, and files of tests, that fail without a fault: they judge nothing. */
  failing = new Set();
  /** By file of tests: the faults that it reaches. */
  reached = new Map();
  /** Files of tests that have run to their end. */
  finished = new Set();
  #root;
  #folder;
  #faults;
  #endsMs;
  #log;
  #fileMs = new Map();

  /** @param endsMs time at which the campaign stops, unfinished, in milliseconds (`performance.now()`) */
  constructor({ root, folder, faults, endsMs, log }) {
    this.#root = root;
    this.#folder = folder;
    this.#faults = faults;
    this.#endsMs = endsMs;
    this.#log = log;
  }

  get isOutOfTime() {
    return performance.now() > this.#endsMs;
  }

  /** @param files paths of files of tests, relative to the root, in the order in which they are to run */
  async inPlace(files) {
    const states = new Map(files.map((file) => [file, { known: {}, skipped: [], restarts: 0 }]));
    for (let left = files; left.length > 0 && !this.isOutOfTime; ) {
      this.#log(`${left.length} files of tests, ${this.noticed.size} of ${this.#faults} faults noticed`);
      const events = await this.#run(Object.fromEntries(left.map((file) => [file, states.get(file)])), false);
      const trying = new Map();
      for (const event of events) {
        const { type, file, pid, id } = event;
        const state = states.get(file);
        if (type === 'trying') trying.set(pid, event);
        else if (type !== 'reached') trying.delete(pid);
        if (type === 'reached') this.#addReached(file, event.ids);
        else if (type === 'noticed') this.noticed.set(id, event.by);
        else if (type === 'suspect' || type === 'skipped') state.skipped.push(id);
        else if (type === 'test') {
          state.known[event.test] = event.outcome;
          if (event.outcome === 'fails') this.failing.add(`${file}: ${event.test}`);
        } else if (type === 'file') {
          this.finished.add(file);
          this.#fileMs.set(file, event.ms);
        }
      }
      if (this.isOutOfTime) break;
      for (const { file, id, isStuck } of trying.values()) {
        if (!this.finished.has(file)) this.noticed.set(id, isStuck ? 'time limit' : 'crash');
      }
      const begun = new Set(events.map(({ file }) => file));
      for (const file of left) if (!begun.has(file)) this.failing.add(file);
      const mayRestart = (file) => begun.has(file) && states.get(file).restarts++ < MOST_RESTARTS;
      left = left.filter((file) => !this.finished.has(file) && mayRestart(file));
    }
  }

  /**
   * Runs files of tests with the faults at once that they reach and that are not noticed yet.
   *
   * @param nearest by fault: files of tests, those that are nearest to its module first
   * @param range which of those files that reach a fault judge it: from the first number to before the second
   */
  async together(nearest, range) {
    const isPending = (id) => !this.noticed.has(id);
    const idsOf = new Map();
    for (const [id, files] of nearest) {
      const some = files.filter((file) => this.reached.get(file)?.has(id));
      for (const file of some.slice(...range)) idsOf.set(file, [...(idsOf.get(file) ?? []), id]);
    }
    let tasks = [...idsOf].map(([file, ids]) => ({ file, ids }));
    while (!this.isOutOfTime) {
      tasks = tasks.map(({ file, ids }) => ({ file, ids: ids.filter(isPending) })).filter(({ ids }) => ids.length > 0);
      if (tasks.length === 0) return;
      const round = new Map();
      for (const task of tasks) if (!round.has(task.file)) round.set(task.file, task);
      this.#log(`${round.size} files of tests with up to ${Math.max(...tasks.map(({ ids }) => ids.length))} faults`);
      const plan = Object.fromEntries([...round].map(([file, { ids }]) => [file, { together: ids }]));
      const events = await this.#run(plan, true);
      if (this.isOutOfTime) return;
      const passed = new Set(events.filter(({ outcome }) => outcome === 'passed').map(({ file }) => file));
      const begun = new Set(events.map(({ file }) => file));
      const stuck = new Set(events.filter(({ isStuck }) => isStuck).map(({ file }) => file));
      const next = tasks.filter((task) => round.get(task.file) !== task);
      for (const { file, ids } of round.values()) {
        if (passed.has(file)) continue;
        if (!begun.has(file)) next.push({ file, ids });
        else if (ids.length === 1) await this.#confirm(file, ids[0], stuck.has(file) ? 'time limit' : 'failure');
        else next.push({ file, ids: ids.slice(0, ids.length / 2) }, { file, ids: ids.slice(ids.length / 2) });
      }
      tasks = next;
    }
  }

  /** A file that fails without a fault, too, shows nothing. */
  async #confirm(file, id, by) {
    if (this.failing.has(file)) return;
    const events = await this.#run({ [file]: { together: [] } }, true);
    if (events.some(({ outcome }) => outcome === 'passed')) this.noticed.set(id, by);
    else this.failing.add(file);
  }

  #addReached(file, ids) {
    const all = this.reached.get(file) ?? new Set();
    for (const id of ids) all.add(id);
    this.reached.set(file, all);
  }

  /** @returns the events of one run of vitest */
  async #run(files, isTogether) {
    const path = (name) => join(this.#folder, name);
    for (const name of ['events', 'noticed']) rmSync(path(name), { force: true });
    writeFileSync(path('noticed'), [...this.noticed.keys()].map((id) => `${id}\n`).join(''));
    appendFileSync(path('events'), '');
    const plan = {
      root: this.#root,
      folder: this.#folder,
      events: path('events'),
      noticed: path('noticed'),
      faults: this.#faults,
      files,
      isTogether,
      mostTestMs: MOST_TEST_MS,
      mostFaultMs: MOST_FAULT_MS,
      leastLimitMs: LEAST_LIMIT_MS,
      timeoutMs: timeoutOf(Object.keys(files), isTogether),
      workers: Math.max(2, availableParallelism()),
    };
    writeFileSync(path('plan.json'), JSON.stringify(plan));
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'scripts/mutations/vitest.config.mjs'];
    const child = spawn(process.execPath, args, {
      cwd: this.#root,
      env: { ...process.env, FAULTS_PLAN: path('plan.json'), TEST_TEMPORARY: undefined },
      stdio: 'ignore',
      detached: true,
    });
    // Programs that tests have started do not end with the tests' processes, nor do these end with this one.
    const end = () => kill(-child.pid);
    process.prependOnceListener('exit', end);
    let isOver = false;
    const over = new Promise((resolve) => child.once('close', resolve)).then(() => (isOver = true));
    const stuck = new Set();
    while (!isOver) {
      await Promise.race([over, sleep(PAUSE_MS)]);
      if (this.isOutOfTime) break;
      this.#endStuck(readEvents(path('events')), isTogether, stuck);
    }
    end();
    process.off('exit', end);
    await over;
    return readEvents(path('events')).map((event) => ({ ...event, isStuck: stuck.has(event.pid) }));
  }

  /** Kills the processes that are in an endless loop: they cannot even notice that their time is over. */
  #endStuck(events, isTogether, stuck) {
    const nowMs = Date.now();
    const last = new Map();
    for (const event of events) if (event.type !== 'reached') last.set(event.pid, event);
    for (const [pid, { type, file, atMs, limitMs }] of last) {
      const fileLimitMs = Math.max(LEAST_FILE_MS, 10 * (this.#fileMs.get(file) ?? 0));
      const mostMs =
        type === 'trying' ? limitMs : isTogether && type === 'begun' ? fileLimitMs : Number.POSITIVE_INFINITY;
      if (nowMs - atMs <= mostMs + GRACE_MS || stuck.has(pid)) continue;
      stuck.add(pid);
      kill(pid);
    }
  }
}

function timeoutOf(files, isTogether) {
  if (files.some((path) => path.endsWith('.long.test.ts'))) return LONG_TIMEOUT_MS;
  return isTogether ? TIMEOUT_MS.together : TIMEOUT_MS.inPlace;
}

function readEvents(path) {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  // The last line may not be written to its end.
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
