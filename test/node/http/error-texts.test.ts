/** What the errors of requests say, without a request: of connections, of statuses and of answers. */

import { describe, expect, it } from 'vitest';
import {
  configRefusal,
  NodeError,
  networkError,
  notUnderstood,
  statusError,
  workRefusal,
} from '#pickaxe/node/http/node-error.js';
import { nodeAddress } from '#pickaxe/node/http/url.js';
import { LedgerFormatError } from '#pickaxe/protocol/ledger/json.js';

const ORIGIN = 'http://node.example:1848';
const WHERE = `${ORIGIN}/cut`;
const broken = (message: string, details: object = {}) => Object.assign(new Error(message), details);

describe('the error of a connection', () => {
  it.each([
    [broken('slow', { name: 'TimeoutError' }), 'timed out', true, `${WHERE} did not answer in time.`],
    [
      broken('x', { code: 'ECONNREFUSED' }),
      'unreachable',
      false,
      /^cannot reach http:\/\/node\.example:1848 \(ECONNREFUSED\): /,
    ],
    [
      broken('odd', { name: 'HTTPParserError' }),
      'not a node',
      false,
      /^http:.* does not speak HTTP \(odd\)\. Is it the right port/,
    ],
    [
      broken('odd', { code: 'HPE_INVALID' }),
      'not a node',
      false,
      /^http:.* does not speak HTTP \(odd\)\. Is it the right port/,
    ],
    [broken('gone', { code: 'ECONNRESET' }), 'broken', true, /broke before the answer came \(ECONNRESET\)\.$/],
    [broken('other side closed'), 'broken', true, /broke before the answer came \(other side closed\)\.$/],
  ] as const)('%s is called %s', (cause, kind, retryable, message) => {
    const error = networkError(cause, ORIGIN, WHERE);
    expect(error).toMatchObject({ kind, retryable, cause });
    if (typeof message === 'string') expect(error.message).toBe(message);
    else expect(error.message).toMatch(message);
  });

  it('asks for the other scheme where nothing has ever answered', () => {
    const messages = ['http://a', 'https://a'].map(
      (origin) => networkError(broken('x'), origin, origin, false).message,
    );
    expect(messages).toEqual([
      'the connection to http://a broke before the answer came (x). Should the URL begin with https://?',
      'the connection to https://a broke before the answer came (x). Should the URL begin with http://?',
    ]);
  });

  it('that is one of a node stays as it is', () => {
    const error = new NodeError('refused', 'no');
    expect(networkError(error, ORIGIN)).toBe(error);
  });
});

describe('the error of a status', () => {
  const errorOf = (status: number, text = '', byNode = true) => {
    return statusError({ status, body: Buffer.from(text), byNode, retryAfterMs: 7 }, WHERE, (it) =>
      it.replace('secret', '…'),
    );
  };

  it.each([
    [400, 'bad request', 'cannot do what was asked for', false, false],
    [401, 'unauthorized', 'does not let us do this', false, false],
    [403, 'refused', 'refuses the request', false, false],
    [404, 'not found', 'has nothing there', false, false],
    [406, 'not acceptable', 'cannot answer in the format that was asked for', false, false],
    [408, 'timed out', 'has waited too long', true, true],
    [423, 'refused', 'refuses the request', true, false],
    [425, 'refused', 'refuses the request', true, false],
    [429, 'too many requests', 'gets too many requests', true, false],
    [499, 'refused', 'refuses the request', false, false],
    [500, 'failed', 'failed', true, true],
    [503, 'failed', 'failed', true, true],
  ] as const)('%i', (status, kind, words, retryable, mayHaveBeenTaken) => {
    const error = errorOf(status);
    expect(error).toMatchObject({ kind, status, retryable, mayHaveBeenTaken, retryAfterMs: 7, text: '' });
    expect(error.message).toBe(`${WHERE} ${words} (${status}).`);
    expect(error.isBusy).toBe(status === 429 || status === 503);
    // Real nodes limit the rate of requests before they add their headers, and gateways fail without them.
    const hint = status === 429 || status >= 500 ? '' : ' The headers of a node are missing: is the URL right?';
    expect(errorOf(status, '', false).message).toBe(`${WHERE} ${words} (${status}).${hint}`);
  });

  it('quotes what the node says, and no secret', () => {
    expect(errorOf(400, '"a secret"')).toMatchObject({
      text: 'a secret',
      message: `${WHERE} cannot do what was asked for (400: "a …").`,
    });
    expect(errorOf(400, ' plain\n').text).toBe('plain');
    expect(errorOf(400, `${'x'.repeat(20_000)}`).text).toHaveLength(16_384);
  });

  it('has the key and the reason of a 404 only', () => {
    const text = '{"key":"k","reason":"r"}';
    expect(errorOf(404, text)).toMatchObject({ key: 'k', reason: 'r' });
    expect(errorOf(400, text)).toMatchObject({ key: undefined, reason: undefined });
  });
});

it('an answer that is not understood is told with its cause, and other errors stay as they are', () => {
  const fault = new LedgerFormatError('cut.height: is missing');
  const answer = { status: 200, body: Buffer.of(), byNode: true, retryAfterMs: undefined };
  expect(notUnderstood(fault, answer, WHERE)).toMatchObject({
    kind: 'not understood',
    status: 200,
    mayHaveBeenTaken: true,
    cause: fault,
    message: `The answer of ${WHERE} is not understood: cut.height: is missing.`,
  });
  expect(notUnderstood(fault, { ...answer, byNode: false }, WHERE).message).toMatch(
    /is missing\. The headers of a node are missing: is there a proxy in between\?$/,
  );
  const other = new TypeError('our own');
  expect(() => notUnderstood(other, answer, WHERE)).toThrow(other);
});

describe('a refusal', () => {
  const miner = { account: 'k:me', predicate: 'keys-all', publicKeys: ['me'] } as const;
  const address = nodeAddress(ORIGIN, 'development');

  it.each([
    [400, /^http.* cannot read the request \(400: "why"\)\. Check account and keys\.$/],
    [403, /^http.* does not know this miner \(403: "why"\)\. /],
    [404, /^there is no mining API at .*, neither below .* nor below .* \(404: "why"\)\. Either the network is wrong/],
    [405, /refuses to serve mining\/work \(405: "why"\)\. Check that it is a mining node\.$/],
  ])('of work with %i', (status, says) => {
    const error = workRefusal(status, 'why', miner, address);
    expect(error).toMatchObject({ kind: 'refused', status, message: expect.stringMatching(says) });
    // Only a node that does not know the miner needs an entry for it.
    expect(error.nodeConfiguration !== undefined).toBe(status === 403);
  });

  it('of the configuration quotes what the node says, if it says something', () => {
    expect(configRefusal(404, '', address).message).toBe(`${ORIGIN}/config is not served (404).`);
    expect(configRefusal(404, 'no', address).message).toBe(`${ORIGIN}/config is not served (404: "no").`);
  });
});
