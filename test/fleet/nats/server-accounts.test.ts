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

/** The accounts of a rig, a coordinator, an operator and leaf nodes, as the configuration of a server has them. */
const WHOLE = `accounts {
  coordinators {
    limits { max_subscriptions: 16 }
    users: [
      { nkey: U1, permissions: { publish: { allow: ["p.work.a%2Ecoordinator", "p.beat.a%2Ecoordinator", "p.hello.*.a%2Ecoordinator", "p.inbox.>", "p.report.a%2Ecoordinator", "p.operator.*.*.*"] }, subscribe: { allow: ["p.work.*", "p.beat.*", "p.hello.a%2Ecoordinator.*", "p.solution.a%2Ecoordinator.*", "p.fallback.* coordinators", "p.report.*", "p.control.a%2Ecoordinator.*", "p.inbox.a%2Ecoordinator.>"] } } } # a%2Ecoordinator
    ]
    exports: [{ stream: "p.work.*" }, { stream: "p.beat.*" }, { stream: "p.control.*.*" }, { stream: "p.inbox.*.>" }, { stream: "p.report.*" }, { stream: "p.operator.*.*.*" }]
    imports: [
      { stream: { account: "rigs-0", subject: "p.hello.*.*" } }
      { stream: { account: "rigs-0", subject: "p.solution.*.*" } }
      { stream: { account: "rigs-0", subject: "p.fallback.*" } }
      { stream: { account: "rigs-0", subject: "p.report.*" } }
      { stream: { account: "rigs-0", subject: "p.operator.*.*.*" } }
      { stream: { account: "sites", subject: "p.hello.*.*" } }
      { stream: { account: "sites", subject: "p.solution.*.*" } }
      { stream: { account: "sites", subject: "p.fallback.*" } }
      { stream: { account: "sites", subject: "p.report.*" } }
      { stream: { account: "sites", subject: "p.operator.*.*.*" } }
      { stream: { account: "operators", subject: "p.control.*.*" } }
    ]
  }
  operators {
    limits { max_connections: 16, max_subscriptions: 16 }
    users: [
      { nkey: U2, permissions: { publish: { allow: ["p.control.*.a%2Eoperator"] }, subscribe: { allow: ["p.report.*", "p.work.*", "p.beat.*", "p.operator.a%2Eoperator.>"] } } } # a%2Eoperator
    ]
    exports: [{ stream: "p.control.*.*" }]
    imports: [
      { stream: { account: "coordinators", subject: "p.work.*" } }
      { stream: { account: "coordinators", subject: "p.beat.*" } }
      { stream: { account: "coordinators", subject: "p.report.*" } }
      { stream: { account: "coordinators", subject: "p.operator.*.*.*" } }
      { stream: { account: "rigs-0", subject: "p.report.*" } }
      { stream: { account: "rigs-0", subject: "p.operator.*.*.*" } }
      { stream: { account: "sites", subject: "p.report.*" } }
      { stream: { account: "sites", subject: "p.operator.*.*.*" } }
    ]
  }
  rigs-0 {
    limits { max_connections: 4, max_subscriptions: 16 }
    users: [
      { nkey: U0, permissions: { publish: { allow: ["p.hello.*.a%2Erig", "p.solution.*.a%2Erig", "p.fallback.a%2Erig", "p.report.a%2Erig", "p.operator.*.*.*"] }, subscribe: { allow: ["p.work.*", "p.beat.*", "p.control.a%2Erig.*", "p.inbox.a%2Erig.>"] } } } # a%2Erig
    ]
    exports: [{ stream: "p.hello.*.*" }, { stream: "p.solution.*.*" }, { stream: "p.fallback.*" }, { stream: "p.report.*" }, { stream: "p.operator.*.*.*" }]
    imports: [
      { stream: { account: "coordinators", subject: "p.work.*" } }
      { stream: { account: "coordinators", subject: "p.beat.*" } }
      { stream: { account: "coordinators", subject: "p.control.*.*" } }
      { stream: { account: "coordinators", subject: "p.inbox.*.>" } }
      { stream: { account: "operators", subject: "p.control.*.*" } }
    ]
  }
  sites {
    limits { max_leafnodes: 256, max_subscriptions: 100000 }
    users: [
      { user: "server", password: "x\\"", permissions: { publish: { allow: ["p.hello.*.*", "p.solution.*.*", "p.fallback.*", "p.report.*", "p.operator.*.*.*"] }, subscribe: { allow: ["p.work.*", "p.beat.*", "p.control.*.*", "p.inbox.*.>"] } } }
    ]
    exports: [{ stream: "p.hello.*.*" }, { stream: "p.solution.*.*" }, { stream: "p.fallback.*" }, { stream: "p.report.*" }, { stream: "p.operator.*.*.*" }]
    imports: [
      { stream: { account: "coordinators", subject: "p.work.*" } }
      { stream: { account: "coordinators", subject: "p.beat.*" } }
      { stream: { account: "coordinators", subject: "p.control.*.*" } }
      { stream: { account: "coordinators", subject: "p.inbox.*.>" } }
      { stream: { account: "operators", subject: "p.control.*.*" } }
    ]
  }
}`;

it('each member may send and receive what its role needs, and nothing else', () => {
  const each = (['rig', 'coordinator', 'operator'] as const).map((role, number): Member => {
    return { name: `a.${role}`, role, publicKey: `U${number}`, number };
  });
  const block = accountsBlock({ subject: 'p', members: each, leafSecret: 'x"', isLeaf: false });
  expect(block.join('\n')).toBe(WHOLE);
});
