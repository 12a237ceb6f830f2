/** Runs a command that reads the ledger with a client of the first configured node. */

import { EXIT } from '../../../app/exit-codes.ts';
import { openNodeApi } from '../../../app/node-api.ts';
import type { Loaded } from '../../../config/load.ts';
import { LedgerFormatError } from '../../../ledger/errors.ts';
import { ApiError } from '../../../node/api/api-error.ts';
import type { NodeApi, NodeApiSurroundings } from '../../../node/api/node-api.ts';
import { oneLine } from '../../../text/one-line.ts';

const SIDES = 'Its service URL is --node, and its P2P URL is --peer-url.';

/** @returns the exit code @throws UsageError when no node is configured */
export function withNode(loaded: Loaded, act: (api: NodeApi) => Promise<void>): Promise<number> {
  return withApi(loaded, async (api) => {
    await act(api);
    return EXIT.done;
  });
}

/**
 * @param act returns the exit code
 * @param surroundings what the client uses from outside
 * @throws UsageError when no node is configured
 */
export async function withApi(
  { config }: Loaded,
  act: (api: NodeApi) => Promise<number>,
  surroundings: NodeApiSurroundings = {},
): Promise<number> {
  try {
    const api = await openNodeApi(config, surroundings);
    try {
      return await act(api);
    } finally {
      await api.close();
    }
  } catch (fault) {
    if (!(fault instanceof ApiError || fault instanceof LedgerFormatError)) throw fault;
    const hint = fault instanceof ApiError && fault.kind === 'no such side' ? ` ${SIDES}` : '';
    process.stderr.write(`error: ${oneLine(fault.message)}${hint}\n`);
    return EXIT.failed;
  }
}
