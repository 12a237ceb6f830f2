// The runner of vitest with which tests are repeated in place: after a test has passed, it runs again with each fault
// that it reaches, one after the other. `FAULTS_PLAN` names a file with what the campaign (campaign.mjs) wants. Events
// are appended, a line of JSON each, to the plan's `events`.

import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestRunner } from 'vitest';

// Tests replace the clock.
const { setTimeout, clearTimeout } = globalThis;
const { now } = Date;

const plan = JSON.parse(readFileSync(process.env.FAULTS_PLAN, 'utf8'));
const folder = join(plan.folder, `process-${process.pid}`);
mkdirSync(folder, { recursive: true });
process.env.FAULTS_FOLDER = folder;

const active = new Uint8Array(plan.faults);
const reached = new Uint8Array(plan.faults);
globalThis.fault = (id) => {
  reached[id] = 1;
  return active[id] === 1;
};

function activate(ids) {
  active.fill(0);
  for (const id of ids) active[id] = 1;
  writeFileSync(join(folder, 'active'), JSON.stringify(ids));
}

/** @returns the faults that this process and those that it has started have reached since the last call */
function takeReached() {
  const ids = new Set();
  for (let id = 0; id < reached.length; id++) if (reached[id] === 1) ids.add(id);
  reached.fill(0);
  try {
    for (const line of readFileSync(join(folder, 'reached'), 'utf8').split('\n'))
      if (line !== '') ids.add(Number(line));
  } catch {
    // No other process has reached any.
  }
  writeFileSync(join(folder, 'reached'), '');
  return [...ids];
}

const report = (event) =>
  appendFileSync(plan.events, `${JSON.stringify({ pid: process.pid, atMs: now(), ...event })}\n`);
const readIds = (path) => new Set(readFileSync(path, 'utf8').split('\n').filter(Boolean).map(Number));

/** Number of errors outside of tests, such as after their end. Because of one, a run of vitest fails. */
let strayErrors = 0;
for (const name of ['unhandledRejection', 'uncaughtException']) process.on(name, () => strayErrors++);

export default class FaultRunner extends TestRunner {
  #file = '';
  /** Outcomes of the file's tests in earlier processes: by name of the test, `fails`, `unrepeatable` or `done`. */
  #known = {};
  /** Faults that are not tried in place in this file. */
  #skipped = new Set();
  /** Milliseconds that each fault has taken in this file. */
  #spentMs = new Map();
  #hasFailed = false;
  #begunMs = 0;
  /** The state of the present test. */
  #test;

  onBeforeCollect([path]) {
    this.#file = path.slice(plan.root.length + 1).replaceAll('\\', '/');
    const { together, known, skipped } = plan.files[this.#file] ?? {};
    this.#known = known ?? {};
    this.#skipped = new Set(skipped);
    activate(together ?? []);
    this.#begunMs = now();
    report({ type: 'begun', file: this.#file });
  }

  async onBeforeRunTask(test) {
    await super.onBeforeRunTask(test);
    if (test.mode !== 'run' && test.mode !== 'queued') return;
    if (plan.isTogether) {
      if (this.#hasFailed) test.mode = 'skip';
      return;
    }
    // It is not known which of several concurrent tests reaches a fault.
    if (test.concurrent) return;
    this.#reportReached();
    const name = nameOf(test);
    this.#test = { name, stage: 'first', queue: [], testMs: 0, id: undefined };
    // The number of repetitions is not known before the first run.
    if (this.#known[name] === undefined) test.repeats = Number.MAX_SAFE_INTEGER;
  }

  async onBeforeTryTask(test) {
    super.onBeforeTryTask(test);
    if (plan.isTogether || test.concurrent) return;
    const state = this.#test;
    // When vitest cannot describe what a test expected, it does not call `onAfterRetryTask`.
    if (state.isRunning) await this.#ended(true);
    if (state.stage === 'over') test.context.skip();
    test.result.state = 'run';
    test.result.errors = undefined;
    strayErrors = 0;
    activate(state.stage === 'try' ? [state.id] : []);
    if (state.stage === 'try')
      report({ type: 'trying', file: this.#file, id: state.id, limitMs: limitOf(state.testMs) });
    state.startedMs = now();
    state.isRunning = true;
  }

  async runTask(test) {
    const run = TestRunner.getTestFn(test);
    if (plan.isTogether || test.concurrent || this.#test.stage !== 'try') return run();
    const { testMs } = this.#test;
    let timer;
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => {
        this.#notice('time limit');
        // What the test has begun goes on, and would disturb what comes after.
        process.kill(process.pid, 'SIGKILL');
        reject();
      }, limitOf(testMs));
    });
    try {
      await Promise.race([run(), limit]);
    } finally {
      clearTimeout(timer);
    }
  }

  async onAfterRetryTask(test) {
    await super.onAfterRetryTask?.(test);
    if (plan.isTogether || test.concurrent || test.result.pending) return;
    await this.#ended(test.result.state === 'fail');
    test.result.state = 'pass';
    test.result.errors = undefined;
  }

  async #ended(hasFailed) {
    this.#test.isRunning = false;
    // An error without a handler is reported in the next turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 0));
    const isFailure = hasFailed || strayErrors > 0;
    if (this.#test.stage !== 'over') this.#next(isFailure, now() - this.#test.startedMs, takeReached());
  }

  /** Decides what the next repetition of the present test is for. */
  #next(isFailure, ms, ids) {
    const state = this.#test;
    const { name } = state;
    const end = (outcome) => {
      report({ type: 'test', file: this.#file, test: name, outcome });
      state.stage = 'over';
    };
    switch (state.stage) {
      case 'first': {
        report({ type: 'reached', file: this.#file, ids });
        if (isFailure) return end('fails');
        state.testMs = ms;
        state.queue = ids;
        if (this.#known[name] !== undefined) return;
        if (ms <= plan.mostTestMs) state.id = this.#choose();
        if (state.id === undefined) return end('done');
        // A test that fails when it is only repeated proves nothing by failing with a fault.
        state.stage = 'again';
        return;
      }
      case 'again':
        if (isFailure) return this.#restart({ type: 'test', test: name, outcome: 'unrepeatable' });
        state.stage = 'try';
        return;
      case 'try':
        this.#spentMs.set(state.id, (this.#spentMs.get(state.id) ?? 0) + ms);
        if (isFailure) {
          state.stage = 'check';
          return;
        }
        report({ type: 'passed', file: this.#file, id: state.id });
        break;
      case 'check':
        // The test may fail now because of what the fault has left behind, and may have failed for that reason before.
        if (isFailure) return this.#restart({ type: 'suspect', id: state.id });
        this.#notice('failure');
        break;
    }
    state.id = this.#choose();
    if (state.id === undefined) return end('done');
    state.stage = 'try';
  }

  /** @param by how the present test has noticed the fault with which it runs */
  #notice(by) {
    const { id, name } = this.#test;
    report({ type: 'noticed', file: this.#file, id, test: name, by });
    appendFileSync(plan.noticed, `${id}\n`);
  }

  /** @returns the next fault to try in the present test, if any */
  #choose() {
    const noticed = readIds(plan.noticed);
    for (;;) {
      const id = this.#test.queue.shift();
      if (id === undefined) return undefined;
      if (noticed.has(id) || this.#skipped.has(id)) continue;
      if ((this.#spentMs.get(id) ?? 0) < plan.mostFaultMs) return id;
      this.#skipped.add(id);
      report({ type: 'skipped', file: this.#file, id });
    }
  }

  /** Ends the process, in which nothing can be trusted any more. The campaign starts the file again. */
  #restart(event) {
    report({ ...event, file: this.#file });
    process.kill(process.pid, 'SIGKILL');
  }

  /** Reports what was reached since the last test, such as by imports and in `beforeAll`. */
  #reportReached() {
    const ids = takeReached();
    if (ids.length > 0) report({ type: 'reached', file: this.#file, ids });
  }

  async onAfterRunTask(test) {
    await super.onAfterRunTask(test);
    if (test.result?.state === 'fail') this.#hasFailed = true;
  }

  async onAfterRunFiles() {
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#reportReached();
    const isFailure = this.#hasFailed || strayErrors > 0;
    const ms = now() - this.#begunMs;
    report({ type: 'file', file: this.#file, ms, outcome: isFailure ? 'failed' : 'passed' });
    super.onAfterRunFiles();
  }
}

const limitOf = (testMs) => Math.max(plan.leastLimitMs, 20 * testMs);

function nameOf(test) {
  return test.suite && test.suite !== test.file ? `${nameOf(test.suite)} > ${test.name}` : test.name;
}
