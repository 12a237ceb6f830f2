/**
 * Makes a node's event stream one that the EventSource standard can read. The node sends `event:New Cut` and an empty
 * line, and no `data:` line; the standard drops an event without data, so an empty one is added.
 */

/** Far more than any event of a node. What is longer is not an event stream. */
const MAX_EVENT_CHARACTERS = 65_536;

/**
 * Lines may be split over chunks anywhere, and end in LF, CRLF or CR.
 * @returns the same events, complete and with data, in UTF-8; a chunk for each one that completes an event
 * @throws Error when an event grows beyond any reason
 */
export async function* withData(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let line = '';
  let event = '';
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
        event += `${line}\n`;
        line = '';
      } else {
        ready += complete(event);
        event = '';
      }
    }
    if (line.length + event.length > MAX_EVENT_CHARACTERS) throw new Error('the update stream sends no events');
    if (ready !== '') yield encoder.encode(ready);
  }
}

function complete(event: string): string {
  const hasData = /^data(:|$)/m.test(event);
  return hasData ? `${event}\n` : `${event}data:\n\n`;
}
