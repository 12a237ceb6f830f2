/**
 * Answers in xmrig's shape, for mining OSes and tools that know no other: `/1/summary`, `/2/summary`, `/2/backends` and
 * `/api.json` (xmrig's src/core/Miner.cpp, src/base/api/Api.cpp, src/base/net/stratum/NetworkState.cpp and doc/api/).
 * Where xmrig has threads there are devices here, and a node is a pool whose shares are all blocks. A field that has no
 * meaning here has the value by which xmrig says that something is missing.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, freemem, hostname, loadavg, platform, totalmem } from 'node:os';
import type { SourceState } from '../../source/vocabulary.ts';
import { version } from '../../system/version.ts';
import type { DeviceNow } from '../device-stats.ts';
import { countsShares } from '../figures.ts';
import type { RatesByWindow } from '../rates.ts';
import type { RigNow } from '../rig.ts';
import { rigState } from '../rig-state.ts';
import type { SourceNow } from '../source-stats.ts';
import type { Route } from './route.ts';
import type { RigStats } from './status.ts';

const ALGORITHM = 'blake2s';
/** xmrig lists its ten best results; only the best one is known here. */
const BEST_RESULTS = 10;

type Version = 1 | 2;
type Triple = [number | null, number | null, number | null];

export function xmrigRoutes(stats: RigStats, control: boolean): Route[] {
  const summary = (path: string, shape: Version): Route => ({
    method: 'GET',
    path,
    summary: 'in xmrig’s shape, for mining OSes',
    answers: { 200: 'application/json' },
    answer: () => summaryOf(stats, control, shape),
  });
  return [
    summary('/api.json', 1),
    summary('/1/summary', 1),
    summary('/2/summary', 2),
    {
      method: 'GET',
      path: '/2/backends',
      summary: 'devices in xmrig’s shape',
      answers: { 200: 'application/json' },
      answer: () => backendsOf(stats.tally.now()),
    },
  ];
}

function summaryOf({ rigName, tally, answers }: RigStats, control: boolean, shape: Version): object {
  const now = tally.now();
  const { hashes, uptimeSeconds: seconds, bestDifficulty, shares, ...blocks } = tally.summary();
  const { accepted, rejected, stale } = countsShares(now.work, shares) ? shares : blocks;
  const refused = rejected + stale;
  const counts = {
    avg_time: accepted > 0 ? Math.floor(seconds / accepted) : 0,
    avg_time_ms: accepted > 0 ? Math.floor((1000 * seconds) / accepted) : 0,
    hashes_total: hashes,
  };
  const difficulty = Math.round(now.work?.shareDifficulty ?? now.work?.difficulty ?? 0);
  const errors = shape === 1 ? { error_log: [] } : {};
  return {
    id: machineId(),
    worker_id: rigName,
    uptime: Math.floor(seconds),
    restricted: !control,
    resources: resources(),
    features: ['api', 'http'],
    results: {
      diff_current: difficulty,
      shares_good: accepted,
      shares_total: accepted + refused,
      ...counts,
      best: Array.from({ length: BEST_RESULTS }, (_, i) => (i === 0 ? Math.round(bestDifficulty) : 0)),
      ...errors,
    },
    algo: ALGORITHM,
    connection: {
      ...connectionOf(now, now.nowMs, Math.round(1000 * (answers.spread?.p50 ?? 0))),
      algo: ALGORITHM,
      diff: difficulty,
      accepted,
      rejected: refused,
      ...counts,
      ...errors,
    },
    version,
    kind: 'miner',
    ua: `pickaxe/${version} (${platform()} ${arch()}) node/${process.versions.node}`,
    cpu: cpu(),
    donate_level: 0,
    paused: rigState(now).name === 'paused',
    algorithms: [ALGORITHM],
    hashrate: {
      total: triple(now.hashesPerSecondByWindow),
      highest: now.highestHashesPerSecond,
      ...(shape === 1 && { threads: working(now).map(([, device]) => triple(device.hashesPerSecondByWindow)) }),
    },
    hugepages: shape === 1 ? false : [0, 0],
  };
}

/** One backend for the CPU and one for all GPUs. */
function backendsOf(now: RigNow): object[] {
  const devices = working(now);
  return (['cpu', 'gpu'] as const).map((kind) => {
    const own = devices.filter(([, device]) => device.kind === kind);
    return {
      type: kind === 'gpu' ? 'opencl' : 'cpu',
      enabled: own.length > 0,
      algo: ALGORITHM,
      profile: ALGORITHM,
      ...(own.length > 0 && {
        hashrate: sumOf(own.map(([, device]) => triple(device.hashesPerSecondByWindow))),
        threads: own.map(([name, device], index) => ({ index, affinity: -1, ...threadOf(name, device) })),
      }),
    };
  });
}

function threadOf(name: string, { description, hashesPerSecondByWindow, telemetry }: DeviceNow): object {
  const { temperatureCelsius, powerWatts, coreHertz, memoryHertz, fanRatio } = telemetry;
  const known = Object.keys(telemetry).length > 0;
  return {
    hashrate: triple(hashesPerSecondByWindow),
    name: `${name} ${description}`,
    ...(known && {
      health: {
        temperature: temperatureCelsius ?? 0,
        power: powerWatts ?? 0,
        clock: (coreHertz ?? 0) / 1e6,
        mem_clock: (memoryHertz ?? 0) / 1e6,
        fan_speed: fanRatio === undefined ? [] : [Math.round(100 * fanRatio)],
      },
    }),
  };
}

/** The node or pool that is connected, a healthy one if there is one, else the last one that was heard of. */
function connectionOf({ sources }: RigNow, nowMs: number, ping: number): object {
  const all = [...sources];
  const first = (wanted: SourceState) => all.find(([, { state }]) => state === wanted);
  const connected = first('connected') ?? first('unhealthy');
  const [name] = connected ?? all.at(-1) ?? [''];
  const uptimeMs = connected ? Math.floor(nowMs - connected[1].sinceMs) : 0;
  const failures = all.reduce((sum, [, { losses }]: [string, SourceNow]) => sum + losses, 0);
  const host = URL.canParse(name) ? new URL(name).host : name;
  return {
    pool: host,
    ip: null,
    uptime: Math.floor(uptimeMs / 1000),
    uptime_ms: uptimeMs,
    ping,
    failures,
    tls: /^(https|stratum\+(ssl|tls)):/.test(name) ? 'TLS' : null,
    'tls-fingerprint': null,
  };
}

/** The devices that are in service or still have a rate. */
function working({ devices }: RigNow): [string, DeviceNow][] {
  return [...devices].filter(
    ([, { state, hashesPerSecond }]) => state === 'ready' || state === 'paused' || hashesPerSecond > 0,
  );
}

function triple(windows: RatesByWindow): Triple {
  return [windows.last10s, windows.last60s, windows.last15m];
}

/** Null where one of them is not known. */
function sumOf(triples: readonly Triple[]): Triple {
  const at = (index: number) =>
    triples.reduce<number | null>((sum, each) => {
      const value = each[index];
      return sum === null || value === null ? null : sum + value;
    }, 0);
  return [at(0), at(1), at(2)];
}

/** What xmrig's answers say about the machine. */
export function resources(): object {
  const memory = { free: freemem(), total: totalmem(), resident_set_memory: process.memoryUsage.rss() };
  return { memory, load_average: loadavg(), hardware_concurrency: availableParallelism() };
}

export function cpu(): object {
  const threads = cpus();
  features ??= cpuFeatures();
  const is64bit = ['x64', 'arm64', 'riscv64', 'ppc64', 's390x', 'loong64'].includes(arch());
  return {
    brand: threads[0]?.model.trim() || arch(),
    ...features,
    x64: is64bit,
    '64_bit': is64bit,
    l2: 0,
    l3: 0,
    cores: threads.length,
    threads: threads.length,
    packages: 1,
    nodes: 1,
    backend: 'node',
    msr: 'none',
    assembly: 'none',
    arch: arch(),
  };
}

/** The instruction sets that xmrig lists, as Linux calls them, with xmrig's name where that is another one. */
const FLAGS: Readonly<Record<string, string>> = {
  aes: 'aes',
  vaes: 'vaes',
  avx: 'avx',
  avx2: 'avx2',
  avx512f: 'avx512f',
  bmi2: 'bmi2',
  sse2: 'sse2',
  ssse3: 'ssse3',
  sse4_1: 'sse4.1',
  xop: 'xop',
  popcnt: 'popcnt',
  cat_l3: 'cat_l3',
};

let features: ReturnType<typeof cpuFeatures> | undefined;

/** Nothing where the system does not tell: saying that a CPU lacks what it has would be wrong. */
function cpuFeatures(): { aes: boolean; avx2: boolean; flags: string[] } | Record<string, never> {
  try {
    return featuresIn(readFileSync('/proc/cpuinfo', 'latin1'));
  } catch {
    return {};
  }
}

/** @param cpuinfo as Linux prints it (proc(5)): on x86 a line `flags`, on ARM a line `Features` */
export function featuresIn(cpuinfo: string): ReturnType<typeof cpuFeatures> {
  const [, words] = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo) ?? [];
  if (words === undefined) return {};
  const known = new Set(words.trim().split(/\s+/));
  const flags = Object.keys(FLAGS).filter((name) => known.has(name));
  return { aes: known.has('aes'), avx2: known.has('avx2'), flags: flags.map((name) => FLAGS[name]) };
}

/** 16 hex digits: the same at every start on a machine. */
function machineId(): string {
  return createHash('sha256').update(`pickaxe ${hostname()}`).digest('hex').slice(0, 16);
}
