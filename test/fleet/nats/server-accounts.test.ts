import { expect, it } from 'vitest';
import { accountsBlock, type Member, mostConnections, type Role } from '#pickaxe/fleet/nats/server-accounts.js';

const members = (role: Role, count: number): Member[] =>
  Array.from({ length: count }, (_, number) => ({ name: `${role}${number}`, role, publicKey: `U${number}`, number }));

it.each([
  { rigs: 0, coordinators: 0, operators: 0, most: 65_536 },
  { rigs: 15_360, coordinators: 0, operators: 0, most: 65_536 },
  { rigs: 15_361, coordinators: 0, operators: 0, most: 65_540 },
  { rigs: 20_000, coordinators: 0, operators: 0, most: 84_096 },
  { rigs: 20_000, coordinators: 100, operators: 0, most: 84_096 },
  { rigs: 20_000, coordinators: 100, operators: 10, most: 84_256 },
])('a server takes as many connections as its accounts may have: $most', ({ rigs, coordinators, operators, most }) => {
  const all = [...members('rig', rigs), ...members('coordinator', coordinators), ...members('operator', operators)];
  expect(mostConnections(all)).toBe(most);
});

it('leaf nodes, and connections of rigs and operators, are a bounded number in each account', () => {
  const all = [...members('rig', 1), ...members('coordinator', 1), ...members('operator', 2)];
  const block = accountsBlock({ subject: 'pickaxe', members: all, leafSecret: 'ab'.repeat(24), isLeaf: false });
  const limits = block.join('\n').match(/max_\w+: \d+/g) ?? [];
  expect(limits.toSorted()).toEqual(
    [
      'max_connections: 32',
      'max_connections: 4',
      'max_leafnodes: 256',
      'max_subscriptions: 100000',
      'max_subscriptions: 16',
      'max_subscriptions: 16',
      'max_subscriptions: 16',
    ].toSorted(),
  );
});
