import { describe, expect, it } from 'vitest';
import { makeCredentials } from '#pickaxe/fleet/nats/credentials.js';
import {
  addMembers,
  FleetFile,
  MemberError,
  newFleet,
  revokeMembers,
  termsOf,
} from '#pickaxe/fleet/nats/fleet-file.js';

const SECRETS = { clusterSecret: 'c'.repeat(48), leafSecret: 'd'.repeat(48) };
const cluster = ['one.example:6222', '[2001:db8::1]:7000'];
const leaves = ['two.example:7422', 'three.example:7423'];
const tls = { cert: 'cert.pem', key: 'key.pem' };
const fleet = (more: Partial<FleetFile> = {}): FleetFile => ({ ...newFleet(), ...SECRETS, ...more });
const COMMON = { subject: 'pickaxe', members: [], listen: '0.0.0.0:4222', tls: undefined };

describe('the terms of a server', () => {
  it.each<{ what: string; place: 'cluster' | 'leaf'; more: Partial<FleetFile>; terms: object }>([
    { what: 'a single server', place: 'cluster', more: {}, terms: COMMON },
    { what: 'a single server with TLS', place: 'cluster', more: { tls }, terms: { ...COMMON, tls } },
    {
      what: 'a server of a cluster',
      place: 'cluster',
      more: { cluster },
      terms: { ...COMMON, cluster: { listen: '0.0.0.0:6222', servers: cluster, secret: SECRETS.clusterSecret } },
    },
    {
      what: 'a single server with leaf nodes',
      place: 'cluster',
      more: { leaves },
      terms: { ...COMMON, leaves: { listen: '0.0.0.0:7422', secret: SECRETS.leafSecret } },
    },
    {
      what: 'a server of a cluster with leaf nodes',
      place: 'cluster',
      more: { cluster, leaves },
      terms: {
        ...COMMON,
        cluster: { listen: '0.0.0.0:6222', servers: cluster, secret: SECRETS.clusterSecret },
        leaves: { listen: '0.0.0.0:7422', secret: SECRETS.leafSecret },
      },
    },
    {
      what: 'a leaf node',
      place: 'leaf',
      more: { cluster, leaves, tls },
      terms: { ...COMMON, tls, hub: { servers: leaves, secret: SECRETS.leafSecret } },
    },
    { what: 'a leaf node without a hub', place: 'leaf', more: { cluster }, terms: COMMON },
  ])('are those of $what', ({ place, more, terms }) => {
    expect(termsOf(fleet(more), place)).toStrictEqual(terms);
    expect(FleetFile.parse(fleet(more))).toEqual(fleet(more));
  });

  it('have the members that are not revoked, with their places in the list as numbers', () => {
    const member = (name: string) => ({ name, role: 'rig' as const, publicKey: `U${name}` });
    const members = [member('a'), { ...member('b'), revoked: true as const }, member('c')];
    for (const place of ['cluster', 'leaf'] as const) {
      expect(termsOf(fleet({ members }), place).members).toEqual([
        { ...member('a'), number: 0 },
        { ...member('c'), number: 2 },
      ]);
    }
  });
});

describe('a file of a fleet', () => {
  const { publicKey } = makeCredentials();
  const MEMBER = { name: 'a', role: 'rig', publicKey };
  const path = (length: number) => 'x'.repeat(length);
  const list = (length: number, item: unknown) => Array.from({ length }, () => item);
  const withTls = (more: object) => ({ tls: { ...tls, ...more } });
  const withMember = (more: object) => ({ members: [{ ...MEMBER, ...more }] });

  it.each<[what: string, fits: object, exceeds: object]>([
    ['its format', { format: 1 }, { format: 2 }],
    ['a part of the subject', { subject: 'x'.repeat(32) }, { subject: 'x'.repeat(33) }],
    ['the parts of the subject', { subject: 'a.b.c.d' }, { subject: 'a.b.c.d.e' }],
    ['an empty part of the subject', { subject: 'a.b' }, { subject: 'a..b' }],
    ['the address', { listen: path(300) }, { listen: path(301) }],
    ['an empty address', { listen: 'x' }, { listen: '' }],
    ['the path of the certificate', withTls({ cert: path(4_096) }), withTls({ cert: path(4_097) })],
    ['the path of the key', withTls({ key: path(1) }), withTls({ key: '' })],
    ['the path of the authority', withTls({ ca: path(4_096) }), withTls({ ca: path(4_097) })],
    ['the servers of the cluster', { cluster: list(64, 'a:1') }, { cluster: list(65, 'a:1') }],
    ['the servers for leaf nodes', { leaves: list(64, 'a:1') }, { leaves: list(65, 'a:1') }],
    ['the secret of the cluster', { clusterSecret: 'a'.repeat(48) }, { clusterSecret: 'a'.repeat(47) }],
    ['the secret of leaf nodes', { leafSecret: 'a'.repeat(48) }, { leafSecret: 'a'.repeat(49) }],
    ['the name of a member', withMember({ name: 'x'.repeat(64) }), withMember({ name: 'x'.repeat(65) })],
    ['the role of a member', withMember({ role: 'operator' }), withMember({ role: 'owner' })],
    ['the key of a member', withMember({}), withMember({ publicKey: `${publicKey}A` })],
    ['the mark of a revoked member', withMember({ revoked: true }), withMember({ revoked: false })],
    ['its fields', {}, { more: 1 }],
  ])('has a limit: %s', (_, fits, exceeds) => {
    const isFile = (more: object) => FleetFile.safeParse({ ...fleet(), ...more }).success;
    expect([isFile(fits), isFile(exceeds)]).toEqual([true, false]);
  });

  it('that is new has two secrets, and no members', () => {
    const made = newFleet();
    expect(made).toEqual({ ...fleet(), clusterSecret: made.clusterSecret, leafSecret: made.leafSecret });
    expect(FleetFile.parse(made)).toEqual(made);
    expect(new Set([made.clusterSecret, made.leafSecret, newFleet().clusterSecret]).size).toBe(3);
  });

  it('gets the members that it lacks, once', () => {
    const { fleet: one, added } = addMembers(fleet(), [
      { name: 'a', role: 'rig' },
      { name: 'b', role: 'operator' },
      { name: 'a', role: 'rig' },
    ]);
    expect(added).toEqual([
      { name: 'a', role: 'rig', publicKey: expect.stringMatching(/^U/), seed: expect.stringMatching(/^SU/) },
      { name: 'b', role: 'operator', publicKey: expect.stringMatching(/^U/), seed: expect.stringMatching(/^SU/) },
    ]);
    expect(one.members).toEqual(added.map(({ seed: _, ...member }) => member));
    expect(addMembers(one, [{ name: 'b', role: 'operator' }])).toEqual({ fleet: one, added: [] });
    const gone = revokeMembers(one, ['b']);
    expect(gone.members).toEqual([one.members[0], { ...one.members[1], revoked: true }]);
    // The name of a revoked member is free.
    expect(addMembers(gone, [{ name: 'B', role: 'rig' }]).fleet.members).toHaveLength(3);
  });

  it.each([
    ['A', 'rig', 'A and a are hard to tell apart: choose another name.'],
    ['ａ', 'rig', 'ａ and a are hard to tell apart: choose another name.'],
    ['a', 'operator', 'a is the name of a member that is a rig: each member has a name of its own.'],
  ] as const)('takes no member %s as %s', (name, role, message) => {
    const { fleet: one } = addMembers(fleet(), [{ name: 'a', role: 'rig' }]);
    expect(() => addMembers(one, [{ name, role }])).toThrow(new MemberError(message));
    expect(() =>
      addMembers(fleet(), [
        { name: 'a', role: 'rig' },
        { name, role },
      ]),
    ).toThrow(new MemberError(message));
  });

  it('revokes nobody whom it does not know', () => {
    expect(() => revokeMembers(fleet(), ['a'])).toThrow(new MemberError('there is no member a.'));
  });

  it('has a hundred thousand members at most', () => {
    const members = (length: number) => list(length, { ...MEMBER, revoked: true }) as FleetFile['members'];
    const full = addMembers(fleet({ members: members(99_999) }), [{ name: 'b', role: 'rig' }]).fleet;
    expect(full.members).toHaveLength(100_000);
    expect(() => addMembers(full, [{ name: 'c', role: 'rig' }])).toThrow(
      new MemberError('a fleet has at most 100000 members.'),
    );
  });
});
