import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { serverProgram } from '#pickaxe/cli/fleet/demo.js';
import { noServer, whyNoServer } from '../../nats/server.ts';
import { isRunning } from '../../running.ts';
import { PATIENCE, pickaxe, start } from '../pickaxe.ts';

it.skipIf(noServer)(`pickaxe fleet demo kills a coordinator and loses no solution${whyNoServer}`, async () => {
  const { code, stderr } = await pickaxe('fleet', 'demo', '--duration', '15');
  expect(code, stderr).toBe(0);
  const [, killed] = / (\w+) is killed now/.exec(stderr) ?? [];
  const other = killed === 'north' ? 'south' : 'north';
  expect(stderr).toMatch(new RegExp(`mines for ${other} now, \\d+\\.\\d s after the kill`));
  expect(stderr).toContain(`${killed} is started again`);
  const [, found, accepted] = /(\d+) found = (\d+) accepted \+ .* \+ 0 pending: none was lost/.exec(stderr) ?? [];
  expect(Number(accepted)).toBeGreaterThan(0);
  expect(Number(found)).toBeGreaterThanOrEqual(Number(accepted));
});

it.skipIf(noServer || process.platform !== 'linux')(
  `pickaxe fleet demo leaves nothing behind when it is stopped${whyNoServer}`,
  async () => {
    const demo = start(['fleet', 'demo']);
    await vi.waitFor(() => expect(demo.stderr).toContain('to watch it from another terminal'), PATIENCE);
    const children = childrenOf(demo.child.pid!);
    // A server, two coordinators and three rigs.
    expect(children.length).toBeGreaterThanOrEqual(6);
    demo.child.kill('SIGINT');
    expect(await demo.code, demo.stderr).toBe(0);
    expect(demo.stderr).toContain('none was lost');
    await vi.waitFor(() => expect(children.filter(isRunning)).toEqual([]), PATIENCE);
  },
);

it('pickaxe fleet demo says how to get nats-server where there is none', async () => {
  await expect(serverProgram(async () => undefined)).rejects.toThrow(/not installed.*apt-get install nats-server/s);
});

/** Linux only. */
function childrenOf(parent: number): number[] {
  const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return ids.filter((id) => {
    try {
      const [, ppid] = /\) \S (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
      return Number(ppid) === parent;
    } catch {
      return false; // It has just ended.
    }
  });
}
