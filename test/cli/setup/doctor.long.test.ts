import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { DoctorReport } from '#pickaxe/cli/setup/doctor.js';
import type { Dialect } from '#pickaxe/protocol/ledger/header.js';
import { expectShape } from '../../expect-shape.ts';
import { MockPool } from '../../miner/source/pool/mock-pool.ts';
import { GREETING, jobLine, makeHeader, USER } from '../../miner/source/pool/pool.ts';
import { DIALECTS, MockNode, type OtherOptions } from '../../mock-node/node.ts';
import { pickaxe } from '../in-process.ts';
import type { ExitCode } from '../pickaxe.ts';

const KEY = 'a1'.repeat(32);
const MINER = ['--network', 'development', '--public-key', KEY, '--threads', '1'];

const nodes: MockNode[] = [];
afterEach(() => Promise.all(nodes.splice(0).map((node) => node.close())));

async function startNode(options: OtherOptions = {}, dialect: Dialect = 'chainweb'): Promise<string> {
  const node = new MockNode({ dialect, ...options });
  nodes.push(node);
  return (await node.start()).url;
}

async function doctor(...args: string[]): Promise<{ code: ExitCode; report: DoctorReport }> {
  const { code, stdout } = await pickaxe('doctor', '--json', ...args);
  const report = JSON.parse(stdout);
  expectShape(DoctorReport, report);
  return { code, report };
}

describe('pickaxe doctor', () => {
  it.each(DIALECTS)('finds no fault on a machine that has none, with a node of the dialect %s', async (dialect) => {
    const { code, report } = await doctor('--node', await startNode({}, dialect), ...MINER);
    expect(report.findings.filter(({ state }) => state === 'fault')).toEqual([]);
    expect(report).toMatchObject({ faults: 0, machine: { node: process.version } });
    expect(code).toBe(0);
    const about = report.findings.map(({ about }) => about);
    for (const each of ['Node.js', 'system', 'memory', 'CPU', 'devices', 'configuration', 'cache', 'node']) {
      expect(about).toContain(each);
    }
    expect(report.findings.filter(({ about }) => about === 'node')).toHaveLength(5);
    // A busy machine may not have been measured. What pools pay is said of pools alone.
    const earnings = report.findings.find(({ about }) => about === 'earnings')!;
    expect(earnings.what).toMatch(
      /^(?:the CPU at \S+ .*|were not estimated: the CPU was too busy to be measured; .*)$/,
    );
    expect(earnings.what).not.toContain('a pool pays by its own rules');
  });

  it.each([
    ['mining is disabled', { miningEnabled: false }, 'no mining API'],
    [
      'the miner is not listed',
      { miners: [{ account: 'someone', predicate: 'keys-all', 'public-keys': [KEY] }] },
      'does not know this miner',
    ],
    ['the network is another', { network: 'testnet04' }, 'serves the network testnet04'],
  ] as const)('reports a fault when %s, and exits with 1', async (_, options, message) => {
    const { code, report } = await doctor('--node', await startNode(options as never), ...MINER);
    expect(report.faults).toBeGreaterThan(0);
    expect(report.findings.map(({ what }) => what).join('\n')).toContain(message);
    expect(code).toBe(1);
  });

  it('prints lines that a node’s configuration must have, so that they can be pasted', async () => {
    const miners = [{ account: 'someone', predicate: 'keys-all', 'public-keys': [KEY] }] as const;
    const { stdout } = await pickaxe('doctor', '--node', await startNode({ miners } as never), ...MINER);
    const [, lines = ''] = /\n(mining:\n(?: .*\n)+)/.exec(stdout) ?? [];
    const entry = { account: `k:${KEY}`, predicate: 'keys-all', 'public-keys': [KEY] };
    expect(parse(lines)).toEqual({ mining: { coordination: { enabled: true, miners: [entry] } } });
  });

  it('compares the keys of the miner’s account on each chain', async () => {
    const about = async (options: OtherOptions) => {
      const { report } = await doctor('--node', await startNode(options), ...MINER, '--account', 'shared');
      return report.findings.filter(({ about }) => about === 'account');
    };
    const mine = { account: 'shared', keys: [KEY] };
    expect(await about({ accounts: [{ ...mine, chains: [0, 1] }] })).toMatchObject([
      { state: 'ok', what: 'shared has the configured keys on 2 of 20 chains; rewards make it on the others' },
    ]);
    const taken = { account: 'shared', keys: ['cd'.repeat(32)], chains: [7, 12] };
    expect(await about({ accounts: [{ ...mine, chains: [0, 1] }, taken] })).toMatchObject([
      { state: 'warning', what: expect.stringMatching(/on chains 7, 12: .*cdcd/) },
    ]);
  });

  it('names the network of a node where no setting names it', async () => {
    const url = await startNode({ network: 'testnet04' });
    const { report, code } = await doctor('--node', url, '--public-key', KEY);
    expect(report.findings.find(({ about }) => about === 'configuration')).toMatchObject({
      state: 'fault',
      what: `No network is configured. ${url} serves testnet04: if that is the one you mean, add --network testnet04.`,
    });
    expect(code).toBe(1);
  });

  it('says in text what is wrong and what to do', async () => {
    const { code, stdout } = await pickaxe('doctor', '--node', 'http://127.0.0.1:9', ...MINER);
    expect(stdout).toMatch(/^fault +node +http:\/\/127\.0\.0\.1:9 connection: cannot reach/m);
    expect(stdout).toMatch(/^ok +Node\.js +\d/m);
    expect(stdout).toMatch(/^skipped +account +k:\S+ was not checked: cannot reach/m);
    expect(stdout).toMatch(/\d faults?, \d warnings?\. pickaxe cannot mine until the faults are fixed\./);
    expect(code).toBe(1);
  });

  it('reports a fault if mining would not start because there is no node or no key', async () => {
    const nothing = await doctor('--threads', '1');
    expect(nothing.report.findings.at(-1)).toMatchObject({ about: 'node', state: 'fault' });
    expect(nothing.code).toBe(1);
    const keyless = await doctor('--node', await startNode(), '--network', 'development');
    expect(keyless.report.findings.at(-1)).toMatchObject({ about: 'miner', state: 'fault' });
    expect(keyless.code).toBe(1);
  });

  it('reports what is wrong with the configuration as a finding, and checks the rest', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pickaxe-'));
    try {
      const file = join(folder, 'pickaxe.toml');
      writeFileSync(file, '[cpu]\nthreds = 2\n', { mode: 0o600 });
      const { code, report } = await doctor('--config', file);
      const finding = report.findings.find(({ about }) => about === 'configuration');
      expect(finding).toMatchObject({
        state: 'fault',
        what: expect.stringContaining('threads'),
        why: 'pickaxe mine does not start until this is corrected; the default settings were checked instead',
      });
      expect(report.findings.some(({ about }) => about === 'CPU')).toBe(true);
      expect(code).toBe(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('examines pools in place of nodes', async () => {
    const { url } = await MockPool.start([...GREETING, jobLine('a', makeHeader())]);
    const { report } = await doctor('--pool', url, '--user', USER, '--node', 'http://127.0.0.1:9', '--threads', '1');
    const ofPool = report.findings.filter(({ about }) => about === 'pool');
    expect(ofPool.map(({ state, what }) => `${state} ${what.replace(url, '').split(':')[0].trim()}`)).toEqual([
      'ok connection',
      'ok user',
      'ok work',
    ]);
    expect(report.findings.map(({ about }) => about)).not.toContain('node');
  });

  it('examines the servers of a fleet beside the nodes of a coordinator, or alone', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'hrtime'] });
    onTestFinished(() => void vi.useRealTimers());
    const examined = async (...args: string[]) => {
      let report: DoctorReport | undefined;
      const ended = doctor('--nats', 'nats://127.0.0.1:9', '--threads', '1', ...args).then((ended) => {
        report = ended.report;
      });
      while (report === undefined) await Promise.race([vi.advanceTimersByTimeAsync(100), ended]);
      return report.findings.filter(({ about }) => ['fleet', 'node'].includes(about));
    };
    const [alone] = await examined();
    expect(alone).toMatchObject({ about: 'fleet', state: 'fault', why: 'the fleet’s work comes by way of it' });
    const both = await examined('--node', 'http://127.0.0.1:9', ...MINER.slice(0, 4));
    expect(both).toMatchObject([
      { about: 'node', state: 'fault' },
      { about: 'fleet', state: 'fault', why: 'the fleet’s rigs are reached by way of it' },
    ]);
  });

  it('reports devices that are not available as a fault', async () => {
    const { code, report } = await doctor('--devices', 'gpu77');
    expect(report.findings.find(({ about }) => about === 'devices')).toMatchObject({ state: 'fault' });
    expect(code).toBe(1);
  });
});
