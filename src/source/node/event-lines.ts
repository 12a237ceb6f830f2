/**
 * Makes a node's event stream one that the EventSource standard can read. The node sends `event:New Cut` and an empty
 * line, and no `data:` line; the standard drops an event without data. So of each event its name is passed on, with an
 * empty data line. Everything else that a stream may carry (comments, `retry:`, `id:`) is for clients that reconnect by
 * themselves, and is dropped.
 */

import { NodeError } from '../../node/errors.ts';

/** Far more than any line of a node. What is longer is not an event stream. */
const MAX_LINE_CHARACTERS = 4_096;
/**
 * A New Cut is 15 bytes, and chains have one every few seconds. What sends more than this, over and above a first burst,
 * floods: reading it would take processor time from the search.
 */
const BURST_BYTES = 65_536;
const BYTES_PER_MS = 4;

/**
 * Lines may be split over chunks anywhere, and end in LF, CRLF or CR.
 * @param nowMs a monotonic clock
 * @returns `event:NAME`, an empty `data:` line and an empty line for each event that has a name, in UTF-8
 * @throws NodeError when a line grows beyond any reason, or when the stream floods
 */
export async function* withData(
  chunks: AsyncIterable<Uint8Array>,
  nowMs: () => number,
): AsyncGenerator<Uint8Array, void> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const beganMs = nowMs();
  let bytes = 0;
  let line = '';
  let name: string | undefined;
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > BURST_BYTES + (nowMs() - beganMs) * BYTES_PER_MS) {
      throw new NodeError('garbled', 'the update stream floods: it sends far more than news of blocks.');
    }
    let ready = '';
    for (const character of decoder.decode(chunk, { stream: true })) {
      const endOfCrLf = character === '\n' && afterCarriageReturn;
      afterCarriageReturn = character === '\r';
      if (endOfCrLf) continue;
      if (character !== '\n' && character !== '\r') {
        line += character;
      } else if (line !== '') {
        if (line.startsWith('event:')) name = line;
        line = '';
      } else {
        if (name !== undefined) ready += `${name}\ndata:\n\n`;
        name = undefined;
      }
    }
    if (line.length > MAX_LINE_CHARACTERS) {
      throw new NodeError('garbled', 'the update stream sends no events: is this the right path of the node?');
    }
    if (ready !== '') yield encoder.encode(ready);
  }
}
