import { expect, it, onTestFinished, vi } from 'vitest';
import { ChosenSource, submitToAll } from '#pickaxe/app/composition/choose-source.js';
import { systemContext } from '#pickaxe/app/composition/context.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import { FakeSource, makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';

const settings = (urls: string[]) => ({
  node: { ...DEFAULTS.node, urls, network: 'mainnet01' },
  pool: DEFAULTS.pool,
  miner: { ...DEFAULTS.miner, publicKeys: ['0'.repeat(64)] },
});

it('nodes whose shown URLs are equal get different names', () => {
  const urls = ['ONE', 'OTHER'].map((key) => `https://node.example/${key}/chainweb/0.0/mainnet01`);
  const shown = 'https://node.example/…/chainweb/0.0/mainnet01';
  expect(new ChosenSource(settings(urls), new Events(), systemContext).source.name).toBe(`${shown}, ${shown} (2)`);
  expect(new ChosenSource(settings(urls.slice(1)), new Events(), systemContext).source.name).toBe(shown);
});

it('an invalid node URL is an error that shows what one looks like', () => {
  expect(() => new ChosenSource(settings(['http://node.example?key=x']), new Events(), systemContext)).toThrow(
    'node.example',
  );
});

it('a single node checks its own health only for a fleet, whose rigs leave a coordinator with an unhealthy source', () => {
  const onHealth = vi.spyOn(NodeSource.prototype, 'onHealth');
  onTestFinished(() => onHealth.mockRestore());
  const one = settings(['http://one.example:1848']);
  expect(new ChosenSource(one, new Events(), systemContext).source.fault).toBeUndefined();
  expect(onHealth).not.toHaveBeenCalled();
  const { source } = new ChosenSource(one, new Events(), systemContext, true);
  const [[judge]] = onHealth.mock.calls;
  judge('refuses all solutions');
  expect(source.fault).toMatch(/^http:\/\/one\.example:1848\S* refuses all solutions$/);
});

it('a change keeps the nodes whose settings stay, in the new order, and refuses what cannot be used', () => {
  const urls = ['http://one.example:1848', 'http://two.example:1848', 'http://three.example:1848'];
  const chosen = new ChosenSource(settings(urls.slice(0, 2)), new Events(), systemContext);
  const [one, two] = chosen.nodes;
  chosen.prepare(settings(urls))();
  expect(chosen.nodes[0] === one && chosen.nodes[1] === two).toBe(true);
  chosen.prepare(settings([urls[2], urls[1], urls[0]]))();
  expect(chosen.nodes.map(({ name }) => new URL(name).hostname)).toEqual([
    'three.example',
    'two.example',
    'one.example',
  ]);
  expect(chosen.nodes[1] === two && chosen.nodes[2] === one).toBe(true);
  expect(chosen.source.name).toBe(chosen.nodes.map(({ name }) => name).join(', '));
  const [fingerprint, other] = ['A', 'B'].map((letter) => letter.repeat(43));
  const pinned = (value: string) => {
    const same = settings(['https://one.example:1848']);
    return { ...same, node: { ...same.node, fingerprints: [{ url: undefined, value }] } } as never;
  };
  chosen.prepare(pinned(fingerprint))();
  const [before] = chosen.nodes;
  chosen.prepare(pinned(fingerprint))();
  expect(chosen.nodes[0]).toBe(before);
  chosen.prepare(pinned(other))();
  expect(chosen.nodes[0]).not.toBe(before);
  expect(() => chosen.prepare(settings([]))).toThrow('No node is configured');
  expect(chosen.nodes).toHaveLength(1);
});

it('pools that change their user are others, and those that stay are used on', () => {
  const pools = (user: string, ...urls: string[]) => ({ ...DEFAULTS, pool: { ...DEFAULTS.pool, urls, user } });
  const [one, two] = ['stratum+tcp://one.example:3333', 'stratum+tcp://two.example:3333'];
  const chosen = new ChosenSource(pools('k:abc', one), new Events(), systemContext);
  expect(chosen.nodes).toEqual([]);
  chosen.prepare(pools('k:abc', two, one))();
  expect(chosen.source.name).toBe(`${two}, ${one}`);
  chosen.prepare(pools('k:other', two))();
  expect(chosen.source.kind).toBe('pool');
});

it('connections to pools are opened as the context says', async () => {
  const asked: string[] = [];
  const stop = new AbortController();
  const openConnection = async ({ url }: { url: string }) => {
    asked.push(url);
    stop.abort();
    throw new Error('nobody is there');
  };
  const pool = { ...DEFAULTS.pool, urls: ['stratum+tcp://one.example:3333'], user: 'k:abc' };
  const chosen = new ChosenSource({ ...DEFAULTS, pool }, new Events(), { ...systemContext, openConnection });
  await chosen.source.follow(() => {}, stop.signal);
  expect(asked).toEqual(pool.urls);
});

it('a solution of unknown origin goes to all nodes at once, and the verdict that says the most counts', async () => {
  const never = new AbortController().signal;
  const solution = mine(makeWork(4));
  const refused = { outcome: 'rejected', reason: 'no' } as const;
  const unknown = { outcome: 'unknown', reason: 'no answer' } as const;
  const stale = { outcome: 'stale', reason: 'No associated Payload' } as const;
  const accepted = { outcome: 'accepted', reason: '' } as const;
  const ask = async (...verdicts: (typeof refused | typeof unknown | typeof stale | typeof accepted | 'never')[]) => {
    const nodes = verdicts.map((verdict, at) => {
      const node = new FakeSource();
      Object.assign(node, { name: `node${at}` });
      node.verdict = () => (verdict === 'never' ? new Promise(() => {}) : verdict);
      return node;
    });
    const verdict = await submitToAll(nodes, solution, never);
    expect(nodes.map(({ submitted }) => submitted)).toEqual(nodes.map(() => [solution]));
    return verdict;
  };
  expect(await ask('never', stale, accepted)).toEqual({ ...accepted, by: 'node2' });
  expect(await ask(stale, refused)).toEqual({ ...refused, by: 'node1' });
  expect(await ask(refused, stale, unknown)).toEqual({ ...unknown, by: 'node2' });
  expect(await ask(stale, stale)).toEqual({ ...stale, by: 'node0' });
  expect(await ask()).toMatchObject({ outcome: 'stale' });
});
