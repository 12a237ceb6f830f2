/**
 * The status in the shapes of HiveOS (github.com/minershive/hiveos-linux, hive/miners/custom/README.md), of mmpOS
 * (github.com/ddobreff/mmpos, CUSTOM_MINER.MD) and of xmrig's HTTP API.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { arch, availableParallelism, cpus, freemem, hostname, loadavg, platform, totalmem } from 'node:os';
import type { SourceState } from '../../miner/events/vocabulary.ts';
import { countsShares } from '../status/figures.ts';
import type { DeviceStatus, Status } from '../status/status.ts';
import type { Route } from './route.ts';

/** The name of the algorithm for HiveOS and xmrig. */
const ALGORITHM = 'blake2s';

/**
 * @returns a function that selects the counts for systems that count shares. It selects the counts of shares if reports
 *   show shares (see `countsShares`), as on a pool. Otherwise, as on a node, it selects the counts of blocks
 */
function verdictsOf(status: Status): (of: Status | DeviceStatus) => Pick<Status, 'accepted' | 'rejected' | 'stale'> {
  return countsShares(status.work, status.shares) ? ({ shares }) => shares : (of) => of;
}

const refused = ({ rejected, stale }: { rejected: number; stale: number }) => rejected + stale;

/* HiveOS and mmpOS. They assign figures to cards by the bus number in the card's PCI address. */

interface HiveStats {
  readonly hs: readonly number[];
  readonly hs_units: 'khs';
  readonly temp: readonly (number | null)[];
  readonly fan: readonly (number | null)[];
  readonly uptime: number;
  readonly ver: string;
  /** Numbers of accepted solutions, of rejected and stale solutions, and of hardware errors. */
  readonly ar: readonly [number, number, number];
  readonly algo: string;
  /** Bus number of each device; null for the CPU, and for a device whose bus is not known. */
  readonly bus_numbers: readonly (number | null)[];
}

/** @returns the rig's hashrate in kH/s, and the statistics of the rig and its devices */
export function hiveStats(status: Status): { readonly khs: number; readonly stats: HiveStats } {
  const devices = Object.values(status.devices);
  const verdicts = verdictsOf(status)(status);
  const stats: HiveStats = {
    hs: devices.map(({ hashesPerSecond }) => kilo(hashesPerSecond)),
    hs_units: 'khs',
    temp: devices.map(({ sensors }) => whole(sensors.temperatureCelsius ?? sensors.hotspotCelsius)),
    fan: devices.map(({ sensors }) => whole(sensors.fanRatio === null ? null : 100 * sensors.fanRatio)),
    uptime: Math.floor(status.uptimeSeconds),
    ver: status.version,
    ar: [verdicts.accepted, refused(verdicts), status.hardwareErrors],
    algo: ALGORITHM,
    bus_numbers: devices.map(busNumber),
  };
  return { khs: kilo(status.hashesPerSecond), stats };
}

interface MmposStats {
  readonly busid: readonly (number | 'cpu')[];
  readonly hash: readonly number[];
  readonly units: 'hs';
  /** Numbers of accepted solutions, of hardware errors, and of rejected and stale solutions, as texts. */
  readonly air: readonly [string, string, string];
  readonly shares: {
    readonly accepted: readonly number[];
    readonly rejected: readonly number[];
    readonly invalid: readonly number[];
  };
  readonly miner_name: string;
  readonly miner_version: string;
}

export function mmposStats(status: Status): MmposStats {
  // mmpOS requires the CPU to come first.
  const devices = Object.values(status.devices).sort((a, b) => Number(b.kind === 'cpu') - Number(a.kind === 'cpu'));
  const verdicts = verdictsOf(status);
  return {
    busid: devices.map((device) => (device.kind === 'cpu' ? 'cpu' : (busNumber(device) ?? 0))),
    hash: devices.map(({ hashesPerSecond }) => Math.round(hashesPerSecond)),
    units: 'hs',
    air: [`${verdicts(status).accepted}`, `${status.hardwareErrors}`, `${refused(verdicts(status))}`],
    shares: {
      accepted: devices.map((device) => verdicts(device).accepted),
      rejected: devices.map((device) => refused(verdicts(device))),
      invalid: devices.map(({ hardwareErrors }) => hardwareErrors),
    },
    miner_name: 'pickaxe',
    miner_version: status.version,
  };
}

const kilo = (hashesPerSecond: number) => Number((hashesPerSecond / 1000).toFixed(3));
const whole = (value: number | null) => (value === null ? null : Math.round(value));

/**
 * @returns the bus number, which is hexadecimal in the PCI address `DOMAIN:BUS:DEVICE.FUNCTION`; null if the address is
 *   not known
 */
function busNumber({ bus }: DeviceStatus): number | null {
  const [, digits] = /^[0-9a-f]+:([0-9a-f]{2}):/i.exec(bus ?? '') ?? [];
  return digits === undefined ? null : Number.parseInt(digits, 16);
}

/*
 * xmrig's `/1/summary`, `/2/summary`, `/2/backends` and `/api.json`, for mining systems and tools that support only
 * xmrig (its src/core/Miner.cpp, src/base/api/Api.cpp, src/base/net/stratum/NetworkState.cpp and doc/api/). Devices
 * take the place of xmrig's threads. A node is shown as a pool whose shares are all blocks. A field that means nothing
 * for pickaxe has the value that xmrig uses for missing data.
 */

/** Length of the list of best results, as in xmrig. pickaxe keeps only the best one, so the other nine are 0. */
const BEST_RESULTS = 10;

type Version = 1 | 2;
type Triple = [number | null, number | null, number | null];

export function xmrigRoutes(status: () => Status): Route[] {
  const route = (path: string, summary: string, answer: (status: Status) => object): Route => {
    return { method: 'GET', path, summary, answers: { 200: 'application/json' }, answer: () => answer(status()) };
  };
  const summary = (path: string, shape: Version) =>
    route(path, 'in xmrig’s shape, for mining OSes', (status) => summaryOf(status, shape));
  return [
    summary('/api.json', 1),
    summary('/1/summary', 1),
    summary('/2/summary', 2),
    route('/2/backends', 'devices in xmrig’s shape', backendsOf),
  ];
}

function summaryOf(status: Status, shape: Version): object {
  const { work, hashes, uptimeSeconds: seconds, bestDifficulty } = status;
  const { accepted, ...others } = verdictsOf(status)(status);
  const rejected = refused(others);
  const counts = {
    avg_time: accepted > 0 ? Math.floor(seconds / accepted) : 0,
    avg_time_ms: accepted > 0 ? Math.floor((1000 * seconds) / accepted) : 0,
    hashes_total: hashes,
  };
  const difficulty = Math.round(work?.shareDifficulty ?? work?.difficulty ?? 0);
  const errors = shape === 1 ? { error_log: [] } : {};
  return {
    id: machineId(),
    worker_id: status.rig,
    uptime: Math.floor(seconds),
    restricted: !status.control,
    resources: resources(),
    features: ['api', 'http'],
    results: {
      diff_current: difficulty,
      shares_good: accepted,
      shares_total: accepted + rejected,
      ...counts,
      best: Array.from({ length: BEST_RESULTS }, (_, i) => (i === 0 ? Math.round(bestDifficulty) : 0)),
      ...errors,
    },
    algo: ALGORITHM,
    connection: {
      ...connectionOf(status),
      algo: ALGORITHM,
      diff: difficulty,
      accepted,
      rejected,
      ...counts,
      ...errors,
    },
    version: status.version,
    kind: 'miner',
    ua: `pickaxe/${status.version} (${platform()} ${arch()}) node/${process.versions.node}`,
    cpu: cpu(),
    donate_level: 0,
    paused: status.paused,
    algorithms: [ALGORITHM],
    hashrate: {
      total: triple(status),
      highest: status.highestHashesPerSecond,
      ...(shape === 1 && { threads: working(status).map(([, device]) => triple(device)) }),
    },
    hugepages: shape === 1 ? false : [0, 0],
  };
}

function backendsOf(status: Status): object[] {
  const devices = working(status);
  return (['cpu', 'gpu'] as const).map((kind) => {
    const own = devices.filter(([, device]) => device.kind === kind);
    return {
      type: kind === 'gpu' ? 'opencl' : 'cpu',
      enabled: own.length > 0,
      algo: ALGORITHM,
      profile: ALGORITHM,
      ...(own.length > 0 && {
        hashrate: sumOf(own.map(([, device]) => triple(device))),
        threads: own.map(([name, device], index) => ({ index, affinity: -1, ...threadOf(name, device) })),
      }),
    };
  });
}

function threadOf(name: string, device: DeviceStatus): object {
  const { temperatureCelsius, powerWatts, coreHertz, memoryHertz, fanRatio } = device.sensors;
  const hasSensors = Object.values(device.sensors).some((reading) => reading !== null);
  return {
    hashrate: triple(device),
    name: `${name} ${device.description}`,
    ...(hasSensors && {
      health: {
        temperature: temperatureCelsius ?? 0,
        power: powerWatts ?? 0,
        clock: (coreHertz ?? 0) / 1e6,
        mem_clock: (memoryHertz ?? 0) / 1e6,
        fan_speed: fanRatio === null ? [] : [Math.round(100 * fanRatio)],
      },
    }),
  };
}

/**
 * @returns xmrig's description of a connection, for one source: the first connected source. If no source is connected,
 *   it is the first unhealthy source. If no source is unhealthy, either, it is the last source. But the fields
 *   `failures` and `ping` are about all sources
 */
function connectionOf({ sources, answerSeconds }: Status): object {
  const all = Object.entries(sources);
  const first = (wanted: SourceState) => all.find(([, { state }]) => state === wanted);
  const connected = first('connected') ?? first('unhealthy');
  const [name] = connected ?? all.at(-1) ?? [''];
  const uptimeMs = connected ? Math.round(1000 * connected[1].ageSeconds) : 0;
  return {
    pool: URL.canParse(name) ? new URL(name).host : name,
    ip: null,
    uptime: Math.floor(uptimeMs / 1000),
    uptime_ms: uptimeMs,
    ping: Math.round(1000 * (answerSeconds?.p50 ?? 0)),
    failures: all.reduce((sum, [, { losses }]) => sum + losses, 0),
    tls: /^(https|stratum\+(ssl|tls)):/.test(name) ? 'TLS' : null,
    'tls-fingerprint': null,
  };
}

/** @returns the names and figures of the devices that are ready or paused, or whose hashrate is still above 0 */
function working({ devices }: Status): [string, DeviceStatus][] {
  return Object.entries(devices).filter(
    ([, { state, hashesPerSecond }]) => state === 'ready' || state === 'paused' || hashesPerSecond > 0,
  );
}

function triple({ hashesPerSecondByWindow: windows }: Pick<DeviceStatus, 'hashesPerSecondByWindow'>): Triple {
  return [windows.last10s, windows.last60s, windows.last15m];
}

function sumOf(triples: readonly Triple[]): Triple {
  const at = (index: number) =>
    triples.reduce<number | null>((sum, each) => {
      const value = each[index];
      return sum === null || value === null ? null : sum + value;
    }, 0);
  return [at(0), at(1), at(2)];
}

function resources(): object {
  const memory = { free: freemem(), total: totalmem(), resident_set_memory: process.memoryUsage.rss() };
  return { memory, load_average: loadavg(), hardware_concurrency: availableParallelism() };
}

function cpu(): object {
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

/** The names of CPU features in xmrig, by their names in Linux. */
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

/**
 * @returns the CPU's features; an empty object if the system does not list features. Absent fields then show that the
 *   features are not known
 */
function cpuFeatures(): { aes: boolean; avx2: boolean; flags: string[] } | Record<string, never> {
  try {
    return featuresIn(readFileSync('/proc/cpuinfo', 'latin1'));
  } catch {
    return {};
  }
}

/** @param cpuinfo the text of /proc/cpuinfo (proc(5)), with a line `flags` on x86 and `Features` on ARM */
export function featuresIn(cpuinfo: string): ReturnType<typeof cpuFeatures> {
  const [, words] = /^(?:flags|Features)\s*:(.*)$/m.exec(cpuinfo) ?? [];
  if (words === undefined) return {};
  const known = new Set(words.trim().split(/\s+/));
  const flags = Object.keys(FLAGS).filter((name) => known.has(name));
  return { aes: known.has('aes'), avx2: known.has('avx2'), flags: flags.map((name) => FLAGS[name]) };
}

/** @returns 16 hex digits that depend only on the host's name, so they are the same at every start */
function machineId(): string {
  return createHash('sha256').update(`pickaxe ${hostname()}`).digest('hex').slice(0, 16);
}
