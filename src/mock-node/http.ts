/** The mock node's HTTP face: paths, headers, bodies and the faults that spoil them. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { WORK_BYTES } from '../chain/layout.ts';
import type { Endpoint, Fault } from './faults.ts';
import type { MockNode } from './mock-node.ts';
import { type Answer, type Route, refusalOf, routeOf } from './routes.ts';

/** Bodies larger than this are refused; the largest proper one is a miner's JSON. */
const MAX_BODY_BYTES = 65_536;
const VERSION = '2.24.1';
/** Between the head of an answer and the end of a connection that breaks in its body. */
const BREAK_MS = 20;

export function createMockServer(node: MockNode): Server {
  return createServer((request, response) => {
    // A client that goes away is its own business.
    request.on('error', () => {});
    response.on('error', () => {});
    handle(node, request, response).catch((error) => {
      send(node, request, response, { status: 500, text: `the mock node failed: ${error}` });
    });
  });
}

async function handle(node: MockNode, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://host');
  const route = routeOf(node, url.pathname);
  if (!route) {
    send(node, request, response, { status: 404, text: `no such path: ${url.pathname}` });
  } else {
    await serve(node, route, url, request, response);
  }
}

async function serve(
  node: MockNode,
  route: Route,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { endpoint } = route;
  node.books.count(endpoint);
  const fault = node.nextFault(endpoint);
  if (fault?.kind === 'drop') {
    request.socket.destroy();
    return;
  }
  const body = await readBody(request);
  if (fault && fault.delayMs > 0) await delay(fault.delayMs);
  if (!body) {
    send(node, request, response, { status: 413, text: `more than ${MAX_BODY_BYTES} bytes` });
  } else if (fault && REPLACES_ANSWER.has(fault.kind)) {
    spoil(node, fault, endpoint, request, response);
  } else {
    const answer = refusalOf(route, request) ?? route.answer(node, body, url);
    if (fault?.kind === 'lost answer') request.socket.destroy();
    else if (fault?.kind === 'end stream' && 'stream' in answer) sendStreamHead(node, request, response).end();
    else send(node, request, response, answer, fault);
  }
}

/** @returns undefined when the body is too large: it is read to its end all the same, so that the answer gets through */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  return length <= MAX_BODY_BYTES ? Buffer.concat(chunks) : undefined;
}

/** Document 1, "Conventions": headers that every answer carries. */
function nodeHeaders(node: MockNode, request: IncomingMessage): Record<string, string> {
  return {
    'x-peer-addr': `${request.socket.remoteAddress}:${request.socket.remotePort}`,
    'x-server-timestamp': String(node.nowUs() / 1_000_000n),
    'x-ledger-node-version': VERSION,
  };
}

function send(node: MockNode, request: IncomingMessage, response: ServerResponse, answer: Answer, fault?: Fault): void {
  if (response.headersSent || !response.socket) return;
  if ('stream' in answer) {
    node.streams.add(answer.stream, sendStreamHead(node, request, response), fault);
    node.streamOpened(answer.stream);
    return;
  }
  const body = 'json' in answer ? JSON.stringify(answer.json) : 'bytes' in answer ? answer.bytes : answer.text;
  const type =
    'json' in answer ? 'application/json' : 'bytes' in answer ? 'application/octet-stream' : 'text/plain;charset=utf-8';
  const typeHeader = body.length === 0 ? {} : { 'content-type': type };
  response.writeHead(answer.status, { ...nodeHeaders(node, request), ...answer.headers, ...typeHeader });
  if (fault?.kind !== 'broken body' && fault?.kind !== 'endless body') {
    response.end(body);
    return;
  }
  response.flushHeaders();
  response.write(body.slice(0, body.length / 2));
  // Whoever asked has the head before the connection breaks.
  if (fault.kind === 'broken body') setTimeout(() => request.socket.destroy(), BREAK_MS);
}

function sendStreamHead(node: MockNode, request: IncomingMessage, response: ServerResponse): ServerResponse {
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };
  response.writeHead(200, { ...nodeHeaders(node, request), ...headers });
  response.flushHeaders();
  return response;
}

const BUSY: Record<Endpoint, string> = {
  work: 'Too many work requests',
  solved: 'Service Unavailable',
  updates: 'No more update streams available currently. Retry later.',
  config: 'Service Unavailable',
  health: 'Service Unavailable',
  block: 'Service Unavailable',
};

const REPLACES_ANSWER = new Set<Fault['kind']>(['unavailable', 'wrong length', 'garbage', 'captive portal', 'hang']);

function spoil(
  node: MockNode,
  fault: Fault,
  endpoint: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (fault.kind === 'unavailable') {
    const headers = fault.retryAfterS === undefined ? {} : { 'retry-after': String(fault.retryAfterS) };
    send(node, request, response, { status: 503, text: BUSY[endpoint], headers });
  } else if (fault.kind === 'wrong length') {
    send(node, request, response, { status: 200, bytes: new Uint8Array(WORK_BYTES - 1) });
  } else if (fault.kind === 'garbage') {
    send(node, request, response, { status: 200, text: '<html>\u0000{"not": what was asked for' });
  } else if (fault.kind === 'captive portal') {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<html><title>Welcome to our network</title>Please log in.</html>');
  }
  // 'hang': nothing is ever answered.
}
