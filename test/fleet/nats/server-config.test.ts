/** The configurations that are written for a fleet's NATS servers: what differs between kinds of servers. */

import { describe, expect, it } from 'vitest';
import { COORDINATORS, mostConnections, quoted, type Role } from '#pickaxe/fleet/nats/server-accounts.js';
import { type ServerTerms, serverConfig } from '#pickaxe/fleet/nats/server-config.js';

const member = (role: Role, number: number) => ({ name: `${role}${number}`, role, publicKey: `U${number}`, number });
const rigs = (count: number) => Array.from({ length: count }, (_, number) => member('rig', number));
const tls = { cert: '/c.pem', key: '/k.pem' };
const others = { servers: ['one.example:1', 'two.example:2'], secret: 'secret' };

const linesOf = (more: Partial<ServerTerms> = {}) =>
  serverConfig({ subject: 'pickaxe', members: [member('rig', 7)], listen: '0.0.0.0:4222', ...more }).split('\n');
/** The lines of a block, without its accounts. */
const block = (lines: readonly string[], name: string) => {
  const at = lines.indexOf(`${name} {`);
  return at < 0 ? [] : lines.slice(at + 1, lines.indexOf('}', at)).map((line) => line.trim());
};

describe('a server', () => {
  it('of its own has neither a cluster nor leaf nodes, and TLS only with a certificate', () => {
    const lines = linesOf();
    expect(lines.slice(0, 11)).toEqual([
      '# Made by pickaxe fleet keys, which writes it anew: change it there.',
      'listen: "0.0.0.0:4222"',
      'max_payload: 65536',
      'max_pending: 16777216',
      'write_deadline: "2s"',
      '# A machine that has vanished is noticed within half a minute.',
      'ping_interval: "10s"',
      'ping_max: 2',
      'max_connections: 65536',
      'authorization { timeout: 10 }',
      'accounts {',
    ]);
    expect(lines.filter((line) => /^(tls|cluster|leafnodes)\b/.test(line))).toEqual([]);
    expect(lines).toContain('authorization { timeout: 10 }');
    expect(lines.at(-1)).toBe('');
    expect(linesOf({ tls })).toContain('tls { cert_file: "/c.pem", key_file: "/k.pem", timeout: 10 }');
    expect(linesOf({ tls: { ...tls, ca: '/ca.pem' } })).toContain(
      'tls { cert_file: "/c.pem", key_file: "/k.pem", ca_file: "/ca.pem", timeout: 10 }',
    );
  });

  it.each([
    [undefined, []],
    [tls, ['tls { cert_file: "/c.pem", key_file: "/k.pem", timeout: 10 }']],
  ])('of a cluster proves to the others that it belongs to them', (files, secured) => {
    const lines = linesOf({ tls: files, cluster: { ...others, listen: '0.0.0.0:6222' } });
    expect(block(lines, 'cluster')).toEqual([
      'name: "pickaxe"',
      'listen: "0.0.0.0:6222"',
      'authorization { user: "server", password: "secret", timeout: 10 }',
      '# Clients use the servers that they are told of, and no others.',
      'no_advertise: true',
      'routes: ["nats-route://server:secret@one.example:1", "nats-route://server:secret@two.example:2"]',
      ...secured,
    ]);
  });

  it('for leaf nodes has an account for them', () => {
    const lines = linesOf({ tls, leaves: { listen: '0.0.0.0:7422', secret: 'secret' } });
    expect(block(lines, 'leafnodes')).toEqual([
      'listen: "0.0.0.0:7422"',
      'tls { cert_file: "/c.pem", key_file: "/k.pem", timeout: 10 }',
    ]);
    expect(lines).toContain('  sites {');
    expect(lines).toContain('    limits { max_leafnodes: 256, max_subscriptions: 100000 }');
    expect(linesOf()).not.toContain('  sites {');
  });

  it.each([
    ['without TLS', undefined, 'nats-leaf', ''],
    ['with TLS', tls, 'tls', ''],
    ['with an authority of its own', { ...tls, ca: '/ca.pem' }, 'tls', ', tls { ca_file: "/ca.pem" }'],
  ])('of another site connects to the cluster %s', (_, files, scheme, trust) => {
    const lines = linesOf({ tls: files, hub: others });
    const urls = others.servers.map((each) => `"${scheme}://server:secret@${each}"`).join(', ');
    expect(block(lines, 'leafnodes')).toEqual([`remotes: [{ account: "${COORDINATORS}", urls: [${urls}]${trust} }]`]);
  });
});

describe('an account', () => {
  const limits = (lines: readonly string[], name: string) => {
    const at = lines.indexOf(`  ${name} {`);
    return at < 0 ? undefined : lines[at + 1].trim();
  };

  it('of rigs has four connections for each of its rigs, and rigs share 200 accounts', () => {
    const few = linesOf({ members: rigs(200) });
    expect(limits(few, 'rigs-0')).toBe('limits { max_connections: 4, max_subscriptions: 16 }');
    expect(limits(few, 'rigs-199')).toBe('limits { max_connections: 4, max_subscriptions: 16 }');
    const more = linesOf({ members: rigs(201) });
    expect(limits(more, 'rigs-0')).toBe('limits { max_connections: 8, max_subscriptions: 16 }');
    expect(limits(more, 'rigs-200')).toBeUndefined();
  });

  it('of coordinators on a leaf node has the subscriptions of a whole site', () => {
    expect(limits(linesOf(), COORDINATORS)).toBe('limits { max_subscriptions: 16 }');
    expect(limits(linesOf({ hub: others }), COORDINATORS)).toBe('limits { max_subscriptions: 100000 }');
  });

  it.each([0, 1, 2])('of operators has sixteen connections for each, and for one at least: %i', (count) => {
    const members = Array.from({ length: count }, (_, number) => member('operator', number));
    expect(limits(linesOf({ members }), 'operators')).toBe(
      `limits { max_connections: ${16 * Math.max(1, count)}, max_subscriptions: 16 }`,
    );
  });

  it('of coordinators admits nobody on a server without any user', () => {
    const nobody = (lines: readonly string[]) => lines.some((line) => line.includes('user: "nobody"'));
    expect(nobody(linesOf({ members: [] }))).toBe(true);
    expect(nobody(linesOf({ members: [member('rig', 1)] }))).toBe(false);
    expect(nobody(linesOf({ members: [], leaves: { listen: '0.0.0.0:7422', secret: 's' } }))).toBe(false);
  });
});

it('a server takes as many connections as the accounts of its members may make, and many others', () => {
  expect(mostConnections([])).toBe(65_536);
  expect(mostConnections(rigs(15_360))).toBe(65_536);
  expect(mostConnections(rigs(15_361))).toBe(65_540);
  expect(mostConnections([...rigs(15_360), member('operator', 1), member('coordinator', 2)])).toBe(65_552);
});

it('texts in a configuration cannot end it', () => {
  expect(quoted('a"b\\c')).toBe('"a\\"b\\\\c"');
  expect(() => quoted('a\nb')).toThrow(RangeError);
});
