import { describe, expect, it } from 'vitest';
import type { FaultInput } from '#pickaxe/mock-node/server/faults.js';
import { nodeConfigurationFor } from '#pickaxe/node/client/miner-identity.js';
import type { NodeLimits } from '#pickaxe/node/http/request-limits.js';
import { type Examination, examineNode, type NodeQuestion } from '#pickaxe/rig/survey/examine-node.js';
import { miner, nodesOf } from '../../miner/source/node/node.ts';
import type { OtherOptions } from '../../mock-node/node.ts';

const startNode = nodesOf('chainweb');

const listed = { account: miner.account, predicate: miner.predicate, 'public-keys': [...miner.publicKeys] };
/** By what hangs: a short time limit. Work and its updates have the same one, and only the updates hang in the last. */
const HASTY: Partial<Record<FaultInput['endpoint'], Partial<NodeLimits>>> = {
  work: { workTimeoutMs: 300 },
  config: { configTimeoutMs: 300 },
  updates: { workTimeoutMs: 3_000 },
};

const brief = ({ findings }: Examination) => findings.map(({ about, state }) => `${state} ${about}`);
const told = ({ findings }: Examination, about: string) =>
  findings
    .filter((finding) => finding.about === about)
    .map(({ what }) => what)
    .join('\n');

async function examine(
  options: OtherOptions = {},
  question: Partial<NodeQuestion> = {},
  faults: readonly FaultInput[] = [],
) {
  const { node, url } = await startNode(options);
  node.server.faults = faults;
  const [hanging] = faults.filter(({ kind }) => kind === 'hang').map(({ endpoint }) => endpoint);
  return examineNode({ url, network: 'development', miner, ...question }, hanging && HASTY[hanging]);
}

const ALL_WELL = ['ok connection', 'ok network', 'ok work', 'ok updates', 'ok clock'];

describe('an examination of a node', () => {
  it('finds nothing wrong with a good node', async () => {
    const examination = await examine();
    expect(brief(examination)).toEqual(ALL_WELL);
    expect(examination.network).toBe('development');
    expect(told(examination, 'work')).toMatch(/^gives work: chain \d+, height \d+$/);
  });

  it('asks for the node’s own network where none is named, and for no work without a miner', async () => {
    const { node, url } = await startNode({ network: 'testnet04' });
    const examination = await examineNode({ url });
    expect(brief(examination)).toEqual(['ok connection', 'ok network', 'ok updates', 'ok clock']);
    expect(examination.network).toBe('testnet04');
    expect(node.ledger.stats.workIssued).toBe(0);
  });

  it('works at a path that is not the usual one', async () => {
    const { url } = await startNode();
    const examination = await examineNode({ url: `${url}/chainweb/0.0/development`, miner });
    expect(brief(examination)).toEqual(ALL_WELL);
  });

  it('reports that the node serves another network', async () => {
    const examination = await examine({ network: 'mainnet01' });
    expect(brief(examination)).toEqual(['ok connection', 'warning network', 'fault work', 'ok clock']);
    expect(told(examination, 'network')).toContain('serves the network mainnet01, not development');
    expect(told(examination, 'work')).toContain('there is no mining API');
  });

  it('reports that mining is disabled', async () => {
    const examination = await examine({ miningEnabled: false });
    expect(brief(examination)).toEqual(['ok connection', 'warning network', 'fault work', 'ok clock']);
    expect(told(examination, 'network')).toContain('mining is disabled');
    expect(examination.findings.flatMap(({ nodeConfiguration }) => nodeConfiguration ?? [])).toEqual(
      nodeConfigurationFor(miner),
    );
    const nobody = await examine({ miningEnabled: false }, { miner: undefined });
    expect(brief(nobody)).toEqual(['ok connection', 'warning network', 'fault updates', 'ok clock']);
  });

  it('reports that the node does not know this miner', async () => {
    const bare = await examine({ miners: [{ ...listed, account: miner.account.slice(2) }] });
    expect(brief(bare)).toEqual(['ok connection', 'ok network', 'fault work', 'ok clock']);
    expect(told(bare, 'work')).toContain('does not know this miner');
    expect(bare.findings.flatMap(({ nodeConfiguration }) => nodeConfiguration ?? [])).toEqual(
      nodeConfigurationFor(miner),
    );
    expect(brief(await examine({ miners: [listed] }))).toEqual(ALL_WELL);
  });

  it.each([
    [90_000, 'behind'],
    [-90_000, 'ahead of'],
  ])('reports a clock that is off by %d ms', async (clockSkewMs, direction) => {
    const examination = await examine({ clockSkewMs });
    expect(brief(examination)).toEqual([...ALL_WELL.slice(0, -1), 'warning clock']);
    // The reported difference may be a second smaller, and smaller by the time that the answer took.
    expect(told(examination, 'clock')).toMatch(new RegExp(`at least ([78]\\d|90) s ${direction} the node’s`));
  });

  it('goes on when the node does not report its configuration', async () => {
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
  ])('reports the fault “%s” of work requests', async (kind, states) => {
    expect(brief(await examine({}, {}, [{ endpoint: 'work', kind }]))).toEqual(states);
  });

  it.each<FaultInput['kind']>(['unavailable', 'hang', 'drop'])(
    'reports the fault “%s” of update streams as a warning',
    async (kind) => {
      const examination = await examine({}, {}, [{ endpoint: 'updates', kind }]);
      expect(brief(examination)).toEqual(['ok connection', 'ok network', 'ok work', 'warning updates', 'ok clock']);
    },
  );

  it.each<FaultInput['kind']>(['garbage', 'unavailable'])(
    'ignores the fault “%s” of the node’s configuration',
    async (kind) => {
      expect(brief(await examine({}, {}, [{ endpoint: 'config', kind }]))).toEqual(ALL_WELL);
    },
  );

  it.each<FaultInput['kind']>(['captive-portal', 'hang', 'drop'])(
    'asks nothing more if every endpoint has the fault “%s”',
    async (kind) => {
      expect(brief(await examine({}, {}, [{ endpoint: 'any', kind }]))).toEqual(['fault connection']);
    },
  );

  it('reports that nothing listens at the address', async () => {
    const examination = await examineNode({ url: 'http://127.0.0.1:9', network: 'development', miner });
    expect(brief(examination)).toEqual(['fault connection']);
    expect(told(examination, 'connection')).toContain('nothing listens there');
  });

  it('refuses a URL that is not valid', async () => {
    await expect(examineNode({ url: 'ftp://host' })).rejects.toThrow('not a node URL');
  });
});
