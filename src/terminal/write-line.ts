/** Writes to a reader that may stop reading without going away. */

/** How much may wait for the reader: hours of events. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Never waits for the reader: when too much waits, further lines are lost, and mining and memory do not suffer. */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
