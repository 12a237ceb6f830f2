import { expect, it } from 'vitest';
import { isOfType, preferred } from '#pickaxe/mock-node/server/route.js';

const OCTETS = 'application/octet-stream';
const JSON_TYPE = 'application/json';

it.each([
  [undefined, true],
  ['*/*', true],
  ['application/*', true],
  [OCTETS, true],
  ['Application/Octet-Stream', true],
  ['text/html, application/octet-stream;q=0.1', true],
  ['text/html, */*;q=0.1', true],
  [`${OCTETS};q=0, */*`, false],
  [`*/*, ${OCTETS} ; q=0.000`, false],
  ['application/*;q=0, */*', false],
  [`application/*;q=0, ${OCTETS}`, true],
  ['application/json', false],
  ['text/*', false],
  [`${OCTETS}x`, false],
  ['octet-stream', false],
])('Accept: %s', (accept, admitted) => {
  expect(preferred(accept, [OCTETS])).toBe(admitted ? OCTETS : undefined);
});

it.each([
  ['*/*', JSON_TYPE],
  [`${OCTETS}, ${JSON_TYPE}`, JSON_TYPE],
  [`${OCTETS}, ${JSON_TYPE};q=0.9`, OCTETS],
  [`${JSON_TYPE};q=0.2, */*;q=0.1`, JSON_TYPE],
  [`${OCTETS};q=x`, undefined],
  ['text/html', undefined],
])('Accept: %s of two types', (accept, type) => {
  expect(preferred(accept, [JSON_TYPE, OCTETS])).toBe(type);
});

it.each([
  [OCTETS, OCTETS, true],
  ['application/octet-stream; charset=binary', OCTETS, true],
  ['APPLICATION/JSON;charset=utf-8', 'application/json', true],
  ['text/plain', 'application/json', false],
  ['application/json-seq', 'application/json', false],
  [undefined, OCTETS, true],
  [undefined, 'application/json', false],
])('Content-Type: %s as %s', (sent, type, isIt) => {
  expect(isOfType(sent, type)).toBe(isIt);
});
