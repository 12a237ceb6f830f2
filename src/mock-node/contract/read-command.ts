/** Reads commands with public metadata: only these can be in blocks. */

import { type Command, parseCommand } from '../../ledger/command/command.ts';
import { type Payload, parsePayload, publicMetaOf } from '../../ledger/command/payload.ts';
import type { ExactJson } from '../../ledger/json.ts';

export interface ReadCommand {
  readonly command: Command;
  readonly payload: Payload;
}

/** @throws LedgerFormatError for any other JSON */
export function readCommand(json: ExactJson): ReadCommand {
  const command = parseCommand(json);
  const payload = parsePayload(command.cmd);
  return { command, payload: { ...payload, meta: publicMetaOf(payload.meta) } };
}
