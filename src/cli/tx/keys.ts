/** The request keys that a command line names, directly or by files of commands. */

import { UsageError } from '../../app/exit-codes.ts';
import type { Subject } from '../../app/nodes-in-turn.ts';
import { readBatch } from './batch.ts';
import { readInput } from './files.ts';
import type { Io } from './io.ts';

export interface Asked extends Subject {
  readonly requestKeys: readonly string[];
  readonly chain: number;
  /** When the commands are no longer taken: milliseconds since 1970; undefined where that is not known. */
  readonly endsMs: number | undefined;
}

const REQUEST_KEY = /^[\w-]{43}$/;

/**
 * @param what a request key, or the file of commands
 * @param chain null: as the commands say
 * @throws UsageError or RequestFileError for a file that cannot be used, and for a key without a chain.
 */
export async function readAsked(what: string, chain: number | null, io: Pick<Io, 'read'>): Promise<Asked> {
  if (!REQUEST_KEY.test(what)) {
    const batch = readBatch(await readInput(what, io), { chain, signed: false });
    return { ...batch, requestKeys: batch.commands.map(({ hash }) => hash) };
  }
  if (chain === null) throw new UsageError('A request key does not name its chain: add --chain N.');
  return { name: what, network: null, requestKeys: [what], chain, endsMs: undefined };
}
