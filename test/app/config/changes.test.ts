import { expect, test } from 'vitest';
import { assemble, changes, DEFAULTS, ENTRIES } from '#pickaxe/app/config/settings.js';

test('equal configurations have no changes', () => {
  const again = structuredClone(DEFAULTS);
  expect(changes(DEFAULTS, again)).toEqual({ live: [], needsRestart: [] });
});

test('changes are listed with both values, those that take effect at once apart from those that need a restart', () => {
  const before = {
    ...DEFAULTS,
    cpu: { ...DEFAULTS.cpu, threads: 2 },
    node: { ...DEFAULTS.node, urls: ['http://a:1'] },
  };
  const after = {
    ...DEFAULTS,
    node: { ...DEFAULTS.node, urls: ['http://a:1'] },
    devices: { ...DEFAULTS.devices, tempLimit: 'none' },
    gpu: { software: true },
  } as const;
  expect(changes(before, after)).toEqual({
    live: [{ path: 'devices.temp-limit', before: 90, after: 'none' }],
    needsRestart: [
      { path: 'cpu.threads', before: 2, after: undefined },
      { path: 'gpu.software', before: false, after: true },
    ],
  });
});

test('a limit for one GPU takes effect at once, like that for all', () => {
  const tempLimit = [{ gpu: 'gpu0', value: 80 }, { value: 90 }];
  const after = { ...DEFAULTS, devices: { ...DEFAULTS.devices, tempLimit } };
  expect(changes(DEFAULTS, after)).toEqual({
    live: [{ path: 'devices.temp-limit', before: 90, after: tempLimit }],
    needsRestart: [],
  });
});

test('a change of any setting is noticed', () => {
  const before = { ...DEFAULTS, pool: { ...DEFAULTS.pool, urls: ['stratum+tcp://pool.example:3333'] } };
  const after = assemble(({ path }) => path);
  const { live, needsRestart } = changes(before, after);
  expect(live.length + needsRestart.length).toBe(ENTRIES.length);
  expect(live.map(({ path }) => path)).toEqual(ENTRIES.filter(({ setting }) => setting.live).map(({ path }) => path));
});

test('from nodes to pools, and back, is for the next start, with all that belongs to them', () => {
  const node = { ...DEFAULTS, node: { ...DEFAULTS.node, urls: ['http://node.example:1848'] } };
  const others = { ...node, node: { ...node.node, urls: ['http://other.example:1848'] } };
  const pool = { ...DEFAULTS, pool: { ...DEFAULTS.pool, urls: ['stratum+tcp://pool.example:3333'], user: 'me' } };
  const paths = (list: readonly { readonly path: string }[]) => list.map(({ path }) => path);
  expect(changes(node, others)).toMatchObject({ live: [{ path: 'node.urls' }], needsRestart: [] });
  expect(paths(changes(node, pool).live)).toEqual([]);
  expect(paths(changes(node, pool).needsRestart)).toEqual(['node.urls', 'pool.urls', 'pool.user']);
  expect(paths(changes(pool, node).needsRestart)).toEqual(['node.urls', 'pool.urls', 'pool.user']);
  expect(paths(changes(node, DEFAULTS).needsRestart)).toEqual(['node.urls']);
});

test('the nodes of a coordinator can be changed while it runs, and no rig changes its fleet', () => {
  const nats = { ...DEFAULTS.nats, urls: ['nats://hub.example:4222'] };
  const withNode = (url: string) => ({ ...DEFAULTS, nats, node: { ...DEFAULTS.node, urls: [url] } });
  expect(changes(withNode('http://node.example:1848'), withNode('http://other.example:1848'))).toMatchObject({
    live: [{ path: 'node.urls' }],
    needsRestart: [],
  });
  const rig = { ...DEFAULTS, nats };
  const moved = { ...rig, nats: { ...nats, urls: ['nats://other.example:4222'] } };
  expect(changes(rig, moved)).toMatchObject({ live: [], needsRestart: [{ path: 'nats.urls' }] });
});
