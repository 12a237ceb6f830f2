/** A node between pickaxe and the mock node, which passes requests on, and whose answers a test changes. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A received request. */
export interface Asked {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly body: string;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  /** The content type, where it is not plain JSON. */
  readonly type?: string;
}

/**
 * @param upstream the URL of the node that tells the truth
 * @param lie gets each request and what passes it on; it answers the request itself, or with undefined leaves it alone
 * @returns the URL
 */
export async function lyingNode(
  upstream: string,
  lie: (asked: Asked, truth: () => Promise<Answer>) => Promise<Answer | undefined> | Answer | undefined,
): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: Asked = { method: request.method!, path: request.url!, body: Buffer.concat(chunks).toString() };
    const passOn = () => {
      const headers = Object.fromEntries(
        ['content-type', 'accept'].map((name) => [name, request.headers[name] ?? '*/*']),
      );
      const body = asked.method === 'POST' ? { body: asked.body } : {};
      return fetch(upstream + asked.path, {
        method: asked.method,
        headers: headers as Record<string, string>,
        ...body,
      });
    };
    let answer: Answer | undefined;
    let headers: Record<string, string> = { 'content-type': 'application/json', 'x-chainweb-node-version': '2.31' };
    try {
      answer = await lie(asked, async () => {
        const response = await passOn();
        return { status: response.status, body: await response.text() };
      });
      if (!answer) {
        const truth = await passOn();
        const all = Object.fromEntries(truth.headers);
        headers = { ...headers, 'content-type': all['content-type'] ?? 'text/plain' };
        answer = { status: truth.status, body: await truth.text() };
      }
    } catch (error) {
      answer = { status: 500, body: `${error}` };
    }
    if (answer.type !== undefined) headers = { ...headers, 'content-type': answer.type };
    response.writeHead(answer.status, headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** @returns the chain that a request is about; undefined for others */
export function chainOf({ path }: Asked): number | undefined {
  const chain = /\/chain\/(\d+)\//.exec(path)?.[1];
  return chain === undefined ? undefined : Number(chain);
}

/** @returns an answer with this JSON */
export function json(value: unknown, status = 200): Answer {
  return { status, body: JSON.stringify(value) };
}
