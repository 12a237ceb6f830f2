// Measures the contract language on the coin: loading its contract, a transfer in a transaction of its own, and a block
// of 100 transfers on the mock node, with the table model of gas. The goals are at most 30 ms for loading it, 2 ms for
// a transfer and 150 ms for a block, all at the 50th percentile.
//
//   node bench/contract/contract.mjs [--loads 50] [--transfers 1000] [--blocks 20] [--no-goals] [--out FILE]
//
// A cold load is the first one of a process, with the interfaces that the coin implements; a warm load follows others,
// each in a session of its own. A transfer contains the reading of its code and a transaction that is committed.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Session } from '#pickaxe/contract/repl/repl-session.js';
import { printHeading, printTable, quantile, save } from '../lib/figures.mjs';
import { transferBlocks } from './transfer-block.mjs';

const GOALS_MS = { 'warm load': 30, transfer: 2, 'block of 100': 150 };
const COMMANDS = 100;
/** Number of loads that are not counted, because V8 compiles the code that they run. */
const WARM_UP_LOADS = 10;
const WARM_UP_TRANSFERS = 200;
const WARM_UP_BLOCKS = 3;

const { values } = parseArgs({
  options: {
    loads: { type: 'string', default: '50' },
    transfers: { type: 'string', default: '1000' },
    blocks: { type: 'string', default: '20' },
    cold: { type: 'boolean', default: false },
    'no-goals': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});

const contract = (name) =>
  readFileSync(new URL(`../../dist/mock-node/contracts/${name}.pact`, import.meta.url), 'utf8');
const CODE = ['fungible-v2', 'fungible-xchain-v1', 'coin'].map(contract);

function newSession() {
  return new Session({
    readFile: () => {
      throw new Error('nothing is loaded');
    },
    resolvePath: (_, path) => path,
  });
}

function say(session, text) {
  const { error } = session.runText(text);
  if (error) throw new Error(`${text.slice(0, 200)}: ${error.message}`);
}

/** @returns a session with the coin */
function load() {
  const session = newSession();
  say(session, '(begin-tx)');
  for (const code of CODE) say(session, code);
  say(session, '(commit-tx)');
  return session;
}

function timed(action) {
  const begun = performance.now();
  action();
  return performance.now() - begun;
}

/** Measures the cold load in a process of its own. */
function coldLoad() {
  const self = fileURLToPath(import.meta.url);
  return Number(execFileSync(process.execPath, [self, '--cold'], { encoding: 'utf8' }));
}

function transfers(count) {
  const session = load();
  const accounts = `(env-data {"alice":["alice-key"],"bob":["bob-key"]})(begin-tx)(test-capability (coin.GENESIS))
    (coin.create-genesis-account "alice" (read-keyset "alice") 1000000.0)
    (coin.create-genesis-account "bob" (read-keyset "bob") 1.0)(commit-tx)(env-gasmodel "table")(env-gaslimit 10000)`;
  say(session, accounts);
  return Array.from({ length: count }, (_, number) =>
    timed(() => {
      say(session, `(begin-tx)(env-gas 0)(env-hash (hash ${number}))`);
      say(session, '(env-sigs [{"key":"alice-key","caps":[(coin.TRANSFER "alice" "bob" 1.5)]}])');
      say(session, '(coin.transfer "alice" "bob" 1.5)');
      say(session, '(commit-tx)');
    }),
  );
}

function rowOf(name, times) {
  return { name, p50: quantile(times, 0.5), p99: quantile(times, 0.99), n: times.length };
}

if (values.cold) {
  console.log(timed(load));
} else {
  printHeading();
  const loads = Array.from({ length: Number(values.loads) + WARM_UP_LOADS }, () => timed(load));
  const rows = [
    rowOf('cold load', Array.from({ length: 5 }, coldLoad)),
    rowOf('warm load', loads.slice(WARM_UP_LOADS)),
    rowOf(
      `block of ${COMMANDS}`,
      transferBlocks(COMMANDS, Number(values.blocks) + WARM_UP_BLOCKS).slice(WARM_UP_BLOCKS),
    ),
    rowOf('transfer', transfers(Number(values.transfers) + WARM_UP_TRANSFERS).slice(WARM_UP_TRANSFERS)),
  ];
  printTable(
    ['milliseconds', 'p50', 'p99', 'goal'],
    rows.map(({ name, p50, p99 }) => [name, p50.toFixed(2), p99.toFixed(2), GOALS_MS[name] ?? '']),
  );
  save(values.out, { rows });
  const missed = rows.filter(({ name, p50 }) => p50 > (GOALS_MS[name] ?? Number.POSITIVE_INFINITY));
  for (const { name, p50 } of missed) console.log(`${name}: ${p50.toFixed(2)} ms, the goal is ${GOALS_MS[name]} ms`);
  if (missed.length > 0 && !values['no-goals']) process.exitCode = 1;
}
