import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatHashrate, formatSize, parseHashrate, parseSize, parseTime } from '#pickaxe/base/text/quantities.js';

it.each([
  [
    parseTime,
    {
      90: 90,
      '1.5': 1.5,
      '90s': 90,
      '90m': 5_400,
      '8h': 28_800,
      '2d': 172_800,
      '0.5h': 1_800,
      '1h30m': 5_400,
      '1d0.5h5s': 88_205,
    },
  ],
  [parseSize, { 2048: 2_048, '500k': 512_000, '10M': 10_485_760, '1G': 1_073_741_824 }],
  [
    parseHashrate,
    {
      1000: 1e3,
      '5k': 5e3,
      '800M': 8e8,
      '20G': 2e10,
      '1.5T': 1.5e12,
      '2P': 2e15,
      '20GH/s': 2e10,
      '20 GH/s': 2e10,
      '7 H/s': 7,
    },
  ],
])('%o reads numbers with and without units', (parse, known) => {
  for (const [text, value] of Object.entries(known)) expect(parse(text)).toBe(value);
});

it.each([
  '',
  'h',
  '-1',
  '1 h',
  '1e3',
  '8w',
  '.5',
  '5.',
  '0x10',
  '1hh',
  '٣',
  '9'.repeat(21),
  '1toString',
  '1m1h',
  '1h1h',
  '1 ',
  '1H',
  '1 GHs',
])('%j is not a quantity', (text) => {
  for (const parse of [parseTime, parseSize, parseHashrate]) expect(parse(text)).toBeUndefined();
});

it('units are case-sensitive', () => {
  expect(parseTime('2D')).toBeUndefined();
  expect(parseSize('10m')).toBeUndefined();
  expect(parseHashrate('20g')).toBeUndefined();
});

it.each([
  [formatSize, parseSize, { '10M': 10_485_760, '1.5k': 1_536, '10000': 10_000 }],
  [formatHashrate, parseHashrate, { '20G': 2e10, '1.5T': 1.5e12, '123456789': 123_456_789, '800M': 8e8 }],
])('%o writes the shortest text that is read as the same value', (format, parse, known) => {
  for (const [text, value] of Object.entries(known)) expect(format(value)).toBe(text);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 50 }), (value) => {
      expect(parse(format(value))).toBe(value);
    }),
  );
});
