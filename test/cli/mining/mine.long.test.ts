import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { JsonLine } from '#pickaxe/rig/log/json-lines.js';
import { expectShape } from '../../expect-shape.ts';
import { DIALECTS, MockNode, type OtherOptions } from '../../mock-node/node.ts';
import { PATIENCE } from '../../patience.ts';
import { type Run, start } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);
const EASY = 200_000;

const nodes: MockNode[] = [];
const runs: Run[] = [];

async function node(options: OtherOptions = {}, dialect: Dialect = 'chainweb') {
  const mock = new MockNode({ dialect, difficulty: EASY, ...options });
  nodes.push(mock);
  return { mock, ...(await mock.start()) };
}

function mine(urls: string[], ...more: string[]): Run {
  const network = ['--network', 'development', '--public-key', KEY, '--devices', 'cpu', '--json'];
  const run = start(['mine', ...urls.flatMap((url) => ['--node', url]), ...network, ...more]);
  runs.push(run);
  return run;
}

afterEach(async () => {
  for (const { child } of runs) child.kill('SIGKILL');
  await Promise.all(runs.splice(0).map(({ code }) => code));
  await Promise.all(nodes.splice(0).map((mock) => mock.close()));
});

describe('pickaxe mine', () => {
  it.each(DIALECTS)('mines accepted blocks on a node of the dialect %s and ends after --blocks', async (dialect) => {
    const { mock, url } = await node({ rivalMs: 500 }, dialect);
    const run = mine([url], '--blocks', '5');
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats).toMatchObject({ rejected: 0, duplicates: 0, timeViolations: 0 });
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(5);

    const summary = run.events().at(-1)!;
    expect(summary).toMatchObject({
      type: 'summary',
      rejected: 0,
      hardwareErrors: 0,
      accepted: mock.ledger.stats.accepted,
    });
    expect(summary.hashes).toBeGreaterThan(0);
    expect(run.events('device')[0]).toMatchObject({ device: 'cpu', kind: 'cpu', state: 'ready' });
    const [solution] = run.events('solution');
    expect(solution.nonce).toMatch(/^\d+$/);
    expect(solution.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(run.events('verdict').filter(({ outcome }) => outcome === 'accepted')).toHaveLength(
      mock.ledger.stats.accepted,
    );
    expect(run.events('hashrate').at(-1)).toMatchObject({ devices: { cpu: { hashesPerSecond: expect.any(Number) } } });
    for (const event of run.events()) {
      expectShape(JsonLine, event);
      expect(event.timeMillis).toBeGreaterThan(1.7e12);
    }
  });

  it.each(DIALECTS)('uses the path of a node URL of the dialect %s as it is, without --network', async (dialect) => {
    const { mock, baseUrl } = await node({}, dialect);
    const args = ['--node', baseUrl, '--public-key', KEY, '--devices', 'cpu'];
    const run = start(['mine', ...args, '--blocks', '1', '--json']);
    runs.push(run);
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(1);
  });

  it('ends after --duration', async () => {
    const { url } = await node({ difficulty: 1e15 });
    const run = mine([url], '--duration', '2');
    expect(await run.code).toBe(0);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary', accepted: 0 });
    expect(run.events('work').length).toBeGreaterThan(0);
  });

  it.each(DIALECTS)('switches to new work at a New Cut of a node of the dialect %s', async (dialect) => {
    const { mock, url } = await node({ difficulty: 1e15 }, dialect);
    mock.ledger.pickChain = () => 3;
    const run = mine([url]);
    await vi.waitFor(() => expect(mock.server.streams.openFor(3)).toBe(1), PATIENCE);
    await vi.waitFor(() => expect(run.events('work').length).toBeGreaterThan(0), PATIENCE);
    const before = Number(run.events('work').at(-1)!.height);
    mock.ledger.advance(3);
    await vi.waitFor(() => expect(run.events('work').at(-1)!.height).toBe(before + 1), PATIENCE);
    expect(run.events('new-cut').at(-1)).toMatchObject({ chain: 3 });
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at %s with a summary and exit code 0', async (signal) => {
    const { url } = await node({ difficulty: 1e15 });
    const run = mine([url]);
    await vi.waitFor(() => expect(run.events('work').length).toBeGreaterThan(0), PATIENCE);
    run.child.kill(signal);
    const code = await run.code;
    expect(code, run.stderr).toBe(0);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary' });
  });

  it('exits at once at the second signal', async () => {
    const { mock, url } = await node();
    mock.server.faults = [{ endpoint: 'solved', kind: 'hang' }];
    const run = mine([url]);
    await vi.waitFor(() => expect(run.events('solution').length).toBeGreaterThan(0), PATIENCE);
    run.child.kill('SIGINT');
    await vi.waitFor(() => expect(run.stderr).toContain('repeat to exit'), PATIENCE);
    run.child.kill('SIGINT');
    expect(await run.code).toBe(130);
  });

  it('ends with exit code 4 when a run with a limit gets no work', async () => {
    const { mock, url } = await node();
    mock.server.faults = [{ endpoint: 'work', kind: 'unavailable' }];
    const run = mine([url], '--duration', '2');
    expect(await run.code).toBe(4);
    expect(run.events().at(-1)).toMatchObject({ type: 'summary', hashes: 0 });
  });

  it('says who may mine when the node refuses this miner', async () => {
    const { url } = await node({ miners: [{ account: 'someone', predicate: 'keys-all', 'public-keys': [KEY] }] });
    const run = mine([url], '--duration', '2');
    expect(await run.code).toBe(4);
    expect(run.stderr).toContain('Unauthorized Miner');
  });

  it('ends with exit code 2 when a kernel is not available', async () => {
    const { url } = await node();
    const run = mine([url], '--kernel', 'abacus');
    expect(await run.code).toBe(2);
    expect(run.stderr).toContain('abacus');
  });

  it('goes on with the next node when the first is out of reach', async () => {
    const { mock, url } = await node();
    const run = mine(['http://127.0.0.1:9', url], '--blocks', '2', '--duration', '60');
    expect(await run.code).toBe(0);
    expect(mock.ledger.stats.accepted).toBeGreaterThanOrEqual(2);
  });
});

describe('pickaxe demo', () => {
  it('mines accepted blocks with nothing configured', async () => {
    const run = start(['demo', '--devices', 'cpu', '--blocks', '3', '--duration', '60', '--json']);
    runs.push(run);
    expect(await run.code).toBe(0);
    expect(run.events('summary')[0]).toMatchObject({ rejected: 0 });
    expect(Number(run.events('summary')[0].accepted)).toBeGreaterThanOrEqual(3);
  });

  it('ends with what became of its blocks and what they earned, apart from the user’s block log', async () => {
    const state = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    onTestFinished(() => rmSync(state, { recursive: true, force: true }));
    const run = start(['demo', '--devices', 'cpu', '--blocks', '5', '--duration', '60', '--json'], {
      XDG_STATE_HOME: state,
    });
    runs.push(run);
    expect(await run.code).toBe(0);
    const { accepted, acceptedBlocks } = run.events('summary')[0] as {
      accepted: number;
      acceptedBlocks: Record<'won' | 'orphaned' | 'pending', number>;
    };
    const { won, orphaned, pending } = acceptedBlocks;
    expect(won + orphaned + pending).toBe(accepted);
    expect(pending).toBe(0);
    expect(won).toBeGreaterThan(0);
    expect(run.stderr).toMatch(
      new RegExp(`${accepted} accepted = ${won} won .* \\+ ${orphaned} orphaned \\+ 0 pending`),
    );
    const [, earned] = /earned (\d+\.\d+) coins, each reward proven/.exec(run.stderr)!;
    expect(Number(earned)).toBeGreaterThan(0.9 * won);
    expect(run.stderr).toContain(
      `the account has ${earned} coins on the mock node, exactly what its blocks have earned`,
    );
    expect(run.stderr).toContain('pickaxe balance');
    expect(readdirSync(state)).toEqual([]);
  });
});

it.skipIf(process.platform === 'win32')(
  'mining goes on at SIGHUP without a terminal, and a log file that was renamed is written anew',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [file, renamed] = [join(folder, 'pickaxe.log'), join(folder, 'pickaxe.log-old')];
    const run = start(['demo', '--devices', 'cpu', '--threads', '1', '--json', '--log-file', file]);
    runs.push(run);
    const accepted = async (count: number) =>
      await vi.waitFor(() => expect(run.events('verdict').length).toBeGreaterThanOrEqual(count), PATIENCE);
    await accepted(1);
    renameSync(file, renamed);
    for (let times = 0; times < 2; times++) {
      run.child.kill('SIGHUP');
      await accepted(run.events('verdict').length + 2);
    }
    run.child.kill('SIGTERM');
    expect(await run.code).toBe(0);
    expect(run.events('summary')).toHaveLength(1);
    const log = readFileSync(file, 'utf8');
    expect(log.match(/SIGHUP without a terminal/g)).toHaveLength(2);
    expect(log).toContain('stopping; repeat to exit at once');
    expect(readFileSync(renamed, 'utf8')).not.toContain('SIGHUP');
  },
);
