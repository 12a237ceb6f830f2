/** Figures of several devices and relays, and the tables of them. */

import { describe, expect, it } from 'vitest';
import { OUTCOMES } from '#pickaxe/miner/events/vocabulary.js';
import {
  aligned,
  type Column,
  countsShares,
  DEVICE_COLUMNS,
  describeVerdicts,
  formatVerdicts,
  hottest,
  howKnown,
  inService,
  livesOnRelays,
  RATE_COLUMNS,
  shortName,
  sumOfRelays,
  textTable,
  WORKER_COLUMNS,
  workerTable,
} from '#pickaxe/rig/status/figures.js';
import type { DeviceStatus, RigStatus, Worker } from '#pickaxe/rig/status/status.js';
import { NO_SENSORS } from './fakes.ts';

const counts = (changes: object = {}) =>
  ({ ...Object.fromEntries(OUTCOMES.map((name) => [name, 0])), ...changes }) as never;
const worker = (changes: Partial<Worker> = {}): Worker =>
  ({
    name: 'rig1',
    sessions: 2,
    hashesPerSecond: 1e6,
    difficulty: 1e9,
    accepted: 1,
    rejected: 2,
    stale: 3,
    duplicate: 4,
    blocks: 5,
    lastShareSeconds: 6,
    ...changes,
  }) as Worker;
const devices = (given: Record<string, object>) => given as unknown as RigStatus['devices'];
const relays = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [name, { sessions: 2, workersConnected: 3, hashesPerSecond: 5 }]),
  ) as unknown as RigStatus['relays'];

describe('shares are shown', () => {
  it.each([
    ['the work has a share difficulty', { shareDifficulty: 5 }, counts(), true],
    ['a share was counted', null, counts({ stale: 1 }), true],
    ['neither is so', { shareDifficulty: null }, counts(), false],
    ['there is no work', null, counts(), false],
  ])('or not: %s', (_, work, shares, areShown) => {
    expect(countsShares(work, shares)).toBe(areShown);
  });

  it('before the blocks', () => {
    const blocks = counts({ accepted: 1, shares: counts() });
    expect(describeVerdicts(blocks)).toMatch(/^1 accepted, /);
    const withShares = counts({ accepted: 1, shares: counts({ accepted: 40, stale: 2 }) });
    expect(describeVerdicts(withShares)).toMatch(/^shares: 40 accepted, .*; blocks: 1 accepted, /);
    expect(describeVerdicts(blocks, { shareDifficulty: 5 } as never)).toMatch(/^shares: 0 accepted, .*; blocks: 1 /);
  });
});

it('a rig lives on relays if it has some, and no devices', () => {
  const [some, none] = [devices({ cpu: {} }), devices({})];
  const lives = (own: RigStatus['devices'], ...names: string[]) =>
    livesOnRelays({ devices: own, relays: relays(...names) });
  expect([lives(none, 'stratum'), lives(some, 'stratum'), lives(none), lives(some)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it('relays are added', () => {
  expect(sumOfRelays(relays())).toEqual({ sessions: 0, workersConnected: 0, hashesPerSecond: 0 });
  expect(sumOfRelays(relays('a', 'b'))).toEqual({ sessions: 4, workersConnected: 6, hashesPerSecond: 10 });
});

it.each([
  [['stratum'], 'estimated from shares'],
  [['fleet'], 'as its rigs report it'],
  [['fleet', 'stratum'], 'estimated from shares or reported by rigs'],
])('where the hashrates of the workers of %j come from is said', (names, text) => {
  expect(howKnown(names)).toBe(text);
});

it('the hottest device decides, and devices without a temperature do not count', () => {
  const at = (temperatureCelsius: number | null) => ({ sensors: { ...NO_SENSORS, temperatureCelsius } });
  expect(hottest(devices({}))).toBeNull();
  expect(hottest(devices({ cpu: at(null) }))).toBeNull();
  expect(hottest(devices({ cpu: at(60), gpu0: at(null), gpu1: at(75), gpu2: at(0) }))).toBe(75);
});

it('devices that have never worked are not in service', () => {
  const given = devices({ cpu: { hasWorked: true }, gpu0: { hasWorked: false } });
  expect(inService(given).map(([name]) => name)).toEqual(['cpu']);
});

it.each([
  [`k:${'a'.repeat(40)}.rig1`, 'k:aaaaaa…aaaa.rig1'],
  [`k:${'0123456789abcDEF'.repeat(4)}`, 'k:012345…cDEF'],
  ['a'.repeat(39), 'a'.repeat(39)],
  ['rig1', 'rig1'],
])('the name %s is shown as %s', (name, short) => {
  expect(shortName(name)).toBe(short);
});

it('verdicts are three numbers', () => {
  expect(formatVerdicts({ accepted: 12, rejected: 0, stale: 1 })).toBe('12/0/1');
});

describe('columns', () => {
  const rates = {
    hashesPerSecondByWindow: { last10s: 1e6, last60s: null, last15m: 3e6 },
    highestHashesPerSecond: 4e6,
  };
  const device = (changes: object = {}, sensors: object = {}) =>
    ({
      state: 'mining',
      sensors: { ...NO_SENSORS, ...sensors },
      hashesPerJoule: null,
      shares: { accepted: 1, rejected: 2, stale: 3 },
      accepted: 4,
      hardwareErrors: 5,
      reopens: 6,
      ...changes,
    }) as unknown as DeviceStatus;
  const cells = <Item>(columns: Record<string, Column<Item>>, item: Item) =>
    Object.values(columns).map(({ cell }) => cell(item));

  it('of rates', () => {
    expect(cells(RATE_COLUMNS, rates as never)).toEqual(['1.000 MH/s', null, '3.000 MH/s', '4.000 MH/s']);
  });

  it('of devices', () => {
    const nothing = ['mining', null, null, null, null, '1/2/3', '4', '5', '6'];
    expect(cells(DEVICE_COLUMNS, device())).toEqual(nothing);
    const sensors = { temperatureCelsius: 61, fanRatio: 0.5, fanRpm: 1_200, powerWatts: 250 };
    const [, temperature, fan, power, efficiency] = cells(DEVICE_COLUMNS, device({ hashesPerJoule: 2e6 }, sensors));
    expect([temperature, fan, power]).toEqual(['61 °C', '50 %', '250 W']);
    expect(efficiency).toMatch(/^2\.0+ MH\/J$/);
    expect(DEVICE_COLUMNS.fan.cell(device({}, { fanRpm: 1_200.4 }))).toBe('1200 rpm');
  });

  it('of workers', () => {
    const known = ['2', '1.000 MH/s', expect.any(String), '1/2/3/4', '1', '2', '3', '4', '5', '6 s ago'];
    expect(cells(WORKER_COLUMNS, worker())).toEqual(known);
    expect(WORKER_COLUMNS.lastShare.cell(worker({ lastShareSeconds: null }))).toBeNull();
    expect(WORKER_COLUMNS.difficulty.cell(worker({ difficulty: null }))).toBeNull();
  });
});

describe('a table of text', () => {
  it('has its numbers on the right, its texts on the left, and a sign for what is not known', () => {
    const columns: Column<{ text: string; value: string | null }>[] = [
      { heading: 'words', isText: true, cell: ({ text }) => text },
      { heading: 'a long number', shortHeading: 'number', cell: ({ value }) => value },
    ];
    const items = [
      ['a', { text: 'x', value: '1' }],
      ['long name', { text: 'longer text', value: null }],
    ] as const;
    expect(textTable('name', columns, items)).toEqual([
      'name       words        number',
      'a          x                 1',
      'long name  longer text       -',
    ]);
  });

  it('of workers has their names as a function makes them', () => {
    const [head, row, ...more] = workerTable([worker()], (name) => `<${name}>`);
    expect(head).toMatch(
      /^worker {2,}sessions {2,}estimated {2,}difficulty {2,}acc\/rej\/stale\/dup {2,}blocks {2,}last share$/,
    );
    expect(row).toMatch(/^<rig1> {2,}2 {2,}1\.000 MH\/s {2}.* {2,}1\/2\/3\/4 {2,}5 {2,}6 s ago$/);
    expect(more).toEqual([]);
  });

  it('is aligned on the left if nothing else is said, without blanks at the ends', () => {
    expect(
      aligned([
        ['a', 'bb'],
        ['ccc', 'd'],
      ]),
    ).toEqual(['a    bb', 'ccc  d']);
  });
});
