/** The files in which a driver of Linux's hwmon shows its sensors (hwmon/sysfs-interface.rst in the kernel's documentation). */

import { readdir } from 'node:fs/promises';

/** @returns the names in a folder; none when it cannot be listed */
export const list = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

/** @returns the channels of a kind that have an input, in order: `temp1`, `temp2` … */
export function channels(files: readonly string[], kind: string): string[] {
  const numbers = files.map((file) => new RegExp(`^${kind}(\\d{1,3})_input$`).exec(file)?.[1]);
  return numbers
    .filter((number) => number !== undefined)
    .sort((a, b) => Number(a) - Number(b))
    .map((number) => kind + number);
}
