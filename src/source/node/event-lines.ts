/**
 * Turns a node's event stream into one that EventSource clients can read. The node sends `event:New Cut` and an empty line, but
 * no `data:` line, and by the standard (WHATWG HTML, "Server-sent events") an event without data is dropped. So each event's
 * name is passed on with an empty data line. Comments, `retry:` and `id:` are dropped: pickaxe reconnects by its own rules.
 * `node/http.ts` bounds how much a stream may send.
 */

import { NodeError } from '../../node/errors.ts';

/** Far more than the length of a node's lines. A longer line shows that this is not an event stream. */
const MAX_LINE_CHARACTERS = 4_096;

/**
 * Reads lines that end in LF, CRLF or CR. Chunks may split them anywhere.
 * @returns for each event with a name: `event:NAME`, an empty `data:` line and an empty line, in UTF-8
 * @throws NodeError when a line is too long
 */
export async function* withData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let line = '';
  let name: string | undefined;
  let afterCarriageReturn = false;
  for await (const chunk of chunks) {
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
