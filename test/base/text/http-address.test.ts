import { expect, it } from 'vitest';
import { formatHttpAddress, isLoopback, parseHttpAddress } from '#pickaxe/base/text/addresses.js';

it.each([
  ['8080', '127.0.0.1', 8080, '127.0.0.1:8080'],
  [':8080', '127.0.0.1', 8080, '127.0.0.1:8080'],
  ['localhost:0', 'localhost', 0, 'localhost:0'],
  ['0.0.0.0:65535', '0.0.0.0', 65_535, '0.0.0.0:65535'],
  ['[::1]:80', '::1', 80, '[::1]:80'],
  [`${'a'.repeat(253)}:1`, 'a'.repeat(253), 1, `${'a'.repeat(253)}:1`],
])('%s is an address', (text, host, port, again) => {
  expect(parseHttpAddress(text)).toEqual({ host, port });
  expect(formatHttpAddress({ host, port })).toBe(again);
});

it.each([
  '',
  ':',
  'localhost',
  'localhost:',
  '::1:80',
  '[::1]',
  '65536',
  '123456',
  '-1',
  '80/',
  `${'a'.repeat(254)}:1`,
])('%s is none', (text) => {
  expect(parseHttpAddress(text)).toBeUndefined();
});

it.each([
  ['localhost', true],
  ['::1', true],
  ['127.0.0.1', true],
  ['127.255.255.254', true],
  ['127.example', false],
  ['128.0.0.1', false],
  ['0.0.0.0', false],
  ['::', false],
  ['', false],
])('whether only this machine reaches %s is %s', (host, answer) => {
  expect(isLoopback(host)).toBe(answer);
});
