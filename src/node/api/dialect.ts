/**
 * The two dialects of the API: the words of documents 1 and 2, and those of real nodes (`chainweb`). They differ in paths and in
 * names of fields and headers. Answers are read in either; only what is sent depends on the dialect.
 */

import type { Dialect } from '../../ledger/header-json.ts';
import type { NodeAddress } from '../url.ts';

/** `auto` goes by the node's URL, and otherwise by the headers of its answers. */
export type DialectSetting = 'auto' | Dialect;

/** An answer's headers, with names in lower case. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

const SEGMENT = { document: 'ledger', chainweb: 'chainweb' } as const;

/** Document 2 leaves this path out. That of real nodes is known, and that of the other dialect is derived from it. */
const COMMAND_PATH = {
  document: 'chain/<chain>/flow/api/v1',
  chainweb: 'chain/<chain>/pact/api/v1',
} as const;

/** The headers in which a node names the version of its software (document 1, "Conventions", 4). */
const VERSION_HEADER = { document: 'x-ledger-node-version', chainweb: 'x-chainweb-node-version' } as const;

/** @returns the dialect of a URL whose path names it; undefined for other URLs */
export function dialectOfAddress({ basePath, isPathGiven }: NodeAddress): Dialect | undefined {
  if (!isPathGiven) return undefined;
  if (basePath.includes(`/${SEGMENT.chainweb}/0.0/`)) return 'chainweb';
  return basePath.includes(`/${SEGMENT.document}/0.0/`) ? 'document' : undefined;
}

/** @returns the dialect of the node that has answered; undefined when the answer does not show it */
export function dialectOfHeaders(headers: Headers): Dialect | undefined {
  if (headers[VERSION_HEADER.chainweb] !== undefined) return 'chainweb';
  return headers[VERSION_HEADER.document] !== undefined ? 'document' : undefined;
}

/** @returns the version of the node's software, as it says; foreign text */
export function nodeVersionIn(headers: Headers): string | undefined {
  const value = headers[VERSION_HEADER.chainweb] ?? headers[VERSION_HEADER.document];
  return typeof value === 'string' ? value : undefined;
}

/** @returns the path of the API of a URL that names none */
export function basePathOf(dialect: Dialect, network: string): string {
  return `/${SEGMENT[dialect]}/0.0/${network}`;
}

/** The command API of a node (document 2), for one chain. */
export interface CommandPaths {
  /** What precedes `/local`, `/send`, `/poll`, `/listen` and `/private`. */
  readonly commands: string;
  /** The path of `/spv`, which real nodes serve without `api/v1`. */
  readonly proofs: string;
}

/**
 * @param commandPath as `chain/<chain>/pact/api/v1`, below the path of the API, or with a slash in front, as `/api/v1` of a
 * stand-alone server, from the host root; the dialect's by default
 */
export function commandPathsOf(dialect: Dialect, chain: number, commandPath?: string): CommandPaths {
  const commands = (commandPath ?? COMMAND_PATH[dialect]).replaceAll('<chain>', `${chain}`).replace(/\/+$/, '');
  return { commands, proofs: `${commands.replace(/(.)\/api\/v1$/, '$1')}/spv` };
}
