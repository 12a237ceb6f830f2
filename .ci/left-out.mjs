/**
 * What a run of CI leaves out, because nothing that it tries has changed. `node .ci/left-out.mjs [REVISION]` prints a
 * line for each set that is left out since that revision: its files and the reason, with a tab between them. Without a
 * revision, and in the nightly run (`CI_NIGHTLY=1`), nothing is left out.
 *
 * A set belongs here if it takes more than half a minute, and if what it tries is in few folders. All of them together
 * take far longer than all other tests. All short tests always run, and so do the long tests of `pickaxe mine` on nodes
 * and of the examples, which use code of every folder. A short test that has changed makes no set run.
 */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('..', import.meta.url));

const NATIVE = ['native/', 'scripts/build-native.mjs', 'src/miner/engine/cpu/kernels/', 'test/native/'];
const SHADERS = ['shaders/', 'native/generator/', 'src/miner/engine/gpu/', 'test/miner/engine/gpu/'];

/** `files` are patterns of files of tests; `paths` are the beginnings of the paths whose change makes them run. */
export const SETS = [
  {
    name: 'Windows, by Wine',
    files: ['test/wine/**', 'test/native/windows.long.test.ts'],
    paths: ['test/wine/', 'test/foreign/', 'src/base/system/', 'packaging/', ...NATIVE],
  },
  {
    name: 'kernels by all compilers, sanitizers and emulated chips',
    files: [
      'test/native/{kernels,addons,macos}.long.test.ts',
      'test/miner/engine/cpu/{cpu-engine,known-chips}.long.test.ts',
    ],
    paths: ['test/miner/engine/cpu/', 'src/miner/engine/cpu/', ...NATIVE],
  },
  {
    name: 'all variants of the shaders',
    files: ['test/miner/engine/gpu/{shaders,gpu-engine,tuning,faults,supervision,nothing-lost}.long.test.ts'],
    paths: SHADERS,
  },
  {
    name: 'what GPU compilers make of the shaders',
    files: ['test/native/compilers/**'],
    paths: ['native/compilers/', 'test/native/compilers/', ...SHADERS],
  },
  {
    name: 'benchmarks',
    files: ['test/bench/benchmarks.long.test.ts'],
    paths: ['bench/', 'test/bench/'],
  },
  {
    name: 'what pickaxe bench measures and prints',
    files: ['test/cli/measuring/bench.long.test.ts', 'test/rig/bench/gpu.long.test.ts'],
    paths: ['src/rig/bench/', 'src/cli/measuring/', 'src/miner/engine/', 'test/rig/bench/', 'test/cli/measuring/'],
  },
  {
    name: 'web pages in a browser',
    files: [
      'test/rig/page/{accessibility,demo,layout,page,text}.long.test.ts',
      'test/fleet/page/fleet-page.long.test.ts',
    ],
    paths: ['src/rig/page/', 'src/rig/http/', 'src/rig/status/', 'src/fleet/', 'test/rig/', 'test/fleet/'],
  },
  {
    name: 'scripts for developers',
    files: ['test/scripts/scripts.long.test.ts'],
    paths: ['scripts/', 'test/scripts/', 'package'],
  },
  {
    name: 'the choice of kernels and GPUs, as commands',
    files: [
      'test/cli/mining/{kernels,gpus,gpu-faults,hybrid}.long.test.ts',
      'test/miner/engine/cpu/choose.long.test.ts',
      'test/miner/engine/gpu/{list-gpus,spirv}.long.test.ts',
      'test/cli/measuring/devices.long.test.ts',
    ],
    paths: [
      'src/app/composition/',
      'src/cli/measuring/',
      'src/cli/mining/',
      'src/miner/engine/',
      'src/miner/loop/',
      'test/cli/measuring/',
      'test/cli/mining/',
      'test/miner/engine/',
      ...SHADERS,
      ...NATIVE,
    ],
  },
  {
    name: 'fleets as programs',
    files: [
      'test/cli/fleet/{dry-run,fleet,fleet-demo,hostile,interrupt}.long.test.ts',
      'test/cli/mining/coordinate.long.test.ts',
      'test/fleet/rig/faults.long.test.ts',
    ],
    paths: [
      'src/app/',
      'src/cli/fleet/',
      'src/cli/mining/',
      'src/fleet/',
      'src/miner/loop/',
      'src/miner/relay/',
      'test/cli/fleet/',
      'test/cli/mining/',
      'test/fleet/',
    ],
  },
  {
    name: 'pools, ASICs and external workers, as programs',
    files: [
      'test/cli/mining/{external-relay,external-worker,pools,stratum,worker,worker-limits,worker-page}.long.test.ts',
      'test/miner/relay/stratum/credit.long.test.ts',
    ],
    paths: [
      'src/app/composition/',
      'src/cli/mining/',
      'src/miner/loop/',
      'src/miner/relay/',
      'src/miner/source/',
      'src/protocol/wire/',
      'test/cli/mining/',
      'test/miner/relay/',
      'test/miner/source/pool/',
    ],
  },
  {
    name: 'commands that sign and move coins, as programs and on nodes that lie',
    files: [
      'test/node/sweep/{forged,liars,reorganisations,runner}.long.test.ts',
      'test/cli/coins/tx/examples.long.test.ts',
    ],
    paths: [
      'src/app/nodes/',
      'src/cli/coins/',
      'src/contract/',
      'src/mock-node/',
      'src/node/',
      'src/protocol/',
      'test/cli/coins/',
      'test/mock-node/',
      'test/node/',
    ],
  },
  {
    name: 'commands that set pickaxe up, as programs',
    files: ['test/cli/setup/{certificates,config,init,service,settings}.long.test.ts'],
    paths: [
      'src/app/',
      'src/base/',
      'src/cli/setup/',
      'src/node/client/',
      'src/node/http/',
      'test/app/',
      'test/cli/setup/',
    ],
  },
  {
    name: 'unattended mining as a program: log files, hooks, webhooks, pauses, full disks, unread output',
    files: ['test/cli/mining/{full-disk,sensors,terminal,unattended,unread}.long.test.ts'],
    paths: ['src/app/', 'src/base/', 'src/cli/mining/', 'src/miner/', 'src/rig/', 'test/cli/mining/', 'test/rig/'],
  },
  {
    name: 'the npm package',
    files: ['test/package.long.test.ts'],
    paths: ['package', 'packaging/', 'scripts/', 'src/index', 'src/cli/', 'test/package', ...NATIVE],
  },
  {
    name: 'endurance and misbehaviour as scripts',
    files: ['test/faults/faults.long.test.ts'],
    paths: ['test/faults/'],
  },
  {
    name: 'prebuilt addons, and archives for machines without npm',
    files: ['test/packaging/{addons,archives}.long.test.ts', 'test/scripts/ready.long.test.ts'],
    paths: ['packaging/', 'scripts/build', 'scripts/ready.mjs', 'package', 'test/packaging/', ...NATIVE],
  },
];

/** @returns the sets of which none of these paths, which have changed, makes a test run */
export function setsLeftOut(changed) {
  const others = changed.filter((path) => !path.endsWith('.test.ts') || path.endsWith('.long.test.ts'));
  return SETS.filter(({ paths }) => !others.some((path) => paths.some((beginning) => path.startsWith(beginning))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [revision] = process.argv.slice(2);
  if (revision && !process.env.CI_NIGHTLY) {
    const args = ['-C', FOLDER, 'diff', '--name-only', '--no-renames', revision, 'HEAD'];
    const changed = execFileSync('git', args, { encoding: 'utf8' }).split('\n');
    for (const { name, files, paths } of setsLeftOut(changed)) {
      console.log(`${files.join(' ')}\t${name}: unchanged since ${revision.slice(0, 8)} are ${paths.join(', ')}`);
    }
  }
}
