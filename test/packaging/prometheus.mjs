// Compares the samples that Debian's Prometheus has of a mining pickaxe with pickaxe's own status.
//
//   node test/packaging/prometheus.mjs [--seconds 300] [--interval 1] [--json]
//
// `pickaxe demo` mines, Prometheus scrapes it every second with the rules of packaging/ loaded. Then mining is paused,
// so that both show the same figures, and each sample is compared with /api/v1/status and the summary. Fails (exit 1)
// when a sample differs, a scrape failed, a rule has an error or fires, or the dashboard or a rule names a metric that
// does not exist.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { BuiltPickaxe, HTTP_URL } from '../../bench/lib/built-pickaxe.mjs';
import { expressionsOf, metricsIn } from './dashboard.mjs';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    interval: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const interval = Number(values.interval);

/** Time limit for anything that takes a moment on an idle machine. */
const PATIENCE_MS = 60_000;
/** Number of equal statuses in a row, half a second apart, that show that mining rests. */
const SAME_TIMES = 4;
const WORK_DIFFICULTY = 'pickaxe_work_difficulty_hashes';
/** A machine without sensors has none of their metrics, and `demo` has neither a pool nor workers. */
const ABSENT =
  /_(temperature_celsius|power_watts|fan_ratio|clock_hertz|share_difficulty_hashes)|pickaxe_(relay|worker)_/;
/** Doubles are written in decimals and read again. Figures that differ by a larger fraction are different. */
const SAME = 1e-12;
/** JSON rounds fractions: src/base/text/plain-text.ts. */
const MOST_ROUNDED = 0.5e-6;

const file = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'pickaxe-prometheus-'));
const children = [];
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Asks until there is an answer. */
async function until(what, ask) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await Promise.resolve(ask()).catch(() => undefined);
    if (answer) return answer;
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s in vain: ${what}`);
    await sleep(100);
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

async function getJson(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function startMiner() {
  const serve = ['--http', '127.0.0.1:0', '--http-control'];
  const miner = new BuiltPickaxe(['demo', '--devices', 'cpu', '--json', '--log-format', 'json', ...serve]);
  return Object.assign(miner, { url: await miner.logged(HTTP_URL) });
}

async function startPrometheus(target) {
  const config = join(folder, 'prometheus.yml');
  writeFileSync(
    config,
    [
      `global: { scrape_interval: ${interval}s, scrape_timeout: ${interval}s, evaluation_interval: ${interval}s }`,
      `rule_files: ['${file('packaging/prometheus/rules.yml')}']`,
      `scrape_configs: [{ job_name: pickaxe, static_configs: [{ targets: ['${new URL(target).host}'] }] }]`,
    ].join('\n'),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  children.push(child);
  child.on('error', (fault) => {
    console.error(`prometheus cannot be started (apt-get install prometheus): ${fault.message}`);
    process.exit(1);
  });
  const url = `http://${address}`;
  await until('prometheus is ready', async () => (await fetch(`${url}/-/ready`)).ok);
  const api = async (path) => (await getJson(`${url}/api/v1/${path}`)).data;
  return { child, api, query: async (expr) => (await api(`query?query=${encodeURIComponent(expr)}`)).result };
}

/** A device is paused before it has reported all that it had searched. */
async function settledStatus(url) {
  const seen = [];
  return until('mining rests', async () => {
    await sleep(500);
    seen.push(await getJson(`${url}/api/v1/status`));
    const last = seen.slice(-SAME_TIMES);
    const rests = last.length === SAME_TIMES && last.every(({ paused, hashes }) => paused && hashes === last[0].hashes);
    return rests ? last.at(-1) : undefined;
  });
}

/** The expected metrics, by name and labels in PromQL's notation, without those that change while mining rests. */
function expectedOf({ devices, expectedBlocks, bestDifficulty, effort, work }) {
  const expected = new Map([
    ['pickaxe_expected_blocks_total', expectedBlocks],
    ['pickaxe_best_difficulty_hashes', bestDifficulty],
    ['pickaxe_effort_ratio', effort],
  ]);
  if (work) expected.set(WORK_DIFFICULTY, work.difficulty);
  for (const [device, stats] of Object.entries(devices)) {
    const of = `{device=${device}}`;
    expected.set(`pickaxe_hashes_total${of}`, stats.hashes);
    expected.set(`pickaxe_proven_hashes_total${of}`, stats.proven?.hashes ?? 0);
    expected.set(`pickaxe_proofs_total${of}`, stats.proven?.proofs ?? 0);
    expected.set(`pickaxe_hardware_errors_total${of}`, stats.hardwareErrors);
    expected.set(`pickaxe_device_reopens_total${of}`, stats.reopens);
    for (const verdict of ['accepted', 'rejected', 'stale', 'unknown']) {
      expected.set(`pickaxe_verdicts_total{device=${device},verdict=${verdict}}`, stats[verdict]);
    }
  }
  return expected;
}

function nameOf({ __name__, job, instance, ...labels }) {
  const all = Object.entries(labels)
    .sort()
    .map(([name, value]) => `${name}=${value}`);
  return all.length > 0 ? `${__name__}{${all.join(',')}}` : __name__;
}

const faults = [];
const miner = await startMiner();
const prometheus = await startPrometheus(miner.url);
await until('something is mined', async () => (await getJson(`${miner.url}/api/v1/status`)).accepted > 0);
// Prometheus begins up to 5 s later, and a rate takes two scrapes.
await until('two scrapes', async () => (await prometheus.query('count_over_time(up[1h]) >= 2')).length > 0);
await sleep(seconds * 1000);

// Every metric that the dashboard and the rules name exists, and their queries have answers.
const metricsText = await (await fetch(`${miner.url}/metrics`)).text();
const known = new Set([...metricsText.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
const dashboard = expressionsOf(JSON.parse(readFileSync(file('packaging/grafana/pickaxe.json'), 'utf8')));
const { groups } = await prometheus.api('rules');
const rules = groups.flatMap((group) => group.rules);
const asked = [...dashboard, ...rules.map(({ query }) => query)];
for (const name of new Set(asked.flatMap(metricsIn))) {
  if (!known.has(name)) faults.push(`there is no metric ${name}`);
}
for (const expression of dashboard) {
  const concrete = expression
    .replaceAll('$job', 'pickaxe')
    .replaceAll('$instance', '.*')
    .replaceAll('$__rate_interval', `${Math.max(4 * interval, 10)}s`);
  const result = await prometheus.query(concrete).catch((fault) => ({ fault }));
  if (result.fault) faults.push(`${concrete}: ${result.fault.message}`);
  else if (result.length === 0 && !ABSENT.test(concrete)) faults.push(`nothing for ${concrete}`);
}
for (const { name, health, lastError, alerts } of rules) {
  if (health !== 'ok') faults.push(`rule ${name}: ${health} ${lastError}`);
  if (alerts.some(({ state }) => state === 'firing')) faults.push(`rule ${name} fires: ${JSON.stringify(alerts)}`);
}

// The same figures on both sides.
await fetch(`${miner.url}/api/v1/pause`, { method: 'POST' });
const status = await settledStatus(miner.url);
const since = Date.now();
// A paused rig follows its node, too, whose next blocks can have other difficulties.
const difficulties = new Set();
await until('a scrape after that', async () => {
  difficulties.add((await getJson(`${miner.url}/api/v1/status`)).work.difficulty);
  const [target] = (await prometheus.api('targets')).activeTargets;
  return Date.parse(target.lastScrape) > since && target.health === 'up';
});
const samples = new Map(
  (await prometheus.query('{__name__=~"pickaxe_.*"}')).map(({ metric, value }) => [nameOf(metric), Number(value[1])]),
);
const counted = ['up', 'scrape_duration_seconds'].map((name) => `${name}{job="pickaxe"}[${Math.ceil(seconds)}s]`);
const number = async (expr) => Number((await prometheus.query(expr))[0]?.value[1]);
const scrapes = await number(`count_over_time(${counted[0]})`);
const failed = scrapes - (await number(`sum_over_time(${counted[0]})`));
const scrapeSeconds = await number(`avg_over_time(${counted[1]})`);

const code = await miner.stop();
const [summary] = miner.of('summary');
if (!summary) throw new Error(`pickaxe ended with ${code}, without a summary`);
prometheus.child.kill('SIGTERM');
await once(prometheus.child, 'exit');

const isSame = (sample, value) => Math.abs(sample - value) <= Math.max(SAME * Math.abs(value), MOST_ROUNDED);
let compared = 0;
const compare = (against, expected) => {
  for (const [name, value] of expected) {
    compared++;
    const sample = samples.get(name);
    const values = name === WORK_DIFFICULTY ? [value, ...difficulties] : [value];
    if (sample === undefined || !values.some((each) => isSame(sample, each)))
      faults.push(`${name}: Prometheus has ${sample}, ${against} ${value}`);
  }
};
compare('/api/v1/status', expectedOf(status));
const { devices, expectedBlocks, bestDifficulty } = summary;
compare('the summary', expectedOf({ devices, expectedBlocks, bestDifficulty, effort: status.effort }));

if (code !== 0) faults.push(`pickaxe ended with exit code ${code}`);
if (failed > 0) faults.push(`${failed} of ${scrapes} scrapes failed`);
// Prometheus chooses the time of the first scrape.
if (!(scrapes >= 0.9 * (seconds / interval) - 2)) faults.push(`only ${scrapes} scrapes in ${seconds} s`);

const { accepted, hashes } = summary;
const result = {
  seconds,
  interval,
  scrapes,
  failed,
  scrapeMs: 1000 * scrapeSeconds,
  busy: scrapeSeconds / interval,
  compared,
  metrics: known.size,
  dashboard: dashboard.length,
  rules: rules.length,
  accepted,
  hashes,
  faults,
};
if (values.json) console.log(JSON.stringify(result));
else {
  console.log(`node test/packaging/prometheus.mjs --seconds ${seconds} --interval ${interval}`);
  console.log(`${scrapes} scrapes, ${failed} failed, ${result.scrapeMs.toFixed(2)} ms each on average`);
  console.log(`${compared} figures compared with /api/v1/status and the summary; ${accepted} blocks accepted`);
  console.log(`${dashboard.length} expressions of the dashboard and ${rules.length} rules asked`);
  for (const fault of faults) console.log(`FAILED: ${fault}`);
}
process.exit(faults.length === 0 ? 0 : 1);
