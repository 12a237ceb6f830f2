import { afterEach, describe, expect, it, vi } from 'vitest';
import { Status } from '#pickaxe/rig/status/status.js';
import { expectShape } from '../../expect-shape.ts';
import { PATIENCE } from '../../patience.ts';
import { pickaxe } from '../in-process.ts';
import { type Run, start } from '../pickaxe.ts';

const ends: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function miner(...args: string[]): Promise<string> {
  const run: Run = start(['demo', '--devices', 'cpu', '--threads', '1', '--http', '0', ...args]);
  ends.push(() => {
    run.child.kill('SIGKILL');
    return run.code;
  });
  return await vi.waitFor(() => {
    const [, port] = /listening at http:\/\/127\.0\.0\.1:(\d+)/.exec(run.stderr) ?? [];
    expect(port, run.stderr).toBeDefined();
    return port!;
  }, PATIENCE);
}

const stats = (port: string, ...args: string[]) => pickaxe('stats', '--http', port, ...args);

describe('pickaxe stats', () => {
  it('reports how a miner is doing, in every format', async () => {
    const port = await miner();
    const json = await stats(port, '--json');
    expect(json.code).toBe(0);
    expectShape(Status, JSON.parse(json.stdout));
    const hive = await stats(port, '--format', 'hive');
    const [khs, line] = hive.stdout.split('\n');
    expect(Number(khs)).toBeGreaterThanOrEqual(0);
    expect(JSON.parse(line)).toMatchObject({ hs_units: 'khs' });
    expect(JSON.parse((await stats(port, '--format', 'mmpos')).stdout)).toMatchObject({ miner_name: 'pickaxe' });
    expect(JSON.parse((await stats(port, '--format', 'xmrig')).stdout)).toMatchObject({ kind: 'miner' });
    expect((await stats(port, '--format', 'prom')).stdout).toMatch(/^pickaxe_build_info\{/m);
  }, 120_000);

  it('prints a table for people', async () => {
    const port = await miner('--rig-name', 'attic');
    const { stdout } = await vi.waitFor(async () => {
      const table = await stats(port);
      expect(table).toMatchObject({ code: 0, stdout: expect.stringMatching(/^state +mining for/m) });
      return table;
    }, PATIENCE);
    expect(stdout).toMatch(/^rig +attic, pickaxe \d+\.\d+\.\d+, up for /);
    expect(stdout).toMatch(/^hashrate +.*[kMG]?H\/s since the start$/m);
    expect(stdout).toMatch(/^blocks +\d+ accepted, \d+ rejected, \d+ stale; [\d.]+ expected, effort \d+ %$/m);
    expect(stdout).toMatch(/^node +http:\/\/127\.0\.0\.1:\d+: connected for /m);
    expect(stdout).toMatch(/^device +state +10 s +60 s +15 min +accepted /m);
    expect(stdout).toMatch(/^cpu +ready /m);
    for (const line of stdout.split('\n')) expect(line).toBe(line.trimEnd());
  }, 120_000);
});
