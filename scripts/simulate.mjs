// Runs rigs, fleets and nodes in virtual time, with faults at random times (test/simulation/), and checks the books
// after every event:
//
//   npm run simulate -- [--world NAME]… [--first S] [--seeds N] [--minutes M] [--seconds C] [--go-on] [--json]
//     [--fault TEXT] [--alone]
//   npm run simulate -- --world NAME --seed S [--minutes M] [--trace] [--shrink] [--fault TEXT] [--alone]
//
// The first form runs every world, or those named, with N seeds from S on: M virtual minutes with faults each, and no
// more than C seconds of processor time in all. It ends at a world's first violation, with exit code 1; with --go-on,
// it tries the other seeds, too. The second form repeats one run: --trace prints everything that happened, and
// --shrink leaves out faults as long as it still fails. With --fault, only faults whose names contain the text happen;
// with --alone, faults come one at a time.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'vite';

const options = {
  world: { type: 'string', multiple: true, default: [] },
  first: { type: 'string', default: '1' },
  seeds: { type: 'string', default: '20' },
  minutes: { type: 'string', default: '10' },
  fault: { type: 'string' },
  alone: { type: 'boolean', default: false },
  seconds: { type: 'string', default: 'Infinity' },
  seed: { type: 'string' },
  trace: { type: 'boolean', default: false },
  shrink: { type: 'boolean', default: false },
  'go-on': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
};

/**
 * Builds the simulation into a file that Node.js itself loads. With Vite's loader, real time would pass whenever the
 * product imports a module during a run, and equal seeds would give different runs.
 */
async function buildSimulation() {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-simulation-'));
  const isOwn = (id) => id.startsWith('.') || isAbsolute(id);
  const resolve = (id) => import.meta.resolve(id);
  try {
    await build({
      root: fileURLToPath(new URL('..', import.meta.url)),
      configFile: false,
      logLevel: 'error',
      build: {
        ssr: 'test/simulation/simulate.ts',
        outDir: folder,
        minify: false,
        target: 'node20',
        rolldownOptions: { external: (id) => !isOwn(id), output: { entryFileNames: 'simulate.mjs', paths: resolve } },
      },
    });
    return await import(pathToFileURL(join(folder, 'simulate.mjs')));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const { runWorld, simulate, shrink, describeFailure, worldsOf, WORLDS } = await buildSimulation();

const asked = readOptions();
process.exitCode = asked.seed === undefined ? await runAll(asked) : await repeat(asked);
// Timers of libraries may be left, which nobody waits for.
process.exit();

function readOptions() {
  try {
    const { values } = parseArgs({ options });
    const numbers = ['first', 'seeds', 'minutes', 'seconds', ...(values.seed === undefined ? [] : ['seed'])];
    for (const name of numbers) {
      values[name] = Number(values[name]);
      if (!(values[name] >= 0)) throw new Error(`--${name} is a number`);
    }
    worldsOf(values.world);
    if (values.seed !== undefined && values.world.length !== 1) throw new Error('--seed needs one --world');
    return values;
  } catch (fault) {
    console.error(`${fault.message}. The head of scripts/simulate.mjs shows its usage.`);
    process.exit(2);
  }
}

async function runAll({ world: worlds, first, seeds, minutes, seconds, fault: only, alone, json, 'go-on': goesOn }) {
  const summaries = await simulate({ worlds, first, seeds, minutes, only, alone, seconds }, (world, run) => {
    if (run.violations.length > 0) console.error(describeFailure(world, run));
    return goesOn || run.violations.length === 0;
  });
  if (json) console.log(JSON.stringify(summaries));
  else for (const summary of summaries) console.log(lineOf(summary));
  return summaries.some(({ violations }) => violations.length > 0) ? 1 : 0;
}

function lineOf({ world, seeds, virtualHours, cpuSeconds, found, accepted, lost, violations }) {
  const speed = Math.round((3600 * virtualHours) / cpuSeconds);
  const books = `${found} found, ${accepted} accepted, ${lost} lost, ${violations.length} violations`;
  return `${world}: ${seeds} seeds, ${virtualHours.toFixed(1)} virtual hours, ${speed} virtual seconds a processor second: ${books}`;
}

async function repeat({ world: [world], seed, minutes, fault: only, alone, trace, shrink: shrinks }) {
  let run = await runWorld(WORLDS[world], { seed, minutes, only, alone });
  const fails = run.violations.length > 0;
  if (fails && shrinks) {
    run = await shrink(WORLDS[world], run, { minutes, only, alone }, (faults) =>
      console.error(`${faults} faults are left`),
    );
    console.log(run.faults.map(({ number, name }) => `fault ${number}: ${name}`).join('\n'));
  }
  if (trace) console.log(run.trace.join('\n'));
  if (fails) console.error(describeFailure(world, run));
  else console.log(`world ${world}, seed ${seed}: no violation, trace ${run.digest}`);
  return fails ? 1 : 0;
}
