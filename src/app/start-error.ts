/** Why pickaxe did not start, in the log file: where a mining system starts it, nobody sees anything else. */

import { resolve } from 'node:path';
import { openPrivate } from './rotating-file.ts';

/** As pino numbers it. */
const ERROR_LEVEL = 50;

/**
 * Adds one JSON line, as the log has them. Where that cannot be done, stderr alone has the message.
 * @param path the log file that a flag or a variable names; undefined where none does
 */
export async function noteStartError(path: string | undefined, message: string): Promise<void> {
  if (path === undefined) return;
  const line = { level: ERROR_LEVEL, time: Date.now(), tag: 'start', msg: message };
  const handle = await openPrivate(resolve(path)).catch(() => undefined);
  await handle?.appendFile(`${JSON.stringify(line)}\n`).catch(() => {});
  await handle?.close();
}
