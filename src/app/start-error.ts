/** Writes why pickaxe did not start into the log file. When a mining system starts pickaxe, people see nothing else. */

import { resolve } from 'node:path';
import { openPrivate } from './rotating-file.ts';

/** pino's number for errors. */
const ERROR_LEVEL = 50;

/**
 * Appends one JSON line in the log's format. When the file cannot be written, the message is on stderr only.
 * @param path the log file that a flag or a variable names; undefined when none does
 */
export async function noteStartError(path: string | undefined, message: string): Promise<void> {
  if (path === undefined) return;
  const line = { level: ERROR_LEVEL, time: Date.now(), tag: 'start', msg: message };
  const handle = await openPrivate(resolve(path)).catch(() => undefined);
  await handle?.appendFile(`${JSON.stringify(line)}\n`).catch(() => {});
  await handle?.close();
}
