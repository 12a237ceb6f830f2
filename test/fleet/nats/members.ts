/** The members of a fleet with the configuration of its servers, and their connections. */

import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import * as nkeys from '@nats-io/nkeys';
import { expect, onTestFinished, vi } from 'vitest';
import { makeCredentials } from '#pickaxe/fleet/nats/credentials.js';
import type { Credentials, LinkError } from '#pickaxe/fleet/nats/link.js';
import type { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import type { Role } from '#pickaxe/fleet/nats/server-accounts.js';
import { type ServerTerms, serverConfig } from '#pickaxe/fleet/nats/server-config.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';
import { type OpenedLink, openLink } from './links.ts';
import type { TestServer } from './server.ts';

export const subjects = new FleetSubjects('pickaxe');
export const bytes = (text: string) => new TextEncoder().encode(text);
export const never: AbortSignal = new AbortController().signal;
export const until = (check: () => void) => vi.waitFor(check, { timeout: 60_000, interval: 10 });

export const MEMBERS: readonly { name: string; role: Role; number: number; credentials: Credentials }[] = [
  { name: 'rig 1', role: 'rig' as const },
  { name: 'rig2', role: 'rig' as const },
  { name: 'c1', role: 'coordinator' as const },
  { name: 'c2', role: 'coordinator' as const },
  { name: 'boss', role: 'operator' as const },
  { name: 'boss2', role: 'operator' as const },
].map((member, number) => ({ ...member, number, credentials: makeCredentials() }));

const keysOf = (members: typeof MEMBERS) =>
  members.map(({ credentials, ...member }) => ({ ...member, publicKey: credentials.publicKey }));

export const configOf =
  (members: typeof MEMBERS, more: Partial<ServerTerms> = {}) =>
  ({ client }: { client: number }) =>
    serverConfig({ subject: 'pickaxe', members: keysOf(members), listen: `127.0.0.1:${client}`, ...more });

function credentialsOf(name: string): Credentials {
  return MEMBERS.find((each) => each.name === name)!.credentials;
}

/** Does not wait for the connection. */
export function openMember(url: string, name: string): OpenedLink {
  const isOperator = MEMBERS.find((each) => each.name === name)?.role === 'operator';
  const inbox = isOperator ? subjects.operatorInbox(name) : subjects.inbox(name);
  return openLink([url], name, { credentials: credentialsOf(name), inbox });
}

/** @returns a connection over which a member says what no link would */
export async function rawMember(name: string, { ports }: TestServer): Promise<Socket> {
  const { seed, publicKey } = credentialsOf(name);
  const socket = connectTcp({ host: '127.0.0.1', port: ports.client });
  onTestFinished(() => void socket.destroy());
  const [first] = await once(socket, 'data');
  const { nonce } = JSON.parse(`${first}`.slice(5));
  const sig = nkeys.encode(nkeys.fromSeed(bytes(seed)).sign(bytes(nonce)));
  socket.write(`CONNECT ${JSON.stringify({ nkey: publicKey, sig, verbose: false })}\r\n`);
  return socket;
}

/** The server takes what a link sends in its order, and answers this request when it has taken everything before. */
export async function settled(link: NatsLink, own: string): Promise<void> {
  const fault = await link.request(own, bytes('?'), 60_000, never).catch((thrown: LinkError) => thrown.fault);
  expect(['no-responders', 'denied']).toContain(fault);
}
