// Measures a fleet under load: 1,000 simulated rigs and three that hash, on three clustered NATS servers, with two
// coordinators on a mock node.
//
//   node bench/fleet/fleet.mjs [--rigs 1000] [--cuts 300] [--parts notify,repeated,hashrate] [--short]
//     [--no-goals] [--json] [--out FILE]
//
// `notify`: the time from a New Cut at the node until the last rig has the message with the new work, and until the
// last rig that hashes reports that it searches that work; messages and bytes of the servers for each New Cut, and for
// each second without one; memory and processor time.
// `repeated`: the share of the work that several rigs do, from the ranges that the rigs took, beside the formula: in a
// fleet of 1,000 rigs at a rate that makes the share visible, and, without a network, for 10,000 rigs as fast as GPUs
// and CPUs are.
// `hashrate`: the hashrate of a fleet's rig ÷ that of a rig on a node, per processor second of the hashing threads.
// Both mine at the same time.
// Fails (exit 1) when the 99th percentile of the last message is above 100 ms, the ratio is below 0.99, or the
// repeated share is far from the formula. Loopback only. Linux only: it reads /proc.

import { parseArgs } from 'node:util';
import { printHeading, printTable, save } from '../lib/figures.mjs';
import { fleetHashrate } from './fleet-hashrate.mjs';
import { notifyRigs } from './fleet-notify.mjs';
import { repeatedInFleet } from './fleet-repeated.mjs';
import { simulateRepeated } from './repeated-work.mjs';

const { values } = parseArgs({
  options: {
    rigs: { type: 'string' },
    cuts: { type: 'string' },
    parts: { type: 'string', default: 'notify,repeated,hashrate' },
    short: { type: 'boolean', default: false },
    'no-goals': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const parts = values.parts.split(',');
const usual = values.short
  ? { rigs: 60, cuts: 5, idleSeconds: 2, repeatedCuts: 1, headers: 1, rounds: 1, ms: 500, warmUpMs: 600 }
  : {
      rigs: 1_000,
      cuts: 300,
      idleSeconds: 10,
      repeatedCuts: 8,
      headers: 20,
      rounds: 30,
      ms: 4_000,
      warmUpMs: 5_000,
    };
const [rigs, cuts] = ['rigs', 'cuts'].map((name) => Number(values[name] ?? usual[name]));

const MOST_LAST_RIG_MS = 100;
const LEAST_RATIO = 0.99;
/** The measured share varies, because it comes from some hundred pairs of rigs that meet by chance. */
const MOST_TIMES_EXPECTED = 1.5;
const THREADS = 1;
const HASHING = 3;
/** Number of processes that the rigs with ranges share. */
const PROCESSES = 4;

if (!values.json) printHeading();
const result = {
  bench: 'fleet',
  ...(parts.includes('notify') && {
    notify: await notifyRigs({ rigs, hashing: HASHING, cuts, idleSeconds: usual.idleSeconds }),
  }),
  ...(parts.includes('repeated') && {
    repeated: {
      inFleet: await repeatedInFleet({ rigs, processes: PROCESSES, cuts: usual.repeatedCuts }),
      simulated: simulateRepeated(usual.headers),
    },
  }),
  ...(parts.includes('hashrate') && {
    hashrate: await fleetHashrate({ rounds: usual.rounds, ms: usual.ms, warmUpMs: usual.warmUpMs, threads: THREADS }),
  }),
};
if (values.json) console.log(JSON.stringify(result));
else print(result);
save(values.out, result);

const { notify, repeated, hashrate } = result;
const faults = [
  ...(notify?.lastRigMs.p99 > MOST_LAST_RIG_MS ? ['the last rig had the new work late'] : []),
  ...(notify?.slowConsumers > 0 ? [`the servers dropped ${notify.slowConsumers} slow consumers`] : []),
  ...(repeated && isFar(repeated.inFleet) ? ['the repeated share is far from the formula'] : []),
  ...(repeated?.simulated.some(({ measured }) => measured > 1e-3) ? ['rigs in one lane begin at the same place'] : []),
  ...(hashrate?.ratio < LEAST_RATIO ? [`the hashrate is ${hashrate.ratio.toFixed(3)} of that on a node`] : []),
];
for (const fault of faults) console.error(`FAILED: ${fault}`);
process.exit(faults.length === 0 || values['no-goals'] ? 0 : 1);

function isFar({ measured, expected }) {
  return !(measured <= MOST_TIMES_EXPECTED * expected && measured >= expected / MOST_TIMES_EXPECTED);
}

function print({ notify, repeated, hashrate }) {
  if (notify) {
    const ms = ({ p50, p90, p99, most, n }) =>
      n === 0 ? ['–', '–', '–', '–', 0] : [...[p50, p90, p99, most].map((x) => x.toFixed(1)), n];
    printTable(
      ['New Cut → …, ms', 'p50', 'p90', 'p99', 'most', 'n'],
      [
        ['the first rig has the message', ...ms(notify.firstRigMs)],
        [`the last of ${notify.rigs} rigs has the message`, ...ms(notify.lastRigMs)],
        [`the last of ${HASHING} rigs that hash says that it searches the new work`, ...ms(notify.lastHashingRigMs)],
      ],
    );
    const counted = ({ inMessages, inBytes, outMessages, outBytes }) =>
      [inMessages, inBytes / 1024, outMessages, outBytes / 1024].map((figure) => figure.toFixed(0));
    printTable(
      ['all servers', 'messages in', 'KiB in', 'messages out', 'KiB out'],
      [
        ['each second without a New Cut', ...counted(notify.perSecond)],
        ['more for each New Cut', ...counted(notify.perCut)],
      ],
    );
    printTable(
      ['processes', 'memory (RSS), MiB', '% of a core without New Cuts', 'with them'],
      Object.entries(notify.memoryMib).map(([name, mib]) => [
        name,
        mib.join(', '),
        notify.cpuPercent[name].idle.toFixed(1),
        notify.cpuPercent[name].cuts.toFixed(1),
      ]),
    );
    console.log(
      `${notify.connections} connections, ${notify.slowConsumers} slow consumers; the operator sees ${notify.rigsSeen} rigs\n`,
    );
  }
  const share = (fraction) => (fraction === 0 ? '0' : fraction.toExponential(2));
  if (repeated) {
    const { inFleet, simulated } = repeated;
    const rows = [
      [`${inFleet.rigs} rigs, as if of ${(inFleet.asIfRate / 1e12).toFixed(0)} TH/s`, inFleet],
      ...simulated.map((each) => [`${each.rigs} rigs with ${each.what}, simulated without a network`, each]),
    ];
    printTable(
      ['repeated work on one header', 'measured', 'by the formula'],
      rows.map(([what, { measured, expected }]) => [what, share(measured), share(expected)]),
    );
  }
  if (hashrate) {
    printTable(
      [
        'fleet MH/s per CPU second',
        'node MH/s per CPU second',
        'ratio',
        'by the clock',
        'works in the fleet',
        'on the node',
      ],
      hashrate.rounds.map(({ fleetMHs, nodeMHs, ratio, wallRatio, fleetWorks, nodeWorks }) => [
        fleetMHs.toFixed(2),
        nodeMHs.toFixed(2),
        ratio.toFixed(4),
        wallRatio.toFixed(4),
        fleetWorks,
        nodeWorks,
      ]),
    );
    const { kernel, threads, ratio, wallRatio } = hashrate;
    console.log(
      `kernel ${kernel}, ${threads} thread: median ratio ${ratio.toFixed(4)}, by the clock ${wallRatio.toFixed(4)}`,
    );
  }
}
