/** Writes why pickaxe did not start into the log file. When a mining system starts pickaxe, people see nothing else. */

import { resolve } from 'node:path';
import { openPrivate } from '../system/private-file.ts';
import { type LogFormat, logFileLine } from '../terminal/log.ts';
import { oneLine } from '../text/one-line.ts';

/** Where the log would have been written. */
export interface LogPlace {
  /** Undefined when no log file is named. */
  readonly file?: string | undefined;
  readonly format: LogFormat;
}

/** Appends the lines of the message to the log file, in its format. If the file cannot be written, only stderr has them. */
export async function noteStartError({ file, format }: LogPlace, message: string): Promise<void> {
  if (file === undefined) return;
  const lines = message
    .split('\n')
    .map((line) =>
      logFileLine(format, { level: 'error', timeMillis: Date.now(), tag: 'start', message: oneLine(line) }),
    );
  const handle = await openPrivate(resolve(file)).catch(() => undefined);
  await handle?.appendFile(lines.join('')).catch(() => {});
  await handle?.close();
}
