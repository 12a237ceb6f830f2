/** The worker answers everything that a parent writes with a request or one clear refusal. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRequest } from '#pickaxe/protocol/wire/worker.js';
import { anyText } from '../../any-text.ts';
import { cases } from '../../cases.ts';

const HEADER = 'ab'.repeat(286);
const runs = cases(2_000);

describe('a line to the worker', () => {
  it('is read as what it asks for', () => {
    const job = { type: 'job', id: '7', header: HEADER, target: '0xFF', nonce1: { value: 65_535, bytes: 2 } };
    expect(readRequest(JSON.stringify(job))).toEqual(job);
    for (const line of ['{"type":"cancel"}', ' {"type":"stats"} ', '{"type":"rate","sharesPerSecond":null}']) {
      expect(readRequest(line)).toEqual(JSON.parse(line));
    }
  });

  it.each([
    { type: 'job', id: 'x'.repeat(64), header: HEADER, target: 'f'.repeat(64) },
    { type: 'cancel', id: 'x' },
    { type: 'ping', echo: 'x'.repeat(256) },
    { type: 'verdict', share: 1, outcome: 'stale', reason: 'x'.repeat(1_000) },
    { type: 'rate', sharesPerSecond: 1_000 },
    { type: 'rate', sharesPerSecond: 1 / 86_400 },
    ...[0, 1, 2, 3, 4].map((bytes) => {
      return { type: 'job', id: 'x', header: HEADER, nonce1: { value: 256 ** bytes - 1, bytes } };
    }),
  ])('may be as long and as large as %j', (request) => {
    expect(readRequest(JSON.stringify(request))).toEqual(request);
  });

  it('is quoted and criticised to a limit', () => {
    const { refusal } = readRequest('x'.repeat(90)) as { refusal: { message: string } };
    expect(refusal.message).toMatch(/^this line is not JSON: "x{79}…"\. Write/);
    const wrong = { type: 'job', id: '', header: '', target: '', nonce1: 1, clean: 1 };
    const { refusal: many } = readRequest(JSON.stringify(wrong)) as { refusal: { message: string } };
    expect(many.message.split('; ').map((fault) => fault.replace(/^job: /, '').split(':')[0])).toEqual([
      'id',
      'header',
      'target',
    ]);
  });

  it.each([
    [{ type: 'job', id: '', header: HEADER }, 'id: give a text of 1 to 64 characters'],
    [{ type: 'job', id: 'a', header: `${HEADER}0` }, 'header: give 572 hex digits'],
    [{ type: 'job', id: 'a', header: HEADER, target: 'f'.repeat(65) }, 'target: give a number in 1 to 64 hex digits'],
    [{ type: 'job', id: 'a', header: HEADER, nonce1: { value: 1, bytes: 0 } }, 'nonce1: give {"value": V'],
    [
      { type: 'job', id: 'a', header: HEADER, nonce1: { value: 1, bytes: 5 } },
      'bytes: give a whole number from 0 to 4',
    ],
    [{ type: 'job', id: 'a', header: HEADER, solutions: 'two' }, 'solutions: give "one" or "many"'],
    [{ type: 'job', id: 'a', header: HEADER, timeMayRoll: 1 }, 'timeMayRoll: give true or false'],
    [{ type: 'job', id: 'a', header: HEADER, rolltime: true }, 'there is no "rolltime": remove it'],
    [{ type: 'verdict', share: 0, outcome: 'accepted' }, 'share: give the number of a share'],
    [{ type: 'verdict', share: 1, outcome: 'good' }, 'outcome: give "accepted", "rejected" or "stale"'],
    [{ type: 'rate', sharesPerSecond: 0 }, 'sharesPerSecond: give a number'],
    [{ type: 'rate', sharesPerSecond: 1_000.5 }, 'sharesPerSecond: give a number from 1/86400 to 1000, or null'],
    [{ type: 'rate', sharesPerSecond: 1 / 86_401 }, 'sharesPerSecond: give a number'],
    [{ type: 'cancel', id: 'x'.repeat(65) }, 'cancel: id: give a text of 1 to 64 characters'],
    [{ type: 'ping', echo: 'x'.repeat(257) }, 'ping: echo: give a text of at most 256 characters'],
    [
      { type: 'verdict', share: 1, outcome: 'stale', reason: 'x'.repeat(1_001) },
      'verdict: reason: give a text of at most 1000 characters',
    ],
    [{ type: 'toString' }, 'a line is an object whose "type" is one of: job, cancel'],
    [null, 'a line is an object'],
    [7, 'a line is an object'],
  ])('%j is refused in words', (message, says) => {
    const { refusal } = readRequest(JSON.stringify(message)) as { refusal: { code: string; message: string } };
    expect(refusal.code).toBe('wrong-message');
    expect(refusal.message).toContain(says);
  });

  const HEX_HEADER = 'header: give 572 hex digits (286 bytes)';
  const ID = 'id: give a text of 1 to 64 characters';
  const TARGET = 'target: give a number in 1 to 64 hex digits, the most significant first';

  it.each([
    [{ type: 'job' }, `job: ${ID}; ${HEX_HEADER}`],
    [{ type: 'job', id: 1, header: 'zz', target: '' }, `job: ${ID}; ${HEX_HEADER}; ${TARGET}`],
    [{ type: 'job', id: 'a', header: HEADER.slice(1) }, `job: ${HEX_HEADER}`],
    [{ type: 'job', id: 'a', header: HEADER, target: '0x' }, `job: ${TARGET}`],
    [
      { type: 'job', id: 'a', header: HEADER, nonce1: 1 },
      'job: nonce1: give {"value": V, "bytes": 0 to 4} with V below 256^bytes',
    ],
    [
      { type: 'job', id: 'a', header: HEADER, nonce1: { value: 256, bytes: 1 } },
      'job: nonce1: give {"value": V, "bytes": 0 to 4} with V below 256^bytes',
    ],
    [
      { type: 'job', id: 'a', header: HEADER, nonce1: { value: -1, bytes: 1.5 } },
      'job: nonce1.value: give a whole number below 256^bytes; nonce1.bytes: give a whole number from 0 to 4',
    ],
    [
      { type: 'job', id: 'a', header: HEADER, timeMayRoll: 1, solutions: 2, verdicts: 3 },
      'job: timeMayRoll: give true or false; solutions: give "one" or "many"; verdicts: give true or false',
    ],
    [{ type: 'job', id: 'a', header: HEADER, clean: 'yes' }, 'job: clean: give true or false'],
    [{ type: 'job', id: 'a', header: HEADER, a: 1, b: 2 }, 'job: there is no "a", "b": remove it'],
    [{ type: 'target', id: 'a', target: 'g' }, `target: ${TARGET}`],
    [{ type: 'target', target: 'f' }, `target: ${ID}`],
    [
      { type: 'verdict', share: 1.5, outcome: 1, reason: 1 },
      'verdict: share: give the number of a share; outcome: give "accepted", "rejected" or "stale"; ' +
        'reason: give a text of at most 1000 characters',
    ],
    [{ type: 'rate' }, 'rate: sharesPerSecond: give a number from 1/86400 to 1000, or null for no limit'],
    [{ type: 'ping', echo: 1 }, 'ping: echo: give a text of at most 256 characters'],
    [{ type: 'stats', all: true }, 'stats: there is no "all": remove it'],
    [
      { type: 'shares' },
      'a line is an object whose "type" is one of: job, cancel, target, verdict, rate, stats, ping, drain',
    ],
  ])('%j is refused in exactly these words', (message, words) => {
    expect(readRequest(JSON.stringify(message))).toEqual({ refusal: { code: 'wrong-message', message: words } });
  });

  it('that is not JSON is quoted up to 80 characters', () => {
    const refusal = (quoted: string) => ({
      refusal: {
        code: 'not-json',
        message: `this line is not JSON: "${quoted}". Write one JSON object a line, like {"type":"ping"}`,
      },
    });
    expect(readRequest('x'.repeat(80))).toEqual(refusal('x'.repeat(80)));
    expect(readRequest('x'.repeat(81))).toEqual(refusal(`${'x'.repeat(79)}…`));
  });

  const isFine = (line: string) => {
    const answer = readRequest(line);
    if (!('refusal' in answer)) return;
    expect(answer.refusal.message).toMatch(/^[^\n\p{Cc}]{10,1000}$/u);
  };

  it('is never too much: random text', () => {
    fc.assert(fc.property(anyText({ maxLength: 200 }), isFine), { numRuns: runs });
  });

  it('is never too much: random JSON', () => {
    fc.assert(fc.property(fc.json({ maxDepth: 5 }), isFine), { numRuns: runs });
    isFine('['.repeat(60_000));
    isFine(`{"type":"job","__proto__":{"id":"x"}}`);
    isFine('{"type":"rate","sharesPerSecond":1e999}');
  });

  it('is never too much: messages with wrong fields', () => {
    const names = ['id', 'header', 'target', 'nonce1', 'timeMayRoll', 'solutions', 'share', 'outcome', 'echo', 'x\n'];
    const type = fc.constantFrom('job', 'cancel', 'target', 'verdict', 'rate', 'stats', 'ping', 'drain');
    const fields = fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 6 });
    fc.assert(
      fc.property(type, fields, (type, fields) => isFine(JSON.stringify({ ...fields, type }))),
      { numRuns: runs },
    );
  });
});
