/** Why pickaxe did not start, in the log file: where a mining system starts it, nobody sees anything else. */

import { DEFAULTS } from '../config/settings.ts';
import { openLogFile } from './log-file.ts';

/** As pino numbers it. */
const ERROR_LEVEL = 50;

/**
 * Adds one JSON line, as the log has them. Where the file cannot be written, that is one more reason not to start, and the
 * first one is told on stderr anyway.
 * @param path the log file that a flag or a variable names; undefined where none does
 */
export async function noteStartError(path: string | undefined, message: string): Promise<void> {
  if (path === undefined) return;
  try {
    const file = await openLogFile({ ...DEFAULTS.logFile, path });
    file?.write(`${JSON.stringify({ level: ERROR_LEVEL, time: Date.now(), tag: 'start', msg: message })}\n`);
    await file?.close();
  } catch {
    // There is nowhere else to say it.
  }
}
