import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { serverProgram } from '#pickaxe/cli/fleet/fleet-demo.js';
import { noServer, whyNoServer } from '../../fleet/nats/server.ts';
import { PATIENCE } from '../../patience.ts';
import { isRunning } from '../../running.ts';
import { pickaxe, start } from '../pickaxe.ts';

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

describe.skipIf(noServer || process.platform !== 'linux')(`pickaxe fleet demo${whyNoServer}`, () => {
  async function running() {
    const demo = start(['fleet', 'demo']);
    const { pid = 0 } = demo.child;
    onTestFinished(() => void demo.child.kill('SIGKILL'));
    await vi.waitFor(() => expect(demo.stderr).toContain('to watch it from another terminal'), PATIENCE);
    const children = childrenOf(pid);
    // A server, two coordinators and three rigs.
    expect(children.length).toBeGreaterThanOrEqual(6);
    return { demo, pid, children };
  }

  it('leaves nothing behind when it is stopped, and Ctrl-C ends the server last', async () => {
    const { demo, pid, children } = await running();
    // A terminal sends Ctrl-C to the whole process group: the server would end before the last verdicts have come.
    expect(children.filter((child) => groupOf(child) === groupOf(pid))).toEqual([]);
    demo.child.kill('SIGINT');
    expect(await demo.code, demo.stderr).toBe(0);
    expect(demo.stderr).toContain('none was lost');
    await vi.waitFor(() => expect(children.filter(isRunning)).toEqual([]), PATIENCE);
  });

  it('leaves nothing behind when it is killed', async () => {
    const { demo, children } = await running();
    demo.child.kill('SIGKILL');
    await vi.waitFor(() => expect(children.filter(isRunning)).toEqual([]), PATIENCE);
  });
});

it('pickaxe fleet demo says how to get nats-server where there is none', async () => {
  await expect(serverProgram(async () => undefined)).rejects.toThrow(/not installed.*apt-get install nats-server/s);
});

/** Linux only. */
function childrenOf(parent: number): number[] {
  const ids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return ids.filter((id) => statOf(id)?.parent === parent);
}

/** Linux only. @returns a process group's ID */
function groupOf(id: number): number | undefined {
  return statOf(id)?.group;
}

/** @returns undefined for a process that has just ended */
function statOf(id: number): { readonly parent: number; readonly group: number } | undefined {
  try {
    const [, parent, group] = /\) \S (\d+) (\d+)/.exec(readFileSync(`/proc/${id}/stat`, 'utf8')) ?? [];
    return { parent: Number(parent), group: Number(group) };
  } catch {
    return undefined;
  }
}
