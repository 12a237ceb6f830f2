/** Every setting with many values, and tables with a typo: what becomes of them, or is said of them. */

import { describe, it } from 'vitest';
import { check } from '#pickaxe/app/config/check.js';
import { parseToml } from '#pickaxe/app/config/parse.js';
import { exampleToml } from '#pickaxe/app/config/print.js';
import type { RawSettings } from '#pickaxe/app/config/raw-settings.js';
import { ENTRIES } from '#pickaxe/app/config/settings.js';
import { type Recorded, recordIn } from '../../recorded.ts';
import { typosIn } from '../../variants.ts';

const TYPOS = 40;

const NUMBERS = [
  '0',
  '1',
  '-1',
  '2',
  '3',
  '10',
  '15',
  '60',
  '100',
  '101',
  '256',
  '1000',
  '3600',
  '65535',
  '65536',
  '1e3',
];
const TEXTS = [
  ...['', ' ', 'a', 'none', 'auto', 'cpu', 'gpu0', 'cpu,gpu0', 'info', 'true', 'keys-any', 'mainnet01', 'testnet04'],
  ...['50%', '-10%', '1.5', '10s', '500ms', '5m', '2h', '7d', '22:00-06:00', 'mon-fri 08:00-18:00', '1GH', '10 MH/s'],
  ...[
    '127.0.0.1',
    '127.0.0.1:1848',
    'localhost:0',
    '[::1]:80',
    ':9',
    '0.0.0.0:65536',
    'node.example',
    'node.example:443',
  ],
  ...['http://127.0.0.1:1848', 'https://u:p@node.example/x?y#z', 'stratum+tcp://pool.example:3333', 'ftp://x'],
  ...[
    'stratum+ssl://pool.example',
    'nats://127.0.0.1:4222',
    './a/b.pem',
    '~/x.txt',
    'a\nb',
    'k:abc.rig1',
    'x'.repeat(129),
  ],
  ...['0'.repeat(64), `k:${'0'.repeat(64)}`, `k:${'0'.repeat(64)}.rig1`, `u=${'A'.repeat(43)}`, 'EUR', '1 EUR', '0.30'],
].map((text) => JSON.stringify(text));
const OTHERS = [
  'true',
  'false',
  '1.5',
  '-0.25',
  'inf',
  'nan',
  '2026-01-01',
  '[]',
  '[1]',
  '["a", "a"]',
  '["cpu", "gpu0"]',
  '{a = 1}',
];
const VALUES = [...NUMBERS, ...TEXTS, ...OTHERS];

/** The lines of the example's settings by table, without comments. */
const TABLES = new Map<string, string[]>();
for (const line of exampleToml().split('\n')) {
  if (line.startsWith('[')) TABLES.set(line, []);
  else if (/^# [\w-]+ = /.test(line)) [...TABLES.values()].at(-1)?.push(line.slice(2));
}

function rawOf(text: string): RawSettings {
  const { document, positions, faults, unread } = parseToml(text);
  const at = (path: readonly (string | number)[]) => Object.values(positions(path) ?? {}).join(':');
  return { document, where: at, at, problems: faults.map((fault) => JSON.stringify(fault)), unread };
}

function outcomeOf(input: string): Recorded {
  const { values, problems, unknown } = check(rawOf(input));
  const plain = (_: string, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value instanceof Map || value instanceof Set ? [...value] : value;
  return { input, outcome: JSON.stringify([[...values], problems, unknown], plain) };
}

const expectRecorded = recordIn(new URL('recorded.json', import.meta.url));

describe('values have the recorded outcome', () => {
  it.each(ENTRIES.map(({ table, key }) => [table, key]))('of %s.%s', (table, key) => {
    expectRecorded(
      `${table}.${key}`,
      VALUES.map((value) => outcomeOf(`[${table}]\n${key} = ${value}\n`)),
    );
  });
});

describe('typos have the recorded outcome', () => {
  it.each([...TABLES])('in %s', (head, lines) => {
    const text = [head, ...lines, ''].join('\n');
    expectRecorded(head, [text, ...typosIn(text, TYPOS)].map(outcomeOf));
  });
});
