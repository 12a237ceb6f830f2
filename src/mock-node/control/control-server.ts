/**
 * Where the mock node takes instructions: `POST /` with one instruction in JSON, or a list of them. It has a port of its own, so
 * that no fault hits it, and it is for this machine only.
 */

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from '../server/body.ts';
import { carryOut, type Instructed, InstructionError } from './instructions.ts';

const HOST = '127.0.0.1';
const MAX_BODY_BYTES = 262_144;
const MAX_INSTRUCTIONS = 100;

/** An instruction was carried out. */
export interface ControlEvent {
  readonly type: 'instructed';
  readonly instruction: string;
}

interface Answer {
  readonly status: number;
  readonly json: unknown;
}

export class ControlServer {
  readonly #node: Instructed;
  readonly #port: number;
  readonly #emit: (event: ControlEvent) => void;
  readonly #http: Server;

  /** @param port 0 stands for any free port */
  constructor(node: Instructed, port: number, emit: (event: ControlEvent) => void) {
    this.#node = node;
    this.#port = port;
    this.#emit = emit;
    this.#http = createServer((request, response) => {
      request.on('error', () => {});
      response.on('error', () => {});
      this.#answer(request).then(
        (answer) => send(response, answer),
        (error) => send(response, { status: 500, json: { error: `the mock node failed: ${error}` } }),
      );
    });
  }

  /** @returns `http://127.0.0.1:port` @throws Error when the port is in use */
  async listen(): Promise<string> {
    this.#http.listen(this.#port, HOST);
    await once(this.#http, 'listening');
    return `http://${HOST}:${(this.#http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = once(this.#http, 'close');
    this.#http.close();
    this.#http.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    // Only browsers say which page a request comes from, and no page has business here.
    if (request.headers.origin !== undefined) return refusal(403, 'web pages may not tell the mock node what to do');
    if (request.method !== 'POST') return refusal(405, 'send an instruction: POST {"do": …}');
    const body = await readBody(request, MAX_BODY_BYTES);
    if (!body) return refusal(413, `more than ${MAX_BODY_BYTES} bytes`);
    let json: unknown;
    try {
      json = JSON.parse(body.toString());
    } catch (error) {
      return refusal(400, `an instruction is JSON: ${(error as Error).message}`);
    }
    try {
      return { status: 200, json: await this.#carryOut(json) };
    } catch (error) {
      if (error instanceof InstructionError) return refusal(400, error.message);
      throw error;
    }
  }

  /** Those of a list are carried out one after the other, until one cannot be. */
  async #carryOut(json: unknown): Promise<unknown> {
    if (!Array.isArray(json)) return await this.#carryOutOne(json);
    if (json.length > MAX_INSTRUCTIONS) throw new InstructionError(`at most ${MAX_INSTRUCTIONS} instructions at once`);
    const results: object[] = [];
    for (const each of json) results.push(await this.#carryOutOne(each));
    return results;
  }

  async #carryOutOne(json: unknown): Promise<object> {
    const { instruction, result } = await carryOut(this.#node, json);
    this.#emit({ type: 'instructed', instruction });
    return result;
  }
}

function refusal(status: number, error: string): Answer {
  return { status, json: { error } };
}

function send(response: ServerResponse, { status, json }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(`${JSON.stringify(json)}\n`);
}
