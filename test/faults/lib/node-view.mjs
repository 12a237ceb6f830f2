// A node of its own for each coordinator: all of them show one mock node's ledger, but each knows only the payloads of
// the works that it has issued itself, as real nodes do, and can stand still or lag for a while.

import { once } from 'node:events';
import { request as ask, createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';

/** Where the payload's hash begins in a header of 286 bytes (document 1, "Mining"). */
const PAYLOAD = 190;
const HASH_BYTES = 32;

/** Time for which works are kept, for a node that lags. */
const KEPT_MS = 60_000;

/** @param origin the URL of the mock node, without a path */
export async function startNodeView(origin) {
  const issued = new Set();
  const streams = new Set();
  /** The works with the times at which they were given, oldest first. */
  let works = [];
  let isStill = false;
  let lagMs = 0;

  const payloadOf = (header) => header.subarray(PAYLOAD, PAYLOAD + HASH_BYTES).toString('hex');

  /** @param work from the mock node */
  function workNow(work) {
    const nowMs = systemClock.monotonicMs();
    if (isStill && works.length > 0) return works.at(-1).work;
    works = [...works.filter(({ atMs }) => nowMs - atMs <= KEPT_MS), { atMs: nowMs, work }];
    return works.findLast(({ atMs }) => nowMs - atMs >= lagMs)?.work ?? works[0].work;
  }

  async function answer(request, response) {
    const body = await buffer(request);
    const path = new URL(request.url, origin).pathname;
    const isForeign = path.endsWith('/mining/solved') && !issued.has(payloadOf(body));
    const onward = ask(new URL(request.url, origin), { method: request.method, headers: request.headers });
    // A foreign solution is forwarded without its body, because the answer still needs a node's headers, such as the
    // time.
    onward.end(isForeign ? Buffer.alloc(0) : body);
    response.on('close', () => onward.destroy());
    const [from] = await once(onward, 'response');
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = from.headers;
    if (isForeign) {
      from.resume();
      response.writeHead(400, headers).end('No associated Payload');
    } else if (path.endsWith('/mining/updates')) {
      response.writeHead(from.statusCode, headers);
      response.flushHeaders();
      from.pipe(response);
      streams.add(from);
      from.on('close', () => streams.delete(from));
      if (isStill) from.pause();
    } else if (path.endsWith('/mining/work') && from.statusCode === 200) {
      const work = workNow(await buffer(from));
      issued.add(payloadOf(work.subarray(WORK_OFFSET.header)));
      response.writeHead(200, headers).end(work);
    } else {
      response.writeHead(from.statusCode, headers);
      from.pipe(response);
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** From now on the node gives the last work again, and announces nothing. */
    standStill() {
      isStill = true;
      for (const stream of streams) stream.pause();
    },
    /** From now on the node gives works of this age. @param ms at most 60 s */
    fallBehind(ms) {
      lagMs = ms;
    },
    goOn() {
      isStill = false;
      lagMs = 0;
      for (const stream of streams) stream.resume();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
