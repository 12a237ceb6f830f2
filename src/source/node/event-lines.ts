/**
 * Turns a node's event stream into one that clients of the EventSource standard can read. The node sends `event:New Cut`
 * and an empty line, but no `data:` line, and the standard drops an event without data. So each event's name is passed on
 * with an empty data line. Everything else in a stream (comments, `retry:`, `id:`) is dropped: it is for clients that
 * reconnect by themselves.
 */

import { NodeError } from '../../node/errors.ts';

/** Far longer than any line of a node. A longer one does not come from an event stream. */
const MAX_LINE_CHARACTERS = 4_096;
/**
 * A New Cut is 15 bytes, and chains have one every few seconds. A stream that sends more than this, besides a first burst,
 * is a flood, and reading it would take processor time from the search.
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
      throw new NodeError('garbled', 'the update stream sends far more data than the announcement of blocks needs.');
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
