/** Why pickaxe did not start, in the log file: where a mining system starts it, nobody sees anything else. */

import { resolve } from 'node:path';
import { type LogFormat, logFileLine } from '../terminal/log.ts';
import { oneLine } from '../text/one-line.ts';
import { openPrivate } from './rotating-file.ts';

/** As pino numbers it. */
const ERROR_LEVEL = 50;

/** Where the log would have gone. */
export interface LogPlace {
  /** Undefined where no log file is named. */
  readonly file?: string | undefined;
  readonly format: LogFormat;
}

/** Adds one line to the log file, in its format. Where that is impossible, stderr alone has the message. */
export async function noteStartError({ file, format }: LogPlace, message: string): Promise<void> {
  if (file === undefined) return;
  const line = JSON.stringify({ level: ERROR_LEVEL, time: Date.now(), tag: 'start', msg: oneLine(message) });
  const handle = await openPrivate(resolve(file)).catch(() => undefined);
  await handle?.appendFile(logFileLine(format, `${line}\n`)).catch(() => {});
  await handle?.close();
}
