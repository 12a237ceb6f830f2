/** Starts every script of bench/ and scripts/ in its shortest form and checks the result. */

import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ourNiceness } from '../priority.ts';
import { missing, type Need, type Ran, ROOT, runScript, scratch, written } from './run.ts';

/** Far longer than any script takes. It may not hang the tests. */
const PATIENCE_MS = 300_000;

interface Entry {
  /** The script's arguments. */
  readonly args: readonly string[];
  /** What else the machine must have. */
  readonly needs?: readonly Need[];
  /** Checks the output of the script, which has ended with exit code 0. */
  readonly check: (ran: Ran) => void;
}

/** Scripts that are started by another test, or as a part of another script. */
interface Elsewhere {
  readonly startedBy: string;
}

let results = 0;

// biome-ignore lint/suspicious/noExplicitAny: each script has its own
type Result = any;

/** A benchmark that writes its result to --out. @param shows the expected result without the machine */
function bench(args: string, needs: readonly Need[], shows: (result: Result) => void): Entry {
  const file = `result${results++}.json`;
  const check = ({ stdout }: Ran) => {
    expect(stdout).toMatch(/^\$ node (?:bench|native\/compilers|test\/faults)\/\S+\.mjs .*\n.* cores, .* pickaxe /);
    const result = written(file);
    expect(result.machine).toMatchObject({ node: process.version });
    shows(result);
  };
  return { args: [...args.split(' '), '--out', join(scratch, file)], needs, check };
}

const positive = expect.toSatisfy((value) => value > 0);
const number = expect.any(Number);
const row = { p50: number, p90: number, p99: number, most: number, n: positive };

/** @returns a folder with this checkout in its node_modules */
function asIfInstalled(): string {
  const modules = join(scratch, 'installed/node_modules');
  mkdirSync(modules, { recursive: true });
  symlinkSync(ROOT, join(modules, 'pickaxe'));
  return join(scratch, 'installed');
}

/** A new script needs an entry here; the test below checks that. */
const SCRIPTS: Record<string, Entry | Elsewhere> = {
  'bench/kernels/ceiling.mjs': bench('--seconds 0.1', ['x64', 'native', 'cc', 'objdump'], ({ units, kernels }) => {
    expect(units).toMatchObject({ clock: positive, clock_by_multiplications: positive });
    const sse41 = { name: 'sse41', nonces: 4, alu: positive, MHs: positive, p90: positive, portBound: positive };
    expect(kernels).toContainEqual(expect.objectContaining(sse41));
  }),
  'bench/contract.mjs': bench('--loads 2 --transfers 5 --blocks 1 --no-goals', [], ({ rows }) => {
    const row = { p50: positive, p99: positive, n: positive };
    const names = ['cold load', 'warm load', 'block of 100', 'transfer'];
    expect(rows).toEqual(names.map((name) => ({ name, ...row })));
  }),
  'test/faults/contract-fuzz.mjs': bench('--programs 100 --seed 2 --max-steps 5000', [], (result) => {
    expect(result).toMatchObject({ programs: 100, findings: [], seconds: positive });
  }),
  'bench/kernels/cpu.mjs': bench('--seconds 0.1 --turn-ms 5 wasm', ['linux'], ({ results, several }) => {
    const names = results.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['wasm', 'hash-wasm', '@noble/hashes']));
    expect(results[0]).toEqual({
      name: 'wasm',
      kind: 'kernel',
      MHs: positive,
      p90: number,
      timesReference: positive,
      ofFastest: positive,
    });
    expect(several).toMatchObject({ threads: 2, wall: positive, MHs: positive });
  }),
  'bench/kernels/windows.mjs': bench(
    '--rounds 1 --seconds 0.1 avx2 wasm',
    ['x64', 'native', 'clang', 'wine'],
    (result) => {
      const rates = { linuxMHs: positive, windowsMHs: positive, ratio: positive };
      expect(result.results).toContainEqual({ name: 'wasm', ...rates });
    },
  ),
  'bench/mining/efficiency.mjs': bench(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --threads 1 --kernel wasm',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ kernel: 'wasm', threads: 1, ratio: positive, wallRatio: positive });
      expect(result.rounds).toHaveLength(1);
    },
  ),
  'test/faults/faulty-node.mjs': bench(
    '--seconds 20 --sessions 2 --difficulty 262144',
    ['linux'],
    ({ rigs, ratio }) => {
      expect(ratio).toEqual(positive);
      expect(rigs.map(({ rig }: { rig: string }) => rig)).toEqual(['with faults', 'without']);
      for (const { ledger, work } of rigs) {
        expect(ledger).toMatchObject({ accepted: positive, rejected: 0, doubled: 0 });
        expect(work).toMatchObject({ p50: number, max: positive });
      }
    },
  ),
  'bench/fleet/fleet.mjs': bench('--short --no-goals', ['linux', 'nats'], ({ notify, repeated, hashrate }) => {
    const few = { p50: positive, p99: positive, n: positive };
    expect(notify).toMatchObject({
      rigs: 60,
      cuts: 5,
      lastRigMs: few,
      lastHashingRigMs: few,
      perSecond: { outMessages: positive, outBytes: positive },
      perCut: { outMessages: positive, outBytes: positive },
      slowConsumers: 0,
      rigsSeen: positive,
    });
    expect(notify.memoryMib['NATS servers']).toEqual([positive, positive, positive]);
    expect(repeated.inFleet).toMatchObject({ headers: positive, sharedHeaders: number });
    for (const { measured, expected } of repeated.simulated) {
      expect(expected).toEqual(positive);
      expect(measured).toBeLessThan(1e-3);
    }
    expect(hashrate).toMatchObject({ threads: 1, ratio: positive, wallRatio: positive });
  }),
  'test/faults/fleet-faults.mjs': bench(
    '--scenarios none,server,coordinators,own-node-killed --seconds 4 --rigs 2 --no-goals',
    ['linux', 'nats'],
    ({ results }) => {
      expect(results.map(({ scenario }: { scenario: string }) => scenario)).toEqual([
        'none',
        'server',
        'coordinators',
        'own-node-killed',
      ]);
      for (const each of results) {
        expect(each).toMatchObject({ found: positive, accepted: positive, rejected: 0, lost: 0, missed: 0 });
        expect(each).toMatchObject({ pending: 0, node: { doubled: 0 } });
        expect(each.exitCodes).toEqual(each.exitCodes.map(() => 0));
      }
    },
  ),
  'bench/fleet/fleet-page.mjs': bench('--rigs 100 --refreshes 1 --frames 10', ['chromium'], ({ rows }) => {
    const both = { p50: positive, p99: positive };
    const shown = {
      rigs: 100,
      rowsMs: positive,
      refreshMs: both,
      frameMs: both,
      heapMB: positive,
      refreshKB: positive,
    };
    expect(rows).toEqual([expect.objectContaining(shown)]);
  }),
  'native/compilers/count.mjs': bench('--families navi31', ['linux', 'gpu', 'radv'], ({ rows }) => {
    const variants = ['wgsl', 'wgsl-uniform-rotates', 'wgsl-added-zeros', 'wgsl-multiplied-adds'];
    const row = { family: 'navi31', set: 'rdna', instructionsPerNonce: positive, bound: 890, ofBound: positive };
    const fits = { registers: positive, spills: 0, waves: positive, codeBytes: positive, cacheBytes: positive };
    expect(rows).toEqual(
      variants.map((variant) => expect.objectContaining({ ...row, ...fits, variant, compiler: expect.any(String) })),
    );
  }),
  'test/faults/gpu-endurance.mjs': { startedBy: 'bench/gpu/run-sheet.mjs' },
  'bench/gpu/idle.mjs': { startedBy: 'bench/gpu/run-sheet.mjs' },
  'bench/gpu/run-sheet.mjs': {
    args: ['--software-gpu', '--quick', '--parts', 'devices,rate,idle,restart,endurance', '--out', scratch],
    needs: ['linux', 'gpu'],
    check: ({ stdout }) => {
      const sheet = written('gpu-run-sheet.json');
      expect(sheet.devices.gpus).toContainEqual(expect.objectContaining({ name: 'gpu0', usable: true }));
      const [rate] = sheet.rate.devices;
      expect(rate.tuning.variants).toEqual([
        { variant: { shader: 'wgsl', workgroupSize: 64, trips: 16 }, hashesPerSecond: positive },
      ]);
      expect(rate.mined).toMatchObject({
        hashesPerSecond: positive,
        rounds: expect.toSatisfy(({ length }) => length === 5),
      });
      expect(sheet.idle.devices[0].batches).toMatchObject([{ tuned: true }, { batchMs: 5, hashesPerSecond: positive }]);
      expect(sheet.restart.runs).toMatchObject([{ batchMs: 5, milliseconds: { 'New Cut → first hash on gpu0': row } }]);
      expect(sheet.endurance.devices[0]).toMatchObject({
        dispatches: positive,
        hits: positive,
        wrongHits: 0,
        flat: true,
      });
      const text = readFileSync(join(scratch, 'gpu-run-sheet.md'), 'utf8');
      expect(text.match(/^## .*$/gm)).toHaveLength(5);
      expect(stdout).not.toContain('FAILED');
    },
  },
  'bench/gpu/rate.mjs': { startedBy: 'bench/gpu/run-sheet.mjs' },
  'test/faults/http-attacks.mjs': bench('--seconds 1 --attacks silent,long-first', ['linux'], ({ results }) => {
    expect(results.map(({ attack }: { attack: string }) => attack)).toEqual(['none', 'silent', 'long-first']);
    expect(results[1]).toMatchObject({ opened: positive, rssPeakMib: positive, mainPercent: positive });
    expect(results[1].probes.after).toMatchObject({ asked: positive });
  }),
  'bench/mining/main-thread.mjs': bench('--threads 2 --ghs 0 --seconds 3 --no-goals', ['linux'], ({ rows }) => {
    const row = { threads: 2, tasksPerSecond: positive, spacePercent: positive, bareMicroseconds: positive };
    expect(rows).toMatchObject([
      { ...row, rolls: 'every 3 s' },
      { ...row, rolls: 'never' },
    ]);
  }),
  'bench/mining/metrics-cost.mjs': bench(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --every-ms 100',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ everyMs: 100, ratio: number, addedMs: number, answers: positive });
      expect(result.rows).toHaveLength(1);
    },
  ),
  'test/faults/node-misbehaviour.mjs': bench(
    '--seconds 2 --scenario broken-verdict --scenario retry-warnings --scenario one-refused --scenario hints-updates --no-goals',
    ['linux'],
    ({ results }) => {
      expect(results).toMatchObject([
        { name: 'broken-verdict', n: 1, worst: 0 },
        { name: 'retry-warnings', n: 1, worst: 0 },
        { name: 'one-refused', n: 1, worst: number },
        { name: 'hints-updates', n: 1, worst: positive },
      ]);
    },
  ),
  'bench/kernels/nonce1.mjs': bench('--rounds 3 --turn-ms 5 --no-goals wasm', [], ({ rows }) => {
    expect(rows).toEqual([
      { device: 'cpu', kernel: 'wasm', hashesPerSecond: positive, three: positive, four: positive },
    ]);
  }),
  'bench/mining/pool.mjs': bench(
    '--rounds 1 --seconds 0.3 --warm-up 0.3 --threads 1 --kernel wasm --no-goals',
    ['linux'],
    (result) => {
      expect(result).toMatchObject({ kernel: 'wasm', threads: 1, ratio: positive, wallRatio: positive, refused: 0 });
      expect(result.rounds).toHaveLength(1);
    },
  ),
  'test/faults/pool-misbehaviour.mjs': bench(
    '--seconds 0.2 --attack newlines-2.5 --attack easy-header --attack-seconds 2 --warm-up 1',
    ['linux'],
    ({ results, attacks }) => {
      expect(results.length).toBeGreaterThan(8);
      for (const result of results) expect(result).toMatchObject({ connections: positive, recovered: true });
      expect(attacks.map(({ attack }: Result) => attack)).toEqual(['none', 'newlines-2.5', 'easy-header']);
      const figures = { mhs: number, healthzMs: { p50: positive, max: positive }, mainPercent: number, shares: number };
      for (const each of attacks) expect(each).toMatchObject({ ...figures, connections: positive, rssMib: positive });
      expect(attacks[1].warnings.join()).toContain('the pool sends far more than a pool needs');
    },
  ),
  'bench/mining/restart.mjs': bench(
    `--cuts 3 --warm-up 1 --spacing-ms 1000 --threads 1 --affinity none --niceness ${ourNiceness}`,
    ['linux'],
    ({ cpu, milliseconds, missed }) => {
      expect(cpu).toContain('1 thread: ');
      expect(milliseconds).toMatchObject({ 'New Cut → work in hand': row, 'New Cut → first hash on cpu': row });
      expect(missed).toBeLessThan(3);
    },
  ),
  'test/faults/soak.mjs': {
    args: ['--seconds', '20', '--json'],
    needs: ['linux'],
    check: ({ stdout }) => {
      const { node, miner } = JSON.parse(stdout);
      expect(node).toMatchObject({ accepted: positive, rejected: 0, duplicates: 0, timeViolations: 0 });
      expect(miner).toMatchObject({ type: 'summary', accepted: node.accepted, hardwareErrors: 0 });
    },
  },
  'test/faults/staleness.mjs': bench(
    '--seconds 2 --scenario healthy --scenario suspended --no-goals',
    ['linux'],
    ({ results }) => {
      expect(results).toMatchObject([
        { name: 'healthy', n: 5, mean: number },
        { name: 'suspended', n: 3, worst: positive },
      ]);
    },
  ),
  'bench/stratum.mjs': bench('--short --no-goals', ['linux'], (result) => {
    const few = { p50: positive, p99: positive, n: positive };
    expect(result).toMatchObject({
      sessions: 100,
      lastNotifyMs: { quiet: few, busy: few },
      shares: { perSecond: positive, accepted: positive, refused: {} },
      memoryMib: { full: positive },
      doubledNonce1: 0,
      ledgerLinesLost: 0,
      sessionsLost: 0,
    });
  }),
  'test/faults/stratum-misbehaviour.mjs': bench(
    `--short --no-goals --attacks junk,slow,within,poisoned-here,poisoned-elsewhere,tls-checks,tls-hang-ups,files --niceness ${ourNiceness}`,
    ['linux'],
    ({ results, scenarios, honest }) => {
      expect(results.map(({ attack }: { attack: string }) => attack)).toEqual(['none', 'junk', 'slow', 'within']);
      expect(scenarios).toEqual([
        { scenario: 'poisoned-here', miners: 12, drops: 0, bans: 0, connected: 12 },
        { scenario: 'poisoned-elsewhere', miners: 12, drops: 0, bans: 0, connected: 12 },
        { scenario: 'tls-checks', clients: 60, served: 60, bans: 0, isMinerServed: true },
        { scenario: 'tls-hang-ups', clients: 60, served: 60, bans: 0, isMinerServed: true },
        {
          scenario: 'files',
          files: 700,
          clients: 800,
          connected: expect.toSatisfy((count: number) => count > 0 && count <= 700 - 256),
          refused: expect.toSatisfy((count: number) => count >= 800 - (700 - 256)),
          page: 200,
          linesAboutFiles: 0,
          isWatched: true,
        },
      ]);
      expect(results[1]).toMatchObject({ opened: positive, closed: positive, pingMs: { p50: positive } });
      expect(honest).toMatchObject({ accepted: positive, refused: {}, lost: 0, ledgerLinesLost: 0 });
    },
  ),
  'bench/mining/status-cost.mjs': bench('--rounds 1 --seconds 0.3 --warm-up 0.3', ['linux', 'script'], (result) => {
    expect(result).toMatchObject({ threads: positive, ratio: number, drawsPerSecond: positive, drawUs: positive });
    expect(result.rounds).toHaveLength(1);
  }),
  'bench/mining/worker.mjs': bench(`--jobs 5 --no-goals --niceness ${ourNiceness}`, [], ({ rows }) => {
    const row = { p50: positive, p90: positive, p99: positive, most: positive, n: 5 };
    expect(rows).toEqual([
      { name: 'without a job', ...row },
      { name: 'while it mines', ...row },
    ]);
  }),

  'scripts/build-addons.mjs': { startedBy: 'test/native/addons.long.test.ts' },
  'scripts/build-archives.mjs': { startedBy: 'test/packaging/archives.long.test.ts' },
  'scripts/build-native.mjs': { startedBy: 'test/native/fresh-copy.ts' },
  'scripts/build-wasm.mjs': {
    args: ['--check'],
    needs: ['clang'],
    check: ({ stderr }) => expect(stderr).toMatch(/^(scan\S*\.wasm: other bytes, right answers\n)*$/),
  },
  'scripts/build.mjs': { startedBy: 'test/scripts/ready.long.test.ts' },
  'scripts/check-earned.mjs': {
    args: ['--minutes', '0.3', '--json'],
    check: ({ stdout }) => {
      const { blocks, answersLost, coins } = JSON.parse(stdout);
      expect(blocks).toMatchObject({ accepted: positive, won: positive, orphaned: positive, pending: 0 });
      expect(blocks.accepted).toBe(blocks.won + blocks.orphaned);
      expect(answersLost).toMatchObject({ unanswered: positive, found: positive });
      expect(coins.earned).toMatch(/^\d+\.\d{1,12}$/);
      expect(coins).toMatchObject({ balance: coins.earned, onMockNode: coins.earned });
    },
  },
  'scripts/check-package.mjs': {
    // Without a package registry: as if this checkout were what is installed.
    args: ['--installed', asIfInstalled()],
    check: ({ stderr }) =>
      expect(stderr).toMatch(/^pickaxe [\d.]+\n {2}cpu {5}.*kernel [\s\S]* {2}mined {3}[1-9]\d* accepted, /),
  },
  'scripts/compile-addon.mjs': { startedBy: 'scripts/build-native.mjs' },
  'scripts/elf.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/fresh-machine.sh': { startedBy: 'test/scripts/fresh-machine.long.test.ts' },
  'scripts/mingw.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/native-sources.mjs': { startedBy: 'scripts/compile-addon.mjs' },
  'scripts/node-sums.mjs': { startedBy: 'scripts/build-archives.mjs' },
  'scripts/npm.mjs': { startedBy: 'scripts/ready.mjs' },
  'scripts/pe.mjs': { startedBy: 'scripts/build-addons.mjs' },
  'scripts/ready.mjs': { startedBy: 'test/scripts/ready.long.test.ts' },
  'scripts/release-checks.mjs': { startedBy: 'scripts/release.mjs' },
  'scripts/release-signing.mjs': { startedBy: 'scripts/release.mjs' },
  // Its dry run takes five minutes; what it says of wrong usage comes after its imports.
  'scripts/release.mjs': { startedBy: 'test/packaging/release.test.ts' },
  'scripts/replace-files.mjs': { startedBy: 'scripts/build.mjs' },
  'scripts/screenshots.mjs': {
    args: ['--minutes', '0.02', '--devices', 'cpu', '--to', scratch],
    needs: ['chromium'],
    check: ({ stdout }) => {
      const pictures = ['page-light', 'page-dark', 'page-phone'].map((name) => join(scratch, `${name}.png`));
      for (const path of pictures) {
        expect(stdout).toContain(`${path}: `);
        expect(readFileSync(path).toString('latin1', 1, 4)).toBe('PNG');
      }
    },
  },
  'scripts/shrink-png.mjs': { startedBy: 'scripts/screenshots.mjs' },
  'scripts/stamp.mjs': { startedBy: 'scripts/ready.mjs' },
  'scripts/test-seconds.mjs': { startedBy: 'test/longest-first.test.ts' },
};

const filesIn = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(mjs|sh)$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`);

/** A comment with its command line tells a script from the files that scripts import. */
const isScript = (path: string) => readFileSync(join(ROOT, path), 'utf8').includes(`\n//   node ${path}`);

test('every script has an entry here, and every entry a script', () => {
  const others = ['bench', 'native/compilers', 'test/faults'].flatMap(filesIn).filter(isScript);
  expect(Object.keys(SCRIPTS).sort()).toEqual([...others, ...filesIn('scripts')].sort());
});

describe.concurrent.each(Object.entries(SCRIPTS))('%s', (script, entry) => {
  if ('startedBy' in entry) {
    test(`is started by ${entry.startedBy}`, () => {
      const name = basename(script).replace(/\.(mjs|sh)$/, '');
      expect(readFileSync(join(ROOT, entry.startedBy), 'utf8')).toMatch(new RegExp(`['/]${name}(\\.mjs|\\.sh)?'`));
      if (entry.startedBy in SCRIPTS) expect(SCRIPTS[entry.startedBy]).not.toEqual({ startedBy: script });
    });
    return;
  }
  const lacking = missing(entry.needs ?? []);
  const why = lacking === undefined ? '' : ` (not started: ${lacking})`;
  test.skipIf(lacking !== undefined && !process.env.CI)(`starts${why}`, { timeout: PATIENCE_MS }, async () => {
    expect(lacking).toBeUndefined();
    const ran = await runScript(script, entry.args);
    expect(ran.code, `${ran.stdout}\n${ran.stderr}`).toBe(0);
    entry.check(ran);
  });
});
