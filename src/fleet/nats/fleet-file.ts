/** The contents of `fleet.json`: the members of a fleet, and the settings of its NATS servers. */

import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { memberName } from '../messages.ts';
import { isPublicKey, makeCredentials } from './credentials.ts';
import { ROLES, type Role, type Member as ServerMember } from './server-accounts.ts';
import type { ServerTerms, TlsFiles } from './server-config.ts';

const path = z.string().min(1).max(4_096);
const address = z.string().min(1).max(300);
const secret = z.string().regex(/^[\da-f]{48}$/);
const MOST_MEMBERS = 100_000;
const MOST_SERVERS = 64;

const Member = z.strictObject({
  name: memberName,
  role: z.enum(ROLES),
  publicKey: z.string().refine(isPublicKey, 'is not the public key of a user'),
  /** Present if the member was revoked. A new member, with another key, may have the name of a revoked member. */
  revoked: z.literal(true).exactOptional(),
});
type Member = z.infer<typeof Member>;

export const FleetFile = z.strictObject({
  format: z.literal(1),
  /** First part of all subjects. */
  subject: z.string().regex(/^[\w-]{1,32}(?:\.[\w-]{1,32}){0,3}$/),
  listen: address,
  tls: z.strictObject({ cert: path, key: path, ca: path.exactOptional() }).exactOptional(),
  /** `HOST:PORT` of each server of the cluster, to which the other servers connect. Absent without a cluster. */
  cluster: z.array(address).max(MOST_SERVERS).exactOptional(),
  /** `HOST:PORT` of the servers to which leaf nodes of other sites connect. Absent if there are no leaf nodes. */
  leaves: z.array(address).max(MOST_SERVERS).exactOptional(),
  /** The secret with which the cluster's servers connect to each other: 24 bytes, in hex. */
  clusterSecret: secret,
  /** The secret with which leaf nodes connect: 24 bytes, in hex. */
  leafSecret: secret,
  members: z.array(Member).max(MOST_MEMBERS),
});
export type FleetFile = z.infer<typeof FleetFile>;

export function newFleet(): FleetFile {
  const secret = () => randomBytes(24).toString('hex');
  return {
    format: 1,
    subject: 'pickaxe',
    listen: '0.0.0.0:4222',
    clusterSecret: secret(),
    leafSecret: secret(),
    members: [],
  };
}

interface NewMember extends Omit<ServerMember, 'number'> {
  readonly seed: string;
}

/** The members cannot be added or revoked as wanted. The message is for people. */
export class MemberError extends Error {
  override readonly name = 'MemberError';
}

/**
 * Adds the wanted members. If one of them exists already, it stays as it is.
 * @returns the fleet with all members, and the new members with their seeds
 * @throws MemberError if a member of the same name has another role, if a name differs from another member's name only
 *   in case or Unicode form, or if there are too many members
 */
export function addMembers(fleet: FleetFile, wanted: readonly { readonly name: string; readonly role: Role }[]) {
  const known = new Map<string, Pick<Member, 'name' | 'role'>>();
  for (const member of fleet.members) if (!member.revoked) known.set(folded(member.name), member);
  const added: NewMember[] = [];
  for (const { name, role } of wanted) {
    const same = known.get(folded(name));
    if (same === undefined) {
      const { seed, publicKey } = makeCredentials();
      added.push({ name, role, publicKey, seed });
      known.set(folded(name), { name, role });
    } else if (same.name !== name) {
      throw new MemberError(`${name} and ${same.name} are hard to tell apart: choose another name.`);
    } else if (same.role !== role) {
      throw new MemberError(
        `${name} is the name of a member that is a ${same.role}: each member has a name of its own.`,
      );
    }
  }
  const members = [...fleet.members, ...added.map(({ seed: _, ...member }) => member)];
  if (members.length > MOST_MEMBERS) throw new MemberError(`a fleet has at most ${MOST_MEMBERS} members.`);
  return { fleet: { ...fleet, members }, added };
}

/** @returns the fleet, with these members revoked @throws MemberError if one of the names is not a member's name */
export function revokeMembers(fleet: FleetFile, names: readonly string[]): FleetFile {
  const unknown = names.find((name) => !fleet.members.some((each) => each.name === name));
  if (unknown !== undefined) throw new MemberError(`there is no member ${unknown}.`);
  const members = fleet.members.map((each) => (names.includes(each.name) ? { ...each, revoked: true as const } : each));
  return { ...fleet, members };
}

/**
 * @returns the same text for names that differ only in case or in their Unicode form. Such names look alike, and on
 *   some systems the members would have the same credentials file
 */
function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** @param place the servers that need the terms: `cluster` for those of the cluster, `leaf` for those of other sites */
export function termsOf(fleet: FleetFile, place: 'cluster' | 'leaf'): ServerTerms {
  const { subject, listen, cluster, leaves, clusterSecret, leafSecret } = fleet;
  // The position of a member in the list is its number: members are only added at the end, and never removed.
  const numbered = fleet.members.map((member, number) => ({ ...member, number }));
  const members = numbered.filter(({ revoked }) => !revoked);
  const tls: TlsFiles | undefined = fleet.tls;
  const common = { subject, members, listen, tls };
  if (place === 'leaf') return { ...common, ...(leaves && { hub: { servers: leaves, secret: leafSecret } }) };
  return {
    ...common,
    ...(cluster && { cluster: { listen: onAllAddresses(cluster), servers: cluster, secret: clusterSecret } }),
    ...(leaves && { leaves: { listen: onAllAddresses(leaves), secret: leafSecret } }),
  };
}

/**
 * All servers of a cluster have the same configuration, which therefore cannot name the address of one server.
 * @returns the address with which each server listens on all its addresses, at the port of the first server
 */
function onAllAddresses([first]: readonly string[]): string {
  return `0.0.0.0:${first.slice(first.lastIndexOf(':') + 1)}`;
}
