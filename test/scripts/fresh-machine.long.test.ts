/** The machine on which nothing is installed: `.ci/run` runs the commands of the README on it. */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { ROOT } from './run.ts';

const script = 'scripts/fresh-machine.sh';
const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
const succeeds = (...[program, ...args]: string[]) => spawnSync(program, args).status === 0;
const isAble =
  isRoot && succeeds('debootstrap', '--version') && succeeds('unshare', '--mount', '--pid', '--fork', 'true');
const why = isAble ? '' : ' (skipped: it takes Linux, root, debootstrap and the right to make namespaces)';

/** Making the machine takes half a minute, and some minutes beside busy programs. */
vi.setConfig({ testTimeout: 600_000 });

test.skipIf(!isAble && !process.env.CI)(
  `a fresh machine has another user, a path with a blank, and no tools${why}`,
  () => {
    const look = 'id -un; pwd; ls package.json; command -v gcc cc clang git ps; exit 3';
    const { status, stdout, stderr } = spawnSync('bash', [join(ROOT, script), 'sh', '-c', look], { encoding: 'utf8' });
    expect({ status, stdout }, stderr).toEqual({ status: 3, stdout: 'rig\n/home/rig/my rigs/pickaxe\npackage.json\n' });
    expect(stderr).toContain('exit code 3 after');
  },
);
