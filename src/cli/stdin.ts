/** Reads standard input. */

import { UsageError } from '../app/exit-codes.ts';

/** Reads it to its end. @throws UsageError for more than `most` bytes. */
export async function readStdin(most: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) throw new UsageError(`standard input has more than ${most} bytes.`);
  }
  return Buffer.concat(chunks);
}
