// Runs random and hostile programs of the contract language. Each must come to a value or to a ContractError, in the
// time and memory that are allowed.
//
//   node test/faults/contract-fuzz.mjs [--programs 100000] [--from 0] [--seed 1] [--max-steps 50000] [--limit-ms 4000]
//     [--memory-mib 512] [--longest [--only NAME]] [--json] [--out FILE]
//
// One group of ten programs in ten may take all of the steps, and the others a tenth, so that many run. Half of the
// groups share a session. Programs run in a thread with a memory limit and with the stack of a main thread. Times are
// those of the processors, so a busy machine does not count. Findings are printed with the smallest program that shows
// them. --longest then runs all hostile programs with the default number of steps and prints their times; --only names
// a part of their names. The exit code is 1 if there are findings.

import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { printHeading, printTable, save } from '../../bench/lib/figures.mjs';
import { HOSTILE } from './lib/contract/hostile.mjs';
import { GROUP, programOf, stepsOf, tokensOf } from './lib/contract/programs.mjs';

/** Programs that a thread gets at once. */
const BATCH = 50 * GROUP;
/** Number of programs after which a line reports the progress. */
const PROGRESS = 1000;
/** Programs that are tried to make a finding smaller. */
const TRIES = 200;
/** A program that takes long is tried less often. */
const LONG_TRIES = 25;
const LONGEST_MS = 300_000;
/** Time limit for the start of a thread. */
const START_MS = 5_000;
const LONGEST_N = 40_000;

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: '100000' },
    from: { type: 'string', default: '0' },
    seed: { type: 'string', default: '1' },
    'max-steps': { type: 'string', default: '50000' },
    'limit-ms': { type: 'string', default: '4000' },
    'memory-mib': { type: 'string', default: '512' },
    longest: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const [programs, first, seed, maxSteps] = [values.programs, values.from, values.seed, values['max-steps']].map(Number);
/** Milliseconds of the processors that the process has taken. */
function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const limitMs = Number(values['limit-ms']);
if (!values.json) printHeading();

/** A thread that is replaced when it has ended or hangs. */
class Runner {
  #running = new Float64Array(new SharedArrayBuffer(16));
  #worker;
  #answer = () => {};

  /** @returns the number of the program that runs, or ran last */
  get number() {
    return this.#running[0];
  }

  #start() {
    const worker = new Worker(new URL('./lib/contract/runner.mjs', import.meta.url), {
      workerData: { running: this.#running.buffer },
      resourceLimits: { maxOldGenerationSizeMb: Number(values['memory-mib']), stackSizeMb: 1 },
    });
    const end = (ended) => worker === this.#worker && this.#replace({ ended });
    worker.on('message', (answer) => this.#answer(answer));
    worker.on('error', (error) => end(`${error.code ?? error.stack ?? error}`));
    worker.on('exit', (code) => end(`the thread has exited with ${code}`));
    this.#worker = worker;
  }

  #replace(answer) {
    const worker = this.#worker;
    this.#worker = undefined;
    worker.terminate();
    this.#answer(answer);
  }

  /** @returns what the thread answers, or the fault that has ended it */
  async ask(question, limit = limitMs) {
    if (!this.#worker) this.#start();
    this.#running.set([question.from ?? -1, processorMs() + START_MS]);
    const watch = setInterval(() => {
      if (processorMs() - this.#running[1] > limit) this.#replace({ ended: `takes more than ${limit} ms` });
    }, 20);
    const answer = await new Promise((resolve) => {
      this.#answer = resolve;
      this.#worker.postMessage(question);
    });
    clearInterval(watch);
    return answer;
  }

  async stop() {
    await this.#worker?.terminate();
  }
}

const kindOf = ({ fault, ended }) => ended ?? fault?.split('\n').slice(0, 2).join(' ').replace(/\s+/g, ' ');
const isFinding = (answer) => answer.ended !== undefined || answer.fault !== undefined;

/** @returns the program's finding if it shows it each time */
async function confirmed(runner, program) {
  let answer;
  for (let time = 0; time < 3; time++) {
    answer = await runner.ask(program);
    if (!isFinding(answer)) return undefined;
    if (answer.fault !== undefined) break;
  }
  return answer;
}

/** Cuts pieces of texts and tokens, as long as the finding stays. */
async function smallest(runner, program, kind) {
  let tries = 0;
  const shows = async (texts) => {
    if (tries++ > (kind.startsWith('takes') ? LONG_TRIES : TRIES)) return false;
    const answer = await runner.ask({ ...program, texts });
    return isFinding(answer) && kindOf(answer).slice(0, 40) === kind.slice(0, 40);
  };
  const cut = async (pieces, shown) => {
    let kept = pieces;
    for (let length = Math.ceil(kept.length / 2); length >= 1; length = length > 1 ? Math.ceil(length / 2) : 0) {
      for (let at = 0; at < kept.length; ) {
        const fewer = [...kept.slice(0, at), ...kept.slice(at + length)];
        if (fewer.length < kept.length && (await shown(fewer))) kept = fewer;
        else at += length;
      }
    }
    return kept;
  };
  let texts = await cut(program.texts, shows);
  for (let at = 0; at < texts.length; at++) {
    const others = (text) => texts.map((each, index) => (index === at ? text : each));
    const tokens = await cut(tokensOf(texts[at]), (fewer) => shows(others(fewer.join(' '))));
    if (await shows(others(tokens.join(' ')))) texts = others(tokens.join(' '));
  }
  return texts;
}

const findings = [];
const slow = [];
let ran = 0;

async function examine(runner, number, found) {
  const { dialect, shared, texts } = programOf(number, seed);
  const begin = shared ? number - (number % GROUP) : number;
  const before = [];
  for (let other = begin; other < number; other++) before.push(...programOf(other, seed).texts);
  const program = { dialect, texts: [...before, ...texts], maxSteps: stepsOf(number, maxSteps) };
  const answer = await confirmed(runner, program);
  if (!answer) return;
  const kind = kindOf(answer);
  const known = findings.find(
    (each) =>
      each.kind.slice(0, 120) === kind.slice(0, 120) && !each.kind.startsWith('takes') && !each.kind.startsWith('ERR'),
  );
  if (known) {
    known.others.push(number);
    return;
  }
  const finding = { number, dialect, kind, first: kindOf(found), others: [], fault: answer.fault };
  findings.push(finding);
  finding.texts = await smallest(runner, program, kind);
  if (values.json) return;
  console.log(`Program ${number}, dialect ${dialect}: ${finding.kind}\n${answer.fault ?? ''}`);
  for (const text of finding.texts)
    console.log(`  ${text.length > 1500 ? `${text.slice(0, 1500)}… (${text.length})` : text}`);
}

async function runAll(numbers) {
  const runner = new Runner();
  for (let from = numbers.next().value; from !== undefined; from = numbers.next().value) {
    const end = Math.min(from + BATCH, first + programs);
    for (let at = from; at < end; ) {
      const answer = await runner.ask({ from: at, to: end, seed, maxSteps });
      if (answer.ended === undefined) {
        for (const { number, fault } of answer.findings) await examine(runner, number, { fault });
        slow.push(...answer.slow);
        at = end;
      } else {
        const number = runner.number;
        await examine(runner, number, answer);
        at = number + 1;
      }
    }
    ran += end - from;
    if (ran % PROGRESS === 0 && !values.json) console.error(`${ran} of ${programs} programs`);
  }
  await runner.stop();
}

function* batches() {
  for (let from = first; from < first + programs; from += BATCH) yield from;
}

const begun = performance.now();
await runAll(batches());
const seconds = (performance.now() - begun) / 1000;
slow.sort((a, b) => b.longest - a.longest);

const longest = [];
if (values.longest) {
  const runner = new Runner();
  for (const [name, make] of Object.entries(HOSTILE)) {
    if (values.only && !name.includes(values.only)) continue;
    for (const dialect of [4, 5]) {
      const { longest: milliseconds, ended, fault } = await runner.ask({ dialect, texts: make(LONGEST_N) }, LONGEST_MS);
      longest.push({ name, dialect, milliseconds, finding: ended ?? fault });
      if (!values.json) console.error(name, dialect, milliseconds, ended ?? fault ?? '');
    }
  }
  await runner.stop();
  longest.sort((a, b) => (b.milliseconds ?? Infinity) - (a.milliseconds ?? Infinity));
}

const rows = slow.slice(0, 10).map(({ number, longest }) => ({ number, milliseconds: longest }));
const result = { seed, programs: ran, seconds, findings, slowest: rows, longest };
if (values.json) console.log(JSON.stringify(result));
else {
  console.log(`${ran} programs in ${seconds.toFixed(0)} s, ${findings.length} findings\n`);
  printTable(
    ['slow program', 'ms'],
    rows.map((each) => [each.number, each.milliseconds.toFixed(0)]),
  );
  const shown = longest.slice(0, 20);
  if (shown.length > 0) {
    printTable(
      ['hostile program', 'dialect', 's'],
      shown.map((each) => [each.name, each.dialect, each.finding ?? (each.milliseconds / 1000).toFixed(1)]),
    );
  }
}
save(values.out, result);
process.exitCode = findings.length > 0 || longest.some(({ finding }) => finding) ? 1 : 0;
