// Runs scenarios side by side, prints a table of their results, and compares these with goals.

import { parseArgs } from 'node:util';
import { median, printHeading, printTable, save } from '../../../bench/lib/figures.mjs';

/**
 * The command line of a benchmark that is made of scenarios. Ends the process: with 1 when a goal is missed.
 * @param scenarios by name: `what` it is, for people; `figure`: what is measured; `unit`; `goal`: the most that it may
 *   be, where there is one, or a function of the seconds that returns it; `judged`: `mean` or `worst`; `leastSeconds`:
 *   runs in a shorter time only when it is named; `alone`: runs when the others are done; `run(seconds)`: a promise of
 *   samples, a number each
 * @param defaultSeconds that a scenario takes
 */
export async function runScenarios(scenarios, defaultSeconds) {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: String(defaultSeconds) },
      scenario: { type: 'string', multiple: true },
      json: { type: 'boolean', default: false },
      goals: { type: 'boolean', default: true },
      out: { type: 'string' },
    },
    allowNegative: true,
  });
  const seconds = Number(values.seconds);
  if (!(seconds > 0)) throw new Error(`--seconds takes a number above 0, not ${values.seconds}`);
  const names = values.scenario ?? Object.keys(scenarios).filter((name) => !(scenarios[name].leastSeconds > seconds));
  const unknown = names.find((name) => !scenarios[name]);
  if (unknown) throw new Error(`there is no scenario ${unknown}: there are ${Object.keys(scenarios).join(', ')}`);
  if (!values.json) printHeading();

  const run = (name) => result(name, scenarios[name], seconds);
  const results = await Promise.all(names.filter((name) => !scenarios[name].alone).map(run));
  for (const name of names.filter((name) => scenarios[name].alone)) results.push(await run(name));
  if (values.json) console.log(JSON.stringify({ seconds, results }));
  else print(results);
  save(values.out, { seconds, results });
  const missed = results.filter(({ met }) => met === false);
  for (const { name, figure, unit, goal, judged, value } of values.goals ? missed : []) {
    console.error(`MISSED: ${name}: ${figure} is ${value} ${unit} (${judged}), the goal is at most ${goal} ${unit}`);
  }
  process.exit(values.goals && missed.length > 0 ? 1 : 0);
}

async function result(name, { what, figure, unit, goal: aim, judged, run }, seconds) {
  const goal = typeof aim === 'function' ? rounded(aim(seconds)) : aim;
  const samples = await run(seconds);
  if (samples.length === 0) throw new Error(`${name} has measured nothing`);
  const worst = rounded(Math.max(...samples));
  const mean = rounded(samples.reduce((sum, sample) => sum + sample, 0) / samples.length);
  const value = judged === 'mean' ? mean : worst;
  const met = goal === undefined ? undefined : value <= goal;
  return {
    name,
    what,
    figure,
    unit,
    n: samples.length,
    mean,
    median: rounded(median(samples)),
    worst,
    goal,
    judged,
    value,
    met,
    samples: samples.map(rounded),
  };
}

function print(results) {
  const rows = results.map(({ name, figure, unit, n, mean, median, worst, goal, judged, met }) => {
    const aim = goal === undefined ? '' : `${judged} ≤ ${goal}: ${met ? 'met' : 'MISSED'}`;
    return [name, `${figure}, ${unit}`, n, mean, median, worst, aim];
  });
  printTable(['scenario', 'figure', 'n', 'mean', 'median', 'worst', 'goal'], rows);
  for (const { name, what } of results) console.log(`${name}: ${what}`);
}

function rounded(value) {
  return Number(value.toFixed(2));
}
