// Measures what the status line costs: the hashrate with it ÷ the hashrate without it, in turns, on a terminal.
//
//   node bench/mining/status-cost.mjs [--rounds 8] [--seconds 5] [--warm-up 3] [--out FILE]
//
// A miner runs on the CPU, against a mock node in another process, with about a block per second. The status line is
// drawn every second, at every verdict, and below every line of the log. Each round is with, without, without, with, so
// that a drift of the machine's speed affects both. On a busy machine that ratio says little, so the processor time of
// one drawing is measured, too, and given as a fraction of the time of all hashing threads. The terminal is that of
// `script` (util-linux), which another process reads, as with real terminals. It runs only on Linux, because it reads
// the scheduler's statistics.

import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { terminal } from '#pickaxe/app/composition/terminal.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { CpuEngine } from '#pickaxe/miner/engine/cpu/cpu-engine.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { Miner } from '#pickaxe/miner/loop/miner.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { makeLog } from '#pickaxe/rig/terminal/log.js';
import { inColours, screen } from '#pickaxe/rig/terminal/screen.js';
import { statusLine } from '#pickaxe/rig/terminal/status-line.js';
import { median, printHeading, save } from '../lib/figures.mjs';
import { startMockProcess } from '../lib/mock-process.mjs';

/** How many drawings are timed, and how many of them in a row: the reader must keep up. */
const DRAWINGS = 2_000;
const IN_A_ROW = 20;

/** How much of a failed run's output is shown, in characters. */
const LAST_WORDS_CHARS = 2_000;
/** The beginning of the status line: see rig/terminal/screen.ts. */
const DRAWN = '\x1b[?7l';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '5' },
    'warm-up': { type: 'string', default: '3' },
    out: { type: 'string' },
    inside: { type: 'string' },
  },
});

if (values.inside === undefined) await outside();
else await inside(values.inside);

/** Runs this script again on a new terminal. @returns its result */
async function outside() {
  printHeading();
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-status-'));
  const file = join(folder, 'rounds.json');
  const command = [process.execPath, fileURLToPath(import.meta.url), '--inside', file];
  const size = ['rounds', 'seconds', 'warm-up'].flatMap((name) => [`--${name}`, values[name]]);
  const { CI: _, ...environment } = process.env;
  const child = spawn('script', ['-qec', [...command, ...size].map((part) => `'${part}'`).join(' '), '/dev/null'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, TERM: 'xterm-256color' },
  });
  let shown = '';
  child.stdout.on('data', (text) => {
    shown += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`it ended with exit code ${code}:\n${shown.slice(-LAST_WORDS_CHARS)}`);
  const { threads, draws, drawUs, turns } = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(folder, { recursive: true });

  const rounds = turns.map(([with1, without1, without2, with2]) => {
    const MHs = (a, b) => Number(((a + b) / 2e6).toFixed(2));
    const row = { 'with MH/s': MHs(with1, with2), 'without MH/s': MHs(without1, without2) };
    return { ...row, ratio: Number((row['with MH/s'] / row['without MH/s']).toFixed(4)) };
  });
  console.table(rounds);
  const drawsPerSecond = draws / (2 * turns.length * Number(values.seconds));
  const percent = (100 * drawsPerSecond * drawUs) / (1e6 * threads);
  const figures = { ratio: median(rounds.map(({ ratio }) => ratio)), drawsPerSecond, drawUs, percent };
  const result = Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(4))]));
  console.log(`hashrate with the status line ÷ without: median ${result.ratio}`);
  console.log(`one drawing: ${drawUs.toFixed(0)} µs of CPU, ${drawsPerSecond.toFixed(1)} a second, ${threads} threads`);
  console.log(`so the status line takes ${percent.toFixed(3)} % of what the hashing threads have`);
  save(values.out, { bench: 'status-cost', threads, rounds, ...result });
}

/** Mines in turns with and without the status line. */
async function inside(file) {
  const node = await startMockProcess({ difficulty: 1e8, rivalMs: 3_000 });
  const events = new Events();
  const tally = new Tally(systemClock);
  const log = makeLog('info', 'text');
  events.on(tally.listen);
  events.on(new LogLines(log, tally).listen);
  const identity = { account: 'bench', predicate: 'keys-all', publicKeys: ['0'.repeat(64)] };
  const source = new NodeSource({ url: node.url, network: 'development', miner: identity }, { emit: events.emit });
  const random = (below) => randomInt(below);
  const engine = new CpuEngine();
  const options = { source, engines: [engine], emit: events.emit, clock: systemClock, random };
  const miner = new Miner(options);
  const run = miner.run();
  const sidecar = terminal(DEFAULTS);
  if (!sidecar) throw new Error('this is not a terminal');

  let draws = 0;
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text, ...rest) => {
    if (String(text).includes(DRAWN)) draws++;
    return write(text, ...rest);
  };

  const turn = async (shows) => {
    const end = shows ? await sidecar({ controls: miner, events, tally, clock: systemClock, log }) : () => {};
    const before = { hashes: tally.summary().hashes, ms: performance.now() };
    await sleep(Number(values.seconds) * 1000);
    const rate = (1000 * (tally.summary().hashes - before.hashes)) / (performance.now() - before.ms);
    await end();
    return rate;
  };

  // The rate of the warm-up gives the difficulty for a block per second.
  do await sleep(Number(values['warm-up']) * 1000);
  while (tally.summary().hashes === 0);
  node.setDifficulty(tally.summary().averageHashesPerSecond);
  const turns = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const rates = [];
    for (const shows of [true, false, false, true]) rates.push(await turn(shows));
    turns.push(rates);
  }
  const result = { draws, drawUs: await drawingUs(tally), threads: availableParallelism(), turns };
  miner.stop();
  await run;
  await node.close();
  writeFileSync(file, JSON.stringify(result));
  process.exit(0);
}

/** @returns µs of this thread's processor time that one drawing takes */
async function drawingUs(tally) {
  let ns = 0;
  for (let done = 0; done < DRAWINGS; done += IN_A_ROW) {
    await sleep(1);
    const before = threadNs();
    for (let i = 0; i < IN_A_ROW; i++) screen.show(statusLine(tally.status(), 120, inColours));
    ns += threadNs() - before;
  }
  return ns / DRAWINGS / 1000;
}

function threadNs() {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]);
}
