import { expect, it } from 'vitest';
import { admits, isOfType } from '#pickaxe/mock-node/server/negotiation.js';

const OCTETS = 'application/octet-stream';

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
  expect(admits(accept, OCTETS)).toBe(admitted);
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
