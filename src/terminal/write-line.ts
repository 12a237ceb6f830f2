/** Writes for whoever reads our output, who may stop reading without going away. */

/** What may wait for its reader: hours of events. */
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;

/** Never waits for a reader: lines beyond what it may leave unread are lost; mining and memory do not suffer. */
export function writeLine(to: NodeJS.WriteStream, line: string): void {
  if (to.writableLength < MAX_UNREAD_BYTES) to.write(line);
}
