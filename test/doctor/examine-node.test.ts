import { describe, expect, it } from 'vitest';
import { type Examination, examineNode, type NodeQuestion } from '#pickaxe/doctor/examine-node.js';
import type { MockNodeOptions } from '#pickaxe/mock-node/options.js';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { miner, startNode } from '../source/node/node.ts';

const listed = { account: miner.account, predicate: miner.predicate, 'public-keys': [...miner.publicKeys] };
/** A node that hangs must not be waited for in full. */
const HASTY = { workTimeoutMs: 300, configTimeoutMs: 300 };

const brief = ({ findings }: Examination) => findings.map(({ about, state }) => `${state} ${about}`);
const told = ({ findings }: Examination, about: string) =>
  findings
    .filter((finding) => finding.about === about)
    .map(({ what }) => what)
    .join('\n');

async function examine(
  options: MockNodeOptions = {},
  question: Partial<NodeQuestion> = {},
  faults: readonly FaultInput[] = [],
) {
  const { node, url } = await startNode(options);
  node.server.faults = faults;
  const limits = faults.some(({ kind }) => kind === 'hang') ? HASTY : {};
  return examineNode({ url, network: 'development', miner, ...question }, { limits });
}

const ALL_WELL = ['ok connection', 'ok network', 'ok work', 'ok updates', 'ok clock'];

describe('a node that is asked everything once', () => {
  it('and is well', async () => {
    const examination = await examine();
    expect(brief(examination)).toEqual(ALL_WELL);
    expect(examination.network).toBe('development');
    expect(told(examination, 'work')).toMatch(/^gives work: chain \d+, height \d+$/);
  });

  it('is asked for its own network where none is named, and for no work without a miner', async () => {
    const { node, url } = await startNode({ network: 'testnet04' });
    const examination = await examineNode({ url });
    expect(brief(examination)).toEqual(['ok connection', 'ok network', 'ok updates', 'ok clock']);
    expect(examination.network).toBe('testnet04');
    expect(node.ledger.stats.workIssued).toBe(0);
  });

  it('at a path of its own', async () => {
    const { url } = await startNode();
    const examination = await examineNode({ url: `${url}/chainweb/0.0/development`, miner });
    expect(brief(examination)).toEqual(ALL_WELL);
  });

  it('that serves another network', async () => {
    const examination = await examine({ network: 'mainnet01' });
    expect(brief(examination)).toEqual(['ok connection', 'warning network', 'fault work', 'ok clock']);
    expect(told(examination, 'network')).toContain('serves the network mainnet01, not development');
    expect(told(examination, 'work')).toContain('there is no mining API');
  });

  it('at which mining is disabled', async () => {
    const examination = await examine({ miningEnabled: false });
    expect(brief(examination)).toEqual(['ok connection', 'warning network', 'fault work', 'ok clock']);
    expect(told(examination, 'network')).toContain('mining is disabled');
    const nobody = await examine({ miningEnabled: false }, { miner: undefined });
    expect(brief(nobody)).toEqual(['ok connection', 'warning network', 'fault updates', 'ok clock']);
  });

  it('that does not know this miner', async () => {
    const bare = await examine({ miners: [{ ...listed, account: miner.account.slice(2) }] });
    expect(brief(bare)).toEqual(['ok connection', 'ok network', 'fault work', 'ok clock']);
    expect(told(bare, 'work')).toContain('does not know this miner');
    expect(brief(await examine({ miners: [listed] }))).toEqual(ALL_WELL);
  });

  it.each([
    [90_000, 'behind'],
    [-90_000, 'ahead of'],
  ])('whose clock is off by %d ms', async (clockSkewMs, direction) => {
    const examination = await examine({ clockSkewMs });
    expect(brief(examination)).toEqual([...ALL_WELL.slice(0, -1), 'warning clock']);
    // It can be told up to a second less, and the time that the answer took.
    expect(told(examination, 'clock')).toMatch(new RegExp(`at least ([78]\\d|90) s ${direction} the node’s`));
  });

  it('that does not report its configuration', async () => {
    const examination = await examine({ configServed: false });
    expect(brief(examination)).toEqual(ALL_WELL);
    expect(told(examination, 'network')).toContain('does not report');
    const unnamed = await examine({ configServed: false }, { network: undefined });
    expect(brief(unnamed)).toEqual(['ok connection', 'ok network', 'fault network', 'ok clock']);
  });

  it.each<[FaultInput['kind'], string[]]>([
    ['unavailable', ['ok connection', 'ok network', 'warning work', 'ok clock']],
    ['hang', ['ok connection', 'ok network', 'fault work', 'ok clock']],
    ['wrong-length', ['ok connection', 'ok network', 'fault work', 'ok clock']],
    ['captive-portal', ['ok connection', 'ok network', 'fault work', 'ok clock']],
    ['drop', ['ok connection', 'ok network', 'fault work', 'ok clock']],
  ])('with the fault “%s” at work', async (kind, states) => {
    expect(brief(await examine({}, {}, [{ endpoint: 'work', kind }]))).toEqual(states);
  });

  it.each<FaultInput['kind']>(['unavailable', 'hang', 'drop'])(
    'with the fault “%s” at updates can be mined on',
    async (kind) => {
      const examination = await examine({}, {}, [{ endpoint: 'updates', kind }]);
      expect(brief(examination)).toEqual(['ok connection', 'ok network', 'ok work', 'warning updates', 'ok clock']);
    },
  );

  it.each<FaultInput['kind']>(['garbage', 'unavailable'])(
    'with the fault “%s” at its configuration can be mined on',
    async (kind) => {
      expect(brief(await examine({}, {}, [{ endpoint: 'config', kind }]))).toEqual(ALL_WELL);
    },
  );

  it.each<FaultInput['kind']>(['captive-portal', 'hang', 'drop'])(
    'with the fault “%s” everywhere is asked no more',
    async (kind) => {
      expect(brief(await examine({}, {}, [{ endpoint: 'any', kind }]))).toEqual(['fault connection']);
    },
  );

  it('that is not there', async () => {
    const examination = await examineNode({ url: 'http://127.0.0.1:9', network: 'development', miner });
    expect(brief(examination)).toEqual(['fault connection']);
    expect(told(examination, 'connection')).toContain('nothing listens there');
  });

  it('whose URL is none', async () => {
    await expect(examineNode({ url: 'ftp://host' })).rejects.toThrow('not a node URL');
  });
});
