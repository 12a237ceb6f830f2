import { expect, it } from 'vitest';
import { isLoopback } from '#pickaxe/base/text/addresses.js';
import { admits, bearerCheck, isForeign } from '#pickaxe/rig/http/http-access.js';

it.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['127.1', false],
  ['127.evil.example', false],
  ['localhost.evil.example', false],
  ['0.0.0.0', false],
  ['192.168.0.2', false],
])('%s is loopback: %s', (host, loopback) => {
  expect(isLoopback(host)).toBe(loopback);
});

const rig = 'Rig7';

it.each(['127.0.0.1:1', 'localhost:1', '[::1]:1', '127.8.8.8'])('on loopback, the host %s is admitted', (header) => {
  expect(admits({ host: '127.0.0.1', hostname: rig }, header)).toBe(true);
});

it.each([undefined, 'evil.example', 'rig7', '192.168.0.2', 'localhost.evil.example', '127.0.0.1.nip.io', '0', '[::]'])(
  'on loopback, the host %s is refused',
  (header) => {
    expect(admits({ host: '127.0.0.1', hostname: rig }, header)).toBe(false);
  },
);

it.each(['192.168.0.2:1', '[fd00::2]:1', 'rig7', 'RIG7.local:1', 'localhost'])(
  'on other addresses, the host %s is admitted',
  (header) => {
    expect(admits({ host: '0.0.0.0', hostname: rig }, header)).toBe(true);
  },
);

it.each([undefined, 'evil.example', 'rig7.evil.example', 'rig'])(
  'on other addresses, the host %s is refused',
  (header) => {
    expect(admits({ host: '0.0.0.0', hostname: rig }, header)).toBe(false);
  },
);

it('the name that the server was given is admitted', () => {
  expect(admits({ host: 'miner.example', hostname: rig }, 'Miner.Example:8080')).toBe(true);
});

it('requests from the pages of other websites are recognized', () => {
  const ask = { method: 'GET', host: '127.0.0.1:80', origin: undefined, site: undefined, mode: undefined };
  expect(isForeign(ask)).toBe(false);
  expect(isForeign({ ...ask, origin: 'http://127.0.0.1:8080', host: '127.0.0.1:8080', site: 'same-origin' })).toBe(
    false,
  );
  expect(isForeign({ ...ask, origin: 'http://127.0.0.1:3000', host: '127.0.0.1:8080' })).toBe(true);
  expect(isForeign({ ...ask, origin: 'https://evil.example' })).toBe(true);
  expect(isForeign({ ...ask, origin: 'null' })).toBe(true);
  expect(isForeign({ ...ask, site: 'cross-site', mode: 'no-cors' })).toBe(true);
  expect(isForeign({ ...ask, site: 'same-site', mode: 'no-cors' })).toBe(true);
  expect(isForeign({ ...ask, site: 'same-origin', mode: 'no-cors' })).toBe(false);
  expect(isForeign({ ...ask, site: 'none', mode: 'no-cors' })).toBe(false);
  expect(isForeign({ ...ask, site: 'cross-site', mode: 'navigate' })).toBe(false);
  expect(isForeign({ ...ask, site: 'cross-site', mode: 'navigate', method: 'POST' })).toBe(true);
});

it.each([
  ['Bearer correct-horse-battery', true],
  ['bearer   correct-horse-battery', true],
  ['Bearer correct-horse-batter', false],
  ['Bearer correct-horse-battery x', false],
  ['Basic correct-horse-battery', false],
  ['correct-horse-battery', false],
  ['Bearer', false],
  ['', false],
  [undefined, false],
])('the header %j carries the token: %s', (header, carries) => {
  expect(bearerCheck('correct-horse-battery')(header)).toBe(carries);
});
