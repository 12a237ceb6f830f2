/** The answers of endpoints, and how they are sent, with the headers of a node. */

import type { ServerResponse } from 'node:http';

/** An answer with a complete body of text, bytes or JSON. */
export type Message = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether something between client and node answers. Then the node's headers are missing. */
  readonly foreign?: boolean;
} & ({ readonly text: string } | { readonly bytes: Uint8Array } | { readonly json: unknown });

/** An answer, or an update stream: `stream` is its chain. */
export type Answer = Message | { readonly stream: number };

const VERSION = '2.24.1';

/** @param nowUs the node's clock: µs since the UNIX epoch */
export function sendMessage(response: ServerResponse, message: Message, nowUs: bigint): void {
  response.end(writeHead(response, message, nowUs));
}

/** Sends the head and half of the body, and leaves the answer unfinished. */
export function sendHalf(response: ServerResponse, message: Message, nowUs: bigint): void {
  const body = writeHead(response, message, nowUs);
  response.flushHeaders();
  response.write(body.slice(0, body.length / 2));
}

export function sendStreamHead(response: ServerResponse, nowUs: bigint): void {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
  response.writeHead(200, { ...nodeHeaders(response, nowUs), ...headers });
  response.flushHeaders();
}

/** @returns the body, which the caller must send */
function writeHead(response: ServerResponse, message: Message, nowUs: bigint): string | Uint8Array {
  const [type, body] = encode(message);
  response.writeHead(message.status, {
    ...(!message.foreign && nodeHeaders(response, nowUs)),
    ...(body.length > 0 && { 'content-type': type }),
    ...message.headers,
  });
  return body;
}

function encode(message: Message): [type: string, body: string | Uint8Array] {
  if ('json' in message) return ['application/json', JSON.stringify(message.json)];
  if ('bytes' in message) return ['application/octet-stream', message.bytes];
  return ['text/plain;charset=utf-8', message.text];
}

/** @returns the headers that every answer of a node has (document 1, "Conventions") */
function nodeHeaders({ req: { socket } }: ServerResponse, nowUs: bigint): Record<string, string> {
  return {
    'x-peer-addr': `${socket.remoteAddress}:${socket.remotePort}`,
    'x-server-timestamp': String(nowUs / 1_000_000n),
    'x-ledger-node-version': VERSION,
  };
}
