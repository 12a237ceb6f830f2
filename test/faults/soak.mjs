// Runs the built miner against the mock node for minutes, and compares the counts of both.
//
//   node test/faults/soak.mjs [--seconds 300] [--skew-ms=0] [--block-seconds 1] [--devices cpu] [--json]
//
// The node has 20 chains, about a block per second, a clock ahead of ours by --skew-ms, another miner's block every few
// seconds, and update streams that end every 5 s. The exit code is 1 when a submission was rejected, sent twice or
// broke the time rule, when 1 % or more went stale, when the creation time was not rolled forward although there was
// time for it, or when memory grew.

import { getPriority } from 'node:os';
import { parseArgs } from 'node:util';
import { BuiltPickaxe } from '../../bench/lib/built-pickaxe.mjs';
import { MockNode } from '../../bench/lib/mock-node.mjs';
import { rssKib } from '../../bench/lib/process-cpu.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    'skew-ms': { type: 'string', default: '0' },
    'block-seconds': { type: 'string', default: '1' },
    devices: { type: 'string', default: 'cpu' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const skewMs = Number(values['skew-ms']);
const blockSeconds = Number(values['block-seconds']);

/**
 * The sum of the miner's interval (3 s), a timestamp's resolution (1 s), the margin (half a second) and half a second
 * more.
 */
const ROLLED_WITHIN_US = 5_000_000;
const STREAM_MS = 5_000;
const RIVAL_MS = 3_000;
/** The difficulty until the hashrate is known, at which even the slowest kernel finds a block within seconds. */
const FIRST_DIFFICULTY = 2 ** 22;
/** How much memory may grow after the first minute: far more than noise, and far less than a leak that matters. */
const MOST_GROWTH_MIB = 48;

const times = { rolled: 0, longJobs: 0, mostLagUs: 0, notRolled: 0 };
const node = new MockNode(
  {
    chains: 20,
    difficulty: FIRST_DIFFICULTY,
    // By default a late solution would be accepted, and not be noticed.
    lateSolutions: 'refuse',
    streamMs: STREAM_MS,
    rivalMs: RIVAL_MS,
    clockSkewMs: skewMs,
  },
  { onEvent: (event) => event.type === 'submission' && event.outcome === 'accepted' && judgeTime(event) },
);

/** When the node's clock is ahead, our times lag by as much, because a miner must not pass its own clock either. */
function judgeTime({ creationTimeUs, workTimeUs }) {
  const nowUs = node.ledger.nowUs();
  if (creationTimeUs > workTimeUs) times.rolled++;
  const allowedUs = ROLLED_WITHIN_US + Math.max(0, skewMs) * 1000;
  if (Number(nowUs - workTimeUs) < allowedUs) return;
  times.longJobs++;
  times.mostLagUs = Math.max(times.mostLagUs, Number(nowUs - creationTimeUs));
  if (creationTimeUs <= workTimeUs || Number(nowUs - creationTimeUs) > allowedUs) times.notRolled++;
}

const { url } = await node.start();
const mine = ['mine', '--node', url, '--network', 'development', '--public-key', '0'.repeat(64), '--json'];
const miner = new BuiltPickaxe([
  ...mine,
  // The hashing threads get this process's priority. With the lowest one they find no blocks on a busy machine.
  ...['--cpu-priority', String(Math.max(0, getPriority()))],
  ...['--devices', values.devices, '--duration', String(seconds), '--log-level', 'warn'],
  ...(/gpu/.test(values.devices) ? ['--software-gpu'] : []),
]);

const counts = {};
miner.onLine(({ type, outcome, hashesPerSecond }) => {
  const name = type === 'verdict' ? outcome : type;
  counts[name] = (counts[name] ?? 0) + 1;
  if (type === 'hashrate' && hashesPerSecond > 0) node.ledger.difficulty = hashesPerSecond * blockSeconds;
});

const showLog = () => {
  for (const line of miner.log.splice(0)) console.error(line);
};
const memory = [];
const sampling = setInterval(() => {
  showLog();
  const kib = rssKib(miner.pid);
  if (!kib) return;
  memory.push(kib / 1024);
  const { accepted, rejected, stale } = node.ledger.stats;
  console.error(`${memory.length * 10} s: ${accepted}/${rejected}/${stale}, RSS ${memory.at(-1).toFixed(0)} MiB`);
}, 10_000);
const exitCode = await miner.ended;
clearInterval(sampling);
showLog();
const [summary] = miner.of('summary');
await node.close();

const { submissions, accepted, rejected, stale, duplicates, timeViolations, workIssued, rivalBlocks } =
  node.ledger.stats;
const rss = { minute: memory[Math.min(5, memory.length - 1)], end: memory.at(-1) };
const result = {
  seconds,
  skewMs,
  devices: values.devices,
  exitCode,
  node: { submissions, accepted, rejected, stale, duplicates, timeViolations, workIssued, rivalBlocks },
  creationTimes: {
    rolled: times.rolled,
    longJobs: times.longJobs,
    notRolled: times.notRolled,
    mostLagSeconds: times.mostLagUs / 1e6,
  },
  miner: summary,
  events: counts,
  rssMib: rss,
};
console.log(values.json ? JSON.stringify(result) : result);

const faults = [
  [exitCode !== 0, `the miner ended with exit code ${exitCode}`],
  [accepted === 0, 'nothing was accepted'],
  [rejected > 0, `${rejected} rejected`],
  [duplicates > 0, `${duplicates} sent twice`],
  [timeViolations > 0, `${timeViolations} broke the time rule`],
  [summary && (counts.stale ?? 0) >= 0.01 * (counts.accepted ?? 0) && (counts.stale ?? 0) > 1, `${counts.stale} stale`],
  [summary?.accepted !== accepted, `the miner counts ${summary?.accepted} accepted, the node ${accepted}`],
  [times.notRolled > 0, `${times.notRolled} long jobs whose time was not rolled`],
  [times.longJobs > 0 && !counts.job, 'no creation time was ever rolled'],
  [rss.end - rss.minute > MOST_GROWTH_MIB, `RSS grew from ${rss.minute} to ${rss.end} MiB`],
].filter(([bad]) => bad);
for (const [, what] of faults) console.error(`FAILED: ${what}`);
process.exit(faults.length === 0 ? 0 : 1);
