import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { startGroup } from '#pickaxe/base/system/process-group.js';
import { eventually } from '../../miner/source/follow.ts';
import { isRunning } from '../../running.ts';

const MODULE = fileURLToPath(new URL('../../../dist/base/system/process-group.js', import.meta.url));

it.each([
  ['exits', 'process.exit(7)', [7, null]],
  ['crashes', 'throw new Error("a crash")', [1, null]],
  ['is killed itself', 'process.kill(process.pid, "SIGKILL")', [null, 'SIGKILL']],
])('a group is killed when the process that has started it %s', async (_, end, ended) => {
  // The shell prints its own id and that of a process that it leaves behind.
  const script = `
    import { endWithPickaxe, startGroup } from ${JSON.stringify(MODULE)};
    const child = startGroup('sleep 1000 & echo $$ $!; wait');
    endWithPickaxe(child);
    child.stdout.once('data', (pids) => process.stdout.write(pids, () => { ${end}; }));`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  parent.stdout.on('data', (chunk) => {
    said += chunk;
  });
  expect(await once(parent, 'close')).toEqual(ended);
  const pids = said.trim().split(' ').map(Number);
  onTestFinished(() => {
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(pids).toHaveLength(2);
  await eventually(() => expect(pids.filter(isRunning)).toEqual([]));
});

it('nothing is left in this process once no group lives', async () => {
  const before = process.listenerCount('exit');
  const children = [startGroup([process.execPath, '-e', '']), startGroup([process.execPath, '-e', ''])];
  expect(process.listenerCount('exit')).toBe(before + 1);
  await Promise.all(children.map((child) => once(child, 'close')));
  expect(process.listenerCount('exit')).toBe(before);
});
