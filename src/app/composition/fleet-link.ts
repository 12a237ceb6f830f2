/** Makes the link of a fleet's member to its NATS servers from the settings. */

import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { systemClock } from '../../base/system/clock.ts';
import { FleetSubjects, MOST_NAME } from '../../fleet/messages.ts';
import { readCredentials } from '../../fleet/nats/credentials.ts';
import { NatsLink } from '../../fleet/nats/nats-link.ts';
import type { Config } from '../config/settings.ts';
import { certificatesIn, secretTextIn } from '../nodes/node-clients.ts';
import { orUsageError, UsageError } from '../process/exit.ts';

export interface FleetMember {
  /** The name of the rig or coordinator. */
  readonly name: string;
  /** 16 hex digits, chosen at random. */
  readonly instance: string;
  readonly subjects: FleetSubjects;
  /** Connects after `open`, and again after each loss, until `close`. */
  readonly link: NatsLink;
}

export const NO_SERVER = 'No NATS server is configured. Give one with --nats nats://HOST:4222.';

/**
 * @param warn called with a sentence about each subject that the server denies
 * @param kind decides the inbox: those of operators are apart from those of rigs and coordinators
 * @throws UsageError without servers, or when the credentials or the certificates cannot be used
 */
export function fleetMember(
  { nats, rig }: Pick<Config, 'nats' | 'rig'>,
  warn: (line: string) => void,
  kind: 'rig or coordinator' | 'operator' = 'rig or coordinator',
): FleetMember {
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
