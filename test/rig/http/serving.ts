/** A served rig that a test controls, and clients of it. */

import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { type Controls, Events } from '#pickaxe/miner/events/events.js';
import { serveHttp } from '#pickaxe/rig/http/api.js';
import type { ServerOptions } from '#pickaxe/rig/http/http-server.js';
import { LogLines } from '#pickaxe/rig/log/log-lines.js';
import { LOG_LINE_OPTIONS, type LogLine, LogTail } from '#pickaxe/rig/log/log-tail.js';
import type { AskBalance } from '#pickaxe/rig/status/earnings.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { FakeClock, SETUP } from '../status/fakes.ts';

/**
 * Serves until the end of the test.
 * @param askBalance absent for a rig without a node
 */
export async function serve(options: Partial<ServerOptions> = {}, askBalance?: AskBalance) {
  const clock = new FakeClock();
  const events = new Events();
  const tally = new Tally(clock);
  events.on(tally.listen);
  const asked: unknown[] = [];
  const controls: Controls = {
    pause: (...args) => asked.push(['pause', ...args]) > 0 && args[2] !== 'gpu9',
    resume: (...args) => asked.push(['resume', ...args]) > 0 && args[1] !== 'gpu9',
    stop: () => asked.push(['stop']),
  };
  const logged: LogLine[] = [];
  const logTail = new LogTail();
  const write = (line: string) => {
    logged.push(JSON.parse(line));
    logTail.write(line);
  };
  const log = pino(LOG_LINE_OPTIONS, { write });
  events.on(new LogLines(log, tally).listen);
  const settings = { host: '127.0.0.1', port: 0, control: false, ...options };
  const running = { rigName: 'rig-7', setup: SETUP, controls, events, tally, clock, log, logTail, askBalance };
  const http = await serveHttp(running, settings);
  onTestFinished(() => http.close());
  const port = Number(new URL(http.url).port);
  return { http, controls, port, clock, events, emit: events.emit, tally, asked, logged, ask: asker(port) };
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers are of many shapes
  readonly json: any;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** Unlike fetch, this can send any Host header. */
export function asker(port: number) {
  return async (path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Answer> => {
    const asked = request({ host: '127.0.0.1', port, path, method, headers, agent: false });
    asked.end(body);
    const [response] = await once(asked, 'response');
    let text = '';
    for await (const chunk of response) text += chunk;
    const isJson = method !== 'HEAD' && String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };
}

/** Sends bytes. @returns everything that comes back until the server closes the connection */
export async function sendRaw(port: number, bytes: string | Uint8Array, end = true): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  socket.write(bytes);
  if (end) socket.end();
  await once(socket, 'close');
  return text;
}
