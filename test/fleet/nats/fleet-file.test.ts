import { describe, expect, it } from 'vitest';
import { FleetFile, newFleet, termsOf } from '#pickaxe/fleet/nats/fleet-file.js';

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
