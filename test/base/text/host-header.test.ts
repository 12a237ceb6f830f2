import { expect, it } from 'vitest';
import { hostOf } from '#pickaxe/base/text/addresses.js';

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['127.0.0.1:8080', '127.0.0.1'],
  ['Rig.LAN:80', 'rig.lan'],
  ['[::1]:8080', '::1'],
  ['[FE80::1]', 'fe80::1'],
  ['', undefined],
  [undefined, undefined],
  ['::1', undefined],
  ['[nonsense]:1', undefined],
  ['[1.2.3.4]', undefined],
  ['a b', undefined],
  ['a@127.0.0.1', undefined],
  ['127.0.0.1:8080:1', undefined],
  ['127.0.0.1/..', undefined],
  [`${'x'.repeat(255)}:65535`, 'x'.repeat(255)],
  [`${'x'.repeat(256)}:65535`, undefined],
])('the Host header %j names the host %j', (header, host) => {
  expect(hostOf(header)).toBe(host);
});
