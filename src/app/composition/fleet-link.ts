/** Makes the link of a rig, a coordinator or an operator to the NATS servers of its fleet, from the settings. */

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from '../../base/system/clock.ts';
import { readCredentials } from '../../fleet/nats/credentials.ts';
import type { Link } from '../../fleet/nats/link.ts';
import { NatsLink } from '../../fleet/nats/nats-link.ts';
import { FleetSubjects, MOST_NAME } from '../../fleet/subjects.ts';
import type { Config } from '../config/settings.ts';
import { certificatesIn, secretTextIn } from '../nodes/node-clients.ts';
import { orUsageError, UsageError } from '../process/exit.ts';

export interface FleetMember {
  /** Name of the rig, coordinator or operator's machine: the setting, or else the host's name. */
  readonly name: string;
  /** 16 random hex digits, which distinguish this process from others of the same name. */
  readonly instance: string;
  readonly subjects: FleetSubjects;
  readonly link: Link;
}

/** A member with its connection, which the caller opens and closes. */
export interface LinkedMember extends FleetMember {
  /** The connection to the NATS servers. It is made after `open`, and again after each loss, until `close`. */
  readonly link: NatsLink;
}

export const NO_SERVER = 'No NATS server is configured. Give one with --nats nats://HOST:4222.';

/**
 * @param warn called with a sentence about a problem, for example when the server denies a subject
 * @param kind decides the subject for answers: operators have other inboxes than rigs and coordinators
 * @throws UsageError when no server is configured, or when the credentials or the certificates cannot be used
 */
export function fleetMember(
  { nats, rig }: Pick<Config, 'nats' | 'rig'>,
  warn: (line: string) => void,
  kind: 'rig or coordinator' | 'operator' = 'rig or coordinator',
): LinkedMember {
  const { urls, credentialsFile, caFile, subject } = nats;
  if (urls === undefined) throw new UsageError(NO_SERVER);
  const name = rig.name ?? hostname().slice(0, MOST_NAME);
  const subjects = new FleetSubjects(subject);
  const settings = {
    servers: urls,
    ...(credentialsFile !== undefined && { credentials: credentialsIn(credentialsFile) }),
    ...(caFile !== undefined && { authorities: certificatesIn(caFile, '--nats-ca-file') }),
    name,
    inbox: kind === 'operator' ? subjects.operatorInbox(name) : subjects.inbox(name),
  };
  const link = new NatsLink(settings, { clock: systemClock, random: Math.random, warn });
  return { name, instance: randomBytes(8).toString('hex'), subjects, link };
}

function credentialsIn(file: string) {
  const text = secretTextIn(file, '--nats-credentials');
  return orUsageError(
    () => readCredentials(text),
    (why) => `--nats-credentials: ${file} cannot be used: ${why}.`,
  );
}
