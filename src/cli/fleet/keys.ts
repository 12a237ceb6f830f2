/** `pickaxe fleet keys`: makes a seed for each member of a fleet, and the configuration of the fleet's NATS servers. */

import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { natsSubject, rigName } from '../../app/config/setting-types/rig.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { renameFileSync } from '../../base/system/files.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import { addMembers, FleetFile, MemberError, newFleet, revokeMembers, termsOf } from '../../fleet/nats/fleet-file.ts';
import type { Role } from '../../fleet/nats/server-accounts.ts';
import { MADE_BY, serverConfig } from '../../fleet/nats/server-config.ts';
import { token } from '../../fleet/subjects.ts';
import type { Io, Line } from '../io.ts';
import { createFile, SECRET_MODE } from '../setup/keygen.ts';
import { collect } from '../usage/options.ts';

const FLEET = 'fleet.json';
const CONFIG = 'nats-server.conf';
const LEAF_CONFIG = 'nats-leaf.conf';
const FOLDER_MODE = 0o700;
/** Maximum length of a file's name, in bytes, on most systems. */
const MOST_FILE_NAME = 255;
/** Maximum number of new members that are listed. */
const MOST_LISTED = 20;
const PORTS = { client: 4222, route: 6222, leaf: 7422 } as const;

interface Options {
  readonly rig?: readonly string[];
  readonly rigs?: string;
  readonly coordinator?: readonly string[];
  readonly operator?: readonly string[];
  readonly revoke?: readonly string[];
  readonly listen?: string;
  readonly subject?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
  readonly cluster?: readonly string[];
  readonly leaves?: readonly string[];
}

export function declareKeys(fleet: Command, { io, action }: Line): void {
  fleet
    .command('keys')
    .description('make the accounts of rigs, coordinators and operators, and the configuration of their NATS servers')
    .argument('<folder>', 'folder for the accounts, made if it is not there; run this again to add or revoke members')
    .option('--rig <name>', 'a rig, by its --rig-name; repeat for several', collect)
    .option('--rigs <file>', 'file with the names of rigs, one on each line')
    .option('--coordinator <name>', 'a coordinator, by its --rig-name; repeat for several', collect)
    .option('--operator <name>', 'who watches and steers the rigs with pickaxe fleet; repeat for several', collect)
    .option('--revoke <name>', 'a member that shall no longer connect; repeat for several', collect)
    .option('--listen <address>', `where the servers listen for members (default: 0.0.0.0:${PORTS.client})`)
    .option('--subject <name>', 'first part of the subjects (default: pickaxe)')
    .option('--tls-cert <file>', 'certificate of the servers, as a PEM file on their machines')
    .option('--tls-key <file>', 'its key')
    .option('--tls-ca <file>', 'the authority of the servers’ certificates, where it is one of your own')
    .option('--cluster <host>', 'a server of a cluster, with all others; repeat for each', collect)
    .option('--leaves <host>', 'a server that takes leaf nodes of other sites; repeat for several', collect)
    .action(action((folder, options) => runKeys(folder, options, io)));
}

function runKeys(folder: string, options: Options, io: Io): number {
  const before = readFleet(folder);
  const names = membersOf(options);
  const { fleet, added } = orMemberError(() => {
    const revoked = revokeMembers(withTerms(before ?? newFleet(), options), options.revoke ?? []);
    return addMembers(revoked, names);
  });
  const configs = configsOf(fleet);
  prepareFolder(folder, before !== undefined);
  checkOwn(folder, CONFIG);
  checkOwn(folder, LEAF_CONFIG);
  const revoked = (options.revoke ?? []).map((name) => seedFile(folder, name));
  // Before anything is written, the paths of the new seeds are checked for existing files.
  const inTheWay = added
    .map(({ name }) => seedFile(folder, name))
    .find((file) => exists(file) && !revoked.includes(file));
  if (inTheWay !== undefined) {
    throw new UsageError(`${inTheWay} exists, but ${join(folder, FLEET)} does not know it: move it elsewhere.`);
  }
  for (const file of revoked) rmSync(file, { force: true });
  for (const { name, seed } of added) createFile(seedFile(folder, name), `${seed}\n`, SECRET_MODE);
  replaceFile(join(folder, FLEET), `${JSON.stringify(fleet, undefined, 2)}\n`);
  for (const [name, text] of configs) replaceFile(join(folder, name), text);
  io.out(report(folder, fleet, added, options.revoke ?? [], before !== undefined));
  return EXIT.done;
}

/** @returns the configuration files @throws UsageError if the path of a certificate or a key has control characters */
function configsOf(fleet: FleetFile): [name: string, text: string][] {
  try {
    return [
      [CONFIG, serverConfig(termsOf(fleet, 'cluster'))],
      ...(fleet.leaves ? [[LEAF_CONFIG, serverConfig(termsOf(fleet, 'leaf'))] as [string, string]] : []),
    ];
  } catch (fault) {
    if (fault instanceof RangeError) throw new UsageError('The path of a certificate or key has control characters.');
    throw fault;
  }
}

/* These functions check the options. */

function membersOf(options: Options): { name: string; role: Role }[] {
  const rigs = [...(options.rig ?? []), ...(options.rigs === undefined ? [] : namesIn(options.rigs))];
  const of = (role: Role, names: readonly string[] = []) => names.map((name) => ({ name: checkedName(name), role }));
  return [...of('rig', rigs), ...of('coordinator', options.coordinator), ...of('operator', options.operator)];
}

function checkedName(name: string): string {
  const shown = oneLine(JSON.stringify(name), 80);
  if (rigName.schema(z).safeParse(name).success) {
    if (seedFile('', name).length <= MOST_FILE_NAME) return name;
    throw new UsageError(
      `${shown} is too long for the name of a seed’s file: give fewer characters, or A to Z and digits.`,
    );
  }
  throw new UsageError(`${shown} is no name of a member: that has 1 to 64 characters that one can see.`);
}

/** @returns the names in a file, which has one name on each line. Lines that begin with # are comments */
function namesIn(file: string): string[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (fault) {
    throw new UsageError(`--rigs: ${file} cannot be read: ${(fault as Error).message}`);
  }
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('#'));
}

function withTerms(fleet: FleetFile, options: Options): FleetFile {
  const { listen, subject, tlsCert, tlsKey, tlsCa, cluster, leaves } = options;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new UsageError('--tls-cert and --tls-key belong together.');
  if (tlsCa !== undefined && tlsCert === undefined) throw new UsageError('--tls-ca needs --tls-cert and --tls-key.');
  return {
    ...fleet,
    ...(listen !== undefined && { listen: addressOf(listen, PORTS.client, '--listen') }),
    ...(subject !== undefined && { subject: checkedSubject(subject) }),
    ...(tlsCert !== undefined &&
      tlsKey !== undefined && { tls: { cert: tlsCert, key: tlsKey, ...(tlsCa !== undefined && { ca: tlsCa }) } }),
    ...(cluster && { cluster: addressesOf(cluster, PORTS.route, '--cluster') }),
    ...(leaves && { leaves: addressesOf(leaves, PORTS.leaf, '--leaves') }),
  };
}

function checkedSubject(text: string): string {
  if (natsSubject.schema(z).safeParse(text).success) return text;
  throw new UsageError(`--subject: ${natsSubject.hint}`);
}

const ADDRESS = /^([\w.-]+|\[[\da-f:.]+\])(?::(\d{1,5}))?$/i;

function addressOf(text: string, defaultPort: number, option: string): string {
  const [, host, digits = `${defaultPort}`] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new UsageError(
      `${option}: give a host, or HOST:PORT, like 10.0.0.2:${defaultPort}, not ${oneLine(text, 80)}.`,
    );
  }
  return `${host}:${port}`;
}

/** All servers have the same configuration, so the ports must be equal. @throws UsageError if ports differ */
function addressesOf(texts: readonly string[], defaultPort: number, option: string): string[] {
  const addresses = texts.map((text) => addressOf(text, defaultPort, option));
  const ports = new Set(addresses.map((each) => each.slice(each.lastIndexOf(':'))));
  if (ports.size > 1) throw new UsageError(`${option}: all servers have the same port there.`);
  return [...new Set(addresses)];
}

/* These functions read and write the files of the folder. */

/** @returns undefined if the folder has no fleet.json yet */
function readFleet(folder: string): FleetFile | undefined {
  const file = join(folder, FLEET);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file} cannot be read: ${(fault as Error).message}`);
  }
  try {
    return FleetFile.parse(JSON.parse(text));
  } catch {
    throw new UsageError(
      `${file} is damaged, or another version of pickaxe wrote it. Restore it from a copy: without it, members would lose their accounts.`,
    );
  }
}

/**
 * Makes the folder if it does not exist. Then lets only the folder's owner read it.
 * @param isOwn whether the folder already has a fleet.json
 * @throws UsageError if the folder cannot be used, or if it has files, but no fleet.json, and is open to other users
 */
function prepareFolder(folder: string, isOwn: boolean): void {
  try {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    if (
      !isOwn &&
      readdirSync(folder).length > 0 &&
      (statSync(folder).mode & 0o077) !== 0 &&
      process.platform !== 'win32'
    ) {
      throw new UsageError(
        `${folder} has other files, and others may look into it: give a new folder, or call chmod 700 ${folder}.`,
      );
    }
    chmodSync(folder, FOLDER_MODE);
  } catch (fault) {
    if (fault instanceof UsageError) throw fault;
    throw new UsageError(`The folder ${folder} cannot be used: ${(fault as Error).message}`);
  }
}

/** @throws UsageError if the file exists, but pickaxe has not written it */
function checkOwn(folder: string, name: string): void {
  const file = join(folder, name);
  if (exists(file) && !readFileSync(file, 'utf8').startsWith(MADE_BY)) {
    throw new UsageError(`${file} is not of pickaxe fleet keys, and stays as it is: move it elsewhere.`);
  }
}

function exists(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false }) !== undefined;
}

function seedFile(folder: string, name: string): string {
  return join(folder, `${token(name)}.nk`);
}

function replaceFile(file: string, text: string): void {
  const unfinished = `${file}.${randomBytes(6).toString('hex')}.unfinished`;
  try {
    writeFileSync(unfinished, text, { flag: 'wx', mode: SECRET_MODE });
    renameFileSync(unfinished, file);
  } catch (fault) {
    rmSync(unfinished, { force: true });
    throw new UsageError(`${file} cannot be written: ${(fault as Error).message}`);
  }
}

function orMemberError<T>(act: () => T): T {
  try {
    return act();
  } catch (fault) {
    throw fault instanceof MemberError ? new UsageError(oneLine(fault.message)) : fault;
  }
}

/* The report that the command prints. */

const COMMAND: Record<Role, string> = { rig: 'mine', coordinator: 'coordinate', operator: 'fleet' };

function report(
  folder: string,
  fleet: FleetFile,
  added: readonly { readonly name: string; readonly role: Role }[],
  revoked: readonly string[],
  isChange: boolean,
): string {
  const active = fleet.members.filter((each) => !each.revoked);
  const count = (role: Role) => {
    const number = active.filter((each) => each.role === role).length;
    return `${number} ${role}${number === 1 ? '' : 's'}`;
  };
  const lines = [`${folder}: ${count('rig')}, ${count('coordinator')}, ${count('operator')}`];
  for (const { name, role } of added.slice(0, MOST_LISTED))
    lines.push(`  new ${role} ${oneLine(name)}: ${seedFile(folder, name)}`);
  if (added.length > MOST_LISTED) lines.push(`  and ${added.length - MOST_LISTED} more`);
  for (const name of revoked) lines.push(`  revoked: ${oneLine(name)}; its seed is worthless, and was removed here`);
  lines.push('', `On each server: copy ${join(folder, CONFIG)} to it, where only the server may read it. Then:`);
  lines.push(
    isChange
      ? '  nats-server --signal reload      (or systemctl reload nats-server)'
      : `  nats-server -c ${CONFIG}      (when it changes: nats-server --signal reload)`,
  );
  if (isChange && revoked.length > 0) lines.push('  Until then, a revoked member stays connected.');
  if (fleet.leaves) lines.push(`On servers of other sites: the same with ${join(folder, LEAF_CONFIG)}.`);
  const example = added.find(({ role }) => role === 'rig') ?? added[0];
  if (example) {
    const seed = `${token(example.name)}.nk`;
    const name = oneLine(example.name);
    const word = /^[\w-]+$/.test(name) ? name : `"${name}"`;
    const url = `${fleet.tls ? 'tls' : 'nats'}://SERVER:${fleet.listen.slice(fleet.listen.lastIndexOf(':') + 1)}`;
    lines.push('', `On each new member: move its own seed to it, and nobody else’s. For example on ${name}:`);
    const subject = fleet.subject === 'pickaxe' ? '' : ` --nats-subject ${fleet.subject}`;
    lines.push(
      `  pickaxe ${COMMAND[example.role]} --nats ${url} --nats-credentials ${seed} --rig-name ${word}${subject}`,
    );
  }
  lines.push('', `Keep ${join(folder, FLEET)} here: it is needed to add and revoke members.`);
  return `${lines.join('\n')}\n`;
}
