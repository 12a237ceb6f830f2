/** A GPU's process ends while the command line mines on a node: mining goes on, and the node notices nothing. */

import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import type { Summary } from '#pickaxe/rig/status/status.js';
import { describeGpu } from '../../miner/engine/gpu/adapter.ts';
import { MockNode } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { type Run, start } from '../pickaxe.ts';
import { rememberGpus } from '../remember-gpu.ts';

/** Low enough for a software GPU and one thread to find a few blocks a second. */
const DIFFICULTY = 10_000_000;

const onLinux = process.platform === 'linux';

let run: Run | undefined;
let mock: MockNode | undefined;
afterEach(async () => {
  run?.child.kill('SIGKILL');
  await run?.code;
  await mock?.close();
});

/** @returns the ids of the GPU processes that a process has started and that still run */
function gpuProcessesOf(parent: number): number[] {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids.filter((id) => isGpuProcessOf(parent, id)).map(Number);
}

function isGpuProcessOf(parent: number, id: string): boolean {
  try {
    // proc(5): the name in brackets, which may have any characters in it, the state, and the parent.
    const [, state, ppid] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
    const isGpu = readFileSync(`/proc/${id}/cmdline`, 'utf8').includes('gpu/child/child-main.js');
    return Number(ppid) === parent && state !== 'Z' && isGpu;
  } catch {
    return false; // it has ended meanwhile
  }
}

describeGpu('pickaxe mine', () => {
  test.skipIf(!onLinux)(
    `goes on when a GPU's process is killed, and starts it again${onLinux ? '' : ' (processes are found by Linux’s /proc)'}`,
    async () => {
      await rememberGpus();
      mock = new MockNode({ dialect: 'document', difficulty: DIFFICULTY });
      const { url } = await mock.start();
      const { stats } = mock.ledger;
      const node = ['--node', url, '--network', 'development', '--public-key', 'a1'.repeat(32), '--json'];
      run = start(['mine', ...node, '--devices', 'cpu,gpu0', '--software-gpu', '--threads', '1']);
      const { child, events, code } = run;
      const states = () => events('device').filter(({ device }) => device === 'gpu0');
      const solutions = () => events('solution').filter(({ device }) => device === 'gpu0').length;
      const moreOf = async (count: () => number, more: number) => {
        const before = count();
        await vi.waitFor(() => expect(count()).toBeGreaterThanOrEqual(before + more), PATIENCE);
      };

      await moreOf(solutions, 2);
      const [first, ...others] = gpuProcessesOf(child.pid!);
      expect(others).toEqual([]);
      process.kill(first, 'SIGKILL');
      await vi.waitFor(() => expect(states()).toHaveLength(2), PATIENCE);
      await moreOf(() => stats.accepted, 2);
      await vi.waitFor(() => expect(states()).toHaveLength(3), PATIENCE);
      await moreOf(solutions, 2);
      const [second] = gpuProcessesOf(child.pid!);
      child.kill('SIGTERM');
      expect(await code).toBe(0);

      expect(second).not.toBe(first);
      expect(gpuProcessesOf(child.pid!)).toEqual([]);
      const reason = 'the GPU was lost: its process ended with SIGKILL';
      expect(states()).toMatchObject([
        { state: 'ready' },
        { state: 'reopening', fault: 'lost', reason },
        { state: 'ready' },
      ]);
      expect(stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
      const { accepted, rejected, hardwareErrors, hashes, devices } = events('summary')[0] as unknown as Summary;
      expect({ accepted, rejected, hardwareErrors }).toEqual({
        accepted: stats.accepted,
        rejected: 0,
        hardwareErrors: 0,
      });
      expect(devices.gpu0.reopens).toBe(1);
      expect(devices.cpu.reopens).toBe(0);
      expect(devices.cpu.hashes).toBeGreaterThan(0);
      expect(devices.cpu.hashes + devices.gpu0.hashes).toBe(hashes);
    },
  );
});
