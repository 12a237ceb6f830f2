/** What the endpoints of a mock node have in common: the limits of numbers and bodies, and the answers of faults. */

import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FaultScript, faultKinds } from '#pickaxe/mock-node/server/faults.js';
import {
  isHash,
  naturalFrom,
  parsedBody,
  preflightHeaders,
  readBody,
  replacementOf,
  sendHalf,
} from '#pickaxe/mock-node/server/route.js';

/** A fault of a script that has only the given parts. */
function faultOf(more: object) {
  const script = new FaultScript('both', () => 0);
  script.faults = [{ endpoint: 'any', kind: 'status', ...more }];
  return script.next('cut')!;
}

describe('the answer of a fault', () => {
  it.each([
    [{ kind: 'unavailable' }, 'work', { status: 503, text: 'Too many work requests', headers: {} }],
    [
      { kind: 'unavailable', retryAfterS: 0 },
      'updates',
      {
        status: 503,
        text: 'No more update streams available currently. Retry later.',
        headers: { 'retry-after': '0' },
      },
    ],
    [{ kind: 'unavailable' }, 'cut', { status: 503, text: 'Service Unavailable', headers: {} }],
    [{ status: 418, text: 'tea' }, 'cut', { status: 418, text: 'tea', headers: {} }],
    [{ retryAfterS: 7 }, 'cut', { status: 503, text: '', headers: { 'retry-after': '7' } }],
    [{ kind: 'wrong-length' }, 'cut', { status: 200, bytes: new Uint8Array(321) }],
    [{ kind: 'garbage' }, 'cut', { status: 200, text: '<html>\u0000{"not": what was asked for' }],
    [
      { kind: 'captive-portal' },
      'cut',
      {
        status: 200,
        text: '<html><title>Welcome to our network</title>Please log in.</html>',
        headers: { 'content-type': 'text/html' },
        foreign: true,
      },
    ],
  ] as const)('%j to %s is exact', (more, endpoint, answer) => {
    expect(replacementOf(faultOf(more), endpoint)).toEqual(answer);
  });

  it.each([16, 21, 22, 30, 31, 1_000])('with a long body has %i bytes, which are JSON', (bytes) => {
    const answer = replacementOf(faultOf({ kind: 'long-body', bytes }), 'cut') as { text: string };
    expect(answer).toEqual({
      status: 200,
      text: expect.stringMatching(/^\[(\{"a":1\},)*\{\}\] *$/),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.text).toHaveLength(bytes);
    // As many objects as fit: the spaces at the end have no room for another.
    expect(answer.text.length - answer.text.trimEnd().length).toBeLessThan(8);
  });

  it('is the true one with every other fault', () => {
    const replaced = ['unavailable', 'status', 'wrong-length', 'garbage', 'long-body', 'captive-portal'];
    const kinds = faultKinds.filter((kind) => replacementOf(faultOf({ kind }), 'cut') !== undefined);
    expect(kinds.sort()).toEqual(replaced.sort());
  });
});

it.each([
  ['0', 0n],
  ['9'.repeat(20), 10n ** 20n - 1n],
  ['9'.repeat(21), undefined],
  ['', undefined],
  ['-1', undefined],
  ['1.0', undefined],
  ['0x1', undefined],
])('the number %j is %s', (text, number) => {
  expect(naturalFrom(text)).toBe(number);
});

it('a hash has 43 characters', () => {
  const texts = ['A'.repeat(42), 'A'.repeat(43), 'A'.repeat(44), `${'A'.repeat(42)}+`, `${'A'.repeat(42)}_`];
  expect(texts.map(isHash)).toEqual([false, true, false, false, true]);
});

it.each(['{', '{"n":"1"}', '[]', ''])('the body %j is refused with what it should be', (body) => {
  const schema = z.object({ n: z.number() });
  expect(parsedBody(schema, Buffer.from(body), '{"n": a number}')).toEqual({
    status: 400,
    text: 'Error in $: the body is {"n": a number}',
  });
  expect(parsedBody(schema, Buffer.from('{"n":1}'), '')).toEqual({ value: { n: 1 } });
});

it('a fault of the reading itself is no fault of the body', () => {
  const broken = z.custom(() => {
    throw new RangeError('broken');
  });
  expect(() => parsedBody(broken, Buffer.from('1'), '')).toThrow(RangeError);
});

it('a body is read up to its limit, and a longer one to its end', async () => {
  const bodyOf = async (...chunks: string[]) => {
    const request = new IncomingMessage(new Socket());
    for (const chunk of chunks) request.push(chunk);
    request.push(null);
    const body = await readBody(request, 4);
    return [body?.toString(), request.readableEnded];
  };
  expect(await bodyOf('ab', 'cd')).toEqual(['abcd', true]);
  expect(await bodyOf('ab', 'cd', 'e')).toEqual([undefined, true]);
  expect(await bodyOf('abcde', '')).toEqual([undefined, true]);
  expect(await bodyOf()).toEqual(['', true]);
});

it.each([
  [{ method: 'OPTIONS', headers: { origin: 'http://a', 'access-control-request-method': 'GET' } }, true],
  [{ method: 'GET', headers: { origin: 'http://a', 'access-control-request-method': 'GET' } }, false],
  [{ method: 'OPTIONS', headers: { 'access-control-request-method': 'GET' } }, false],
  [{ method: 'OPTIONS', headers: { origin: 'http://a' } }, false],
])('the request of a browser that asks before it asks: %j', (request, isOne) => {
  expect(preflightHeaders(request as unknown as IncomingMessage)).toEqual(
    isOne
      ? {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD, POST',
          'access-control-allow-headers': 'Accept, Accept-Language, Content-Language, Content-Type',
        }
      : undefined,
  );
});

it.each([
  ['127.0.0.1', '127.0.0.1:7', 'document', 'x-ledger-node-version'],
  ['::1', '[::1]:7', 'chainweb', 'x-chainweb-node-version'],
] as const)('half of an answer to %s has the whole head', (remoteAddress, name, dialect, version) => {
  const calls: unknown[] = [];
  const response = {
    req: { socket: { remoteAddress, remotePort: 7 }, headers: { origin: 'http://a' } },
    writeHead: (...head: unknown[]) => calls.push(head),
    flushHeaders: () => calls.push('flushed'),
    write: (part: string) => calls.push(part),
  } as unknown as ServerResponse;
  const facts = { nowUs: 1_999_999n, dialect, namesPeer: true, isForPages: true };
  sendHalf(response, { status: 200, text: 'abcdef', headers: { a: 'b' } }, facts);
  const headers = {
    'access-control-allow-origin': '*',
    'x-peer-addr': name,
    'x-server-timestamp': '1',
    [version]: '2.24.1',
    'content-type': 'text/plain;charset=utf-8',
    a: 'b',
  };
  expect(calls).toEqual([[200, headers], 'flushed', 'abc']);
});
