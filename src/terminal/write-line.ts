/** Writes to a reader that may stop reading without going away. */

/** How much may wait for the reader. It holds hours of events. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Never waits for the reader: once too much is unread, further lines are lost, which costs neither mining nor memory. */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
