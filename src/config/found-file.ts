/**
 * What a project file may not set that nobody named: it was found in the current folder, so it may come from anybody,
 * as with a cloned repository. docs/configuration.md explains the rule under “Which files are trusted”.
 */

import { basename } from 'node:path';
import type { Entry } from './entries.ts';
import { originOf, type PerNode } from './per-node.ts';
import type { Origin, Said, Tables, Valued } from './said.ts';
import { ENTRIES } from './settings.ts';

/**
 * @param found what the file says
 * @param origins where each setting's value comes from, by its path, after all places were read
 * @returns a sentence for each thing that the file must not set; empty for a file that was named
 */
export function excessOf(found: Said, origins: ReadonlyMap<string, Origin>): string[] {
  const { unasked, file } = found;
  if (!unasked || file === undefined) return [];
  const remedy = `Give the file with --config ${basename(file)}, or move`;
  const tables = [...new Set(ENTRIES.map(({ table }) => table))];
  return [...forbidden(found, remedy), ...tables.flatMap((table) => mixed(found, table, origins, remedy))];
}

function forbidden({ document, at }: Said, remedy: string): string[] {
  const tables = document as Tables | null;
  const said = ENTRIES.filter(
    ({ table, key, setting }) => setting.needsNaming === true && tables?.[table]?.[key] !== undefined,
  );
  if (said.length === 0) return [];
  const [{ table, key }] = said;
  const names = said.map(({ path }) => path).join(', ');
  return [
    `${at([table, key])}: ${names} cannot be set by a file that was only found here. ${remedy} the setting to your user file.`,
  ];
}

/** The settings about certificates, and those that say to whose URLs they can apply. */
const CERTIFICATES = {
  node: [
    ['node.fingerprints', 'node.ca-files'],
    ['node.urls', 'ledger.peer-url'],
  ],
  pool: [['pool.fingerprints', 'pool.ca-files'], ['pool.urls']],
} as const;

/**
 * Where the user names another node or pool, what the file says about the certificates of its own ones applies to nobody.
 * @param values those of all places, by the settings' paths, where a project file was only found
 * @returns the paths of the file's settings that are to be ignored
 */
export function unusedOf(values: ReadonlyMap<string, Valued>): string[] {
  const isFound = (path: string) => values.get(path)?.origin.layer === 'project';
  return Object.values(CERTIFICATES).flatMap(([certificates, places]) => {
    const [urls] = places;
    if (!values.has(urls) || isFound(urls)) return [];
    const inEffect = places
      .flatMap((path) => (values.get(path)?.value ?? []) as string | readonly string[])
      .map(originOf);
    const canApply = ({ origin }: PerNode) => origin === undefined || inEffect.includes(origin);
    return certificates.filter(
      (path) => isFound(path) && !(values.get(path)!.value as readonly PerNode[]).some(canApply),
    );
  });
}

/** A URL may have a customer's key in it, and a password goes wherever the URL says. */
function isCredential({ key, setting }: Entry): boolean {
  return key === 'urls' || setting.secretFile === true || setting.hidden === true;
}

/** The file may name whom it connects to, unless a password or a URL that counts there is somebody else's. */
function mixed({ at }: Said, table: string, origins: ReadonlyMap<string, Origin>, remedy: string): string[] {
  const inEffect = ENTRIES.filter((entry) => entry.table === table && origins.has(entry.path));
  const isFound = ({ path }: Entry) => origins.get(path)?.layer === 'project';
  const theirs = inEffect.filter((entry) => entry.setting.needsNaming === 'if-mixed' && isFound(entry));
  const yours = inEffect.find((entry) => isCredential(entry) && !isFound(entry));
  if (theirs.length === 0 || yours === undefined) return [];
  const names = theirs.map(({ path }) => path).join(', ');
  const place = origins.get(yours.path)?.where;
  return [
    `${at([table, theirs[0].key])}: ${names} cannot be set by a file that was only found here while ${yours.path} is ` +
      `from ${place}: what is yours could go to somebody else. ${remedy} all of it to one place.`,
  ];
}

/** The settings that say where to mine and who is paid, on nodes and on pools. */
const WHO_IS_PAID = {
  nodes: ['node.urls', 'miner.public-keys', 'miner.account', 'miner.predicate'],
  pools: ['pool.urls', 'pool.user'],
} as const;

/**
 * @param file the name of the file that was found, if one was
 * @returns a sentence for the log, which shows whose settings these are; undefined where none is from such a file
 */
export function foundFileNote(file: string | undefined, origins: ReadonlyMap<string, Origin>): string | undefined {
  const theirs = [...origins].filter(([, { layer }]) => layer === 'project').map(([path]) => path);
  if (file === undefined || theirs.length === 0) return undefined;
  const paid = WHO_IS_PAID[origins.has('pool.urls') ? 'pools' : 'nodes'].filter((path) => theirs.includes(path));
  const who = paid.length > 0 ? `; it says where to mine or who is paid (${paid.join(', ')})` : '';
  return `settings are from ${file}, which was found in this folder${who}`;
}
