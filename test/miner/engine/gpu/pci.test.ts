import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { displayDevices, makerOf, parseBus } from '#pickaxe/miner/engine/gpu/pci.js';

test('finds the GPUs on the bus, including those without an output, and nothing else', () => {
  const sysfs = mkdtempSync(join(tmpdir(), 'pickaxe-pci-'));
  const device = (bus: string, vendor: string, kind: string) => {
    mkdirSync(join(sysfs, bus));
    writeFileSync(join(sysfs, bus, 'vendor'), `${vendor}\n`);
    writeFileSync(join(sysfs, bus, 'class'), `${kind}\n`);
  };
  device('0000:00:00.0', '0x8086', '0x060000'); // bridge
  device('0000:00:02.0', '0x8086', '0x030000'); // VGA
  device('0000:01:00.0', '0x1002', '0x038000'); // other display
  device('0000:65:00.0', '0x10de', '0x030200'); // 3D
  device('0000:65:00.1', '0x10de', '0x040300'); // its sound
  device('0000:70:00.0', '0x1a03', '0x030000'); // a server's management
  expect(displayDevices(sysfs)).toEqual([
    { bus: '0000:00:02.0', vendor: 'intel' },
    { bus: '0000:01:00.0', vendor: 'amd' },
    { bus: '0000:65:00.0', vendor: 'nvidia' },
  ]);
  rmSync(sysfs, { recursive: true });
  expect(displayDevices(sysfs)).toEqual([]);
});

test.each([
  [0x10de, 'nvidia'],
  [0x1002, 'amd'],
  [0x8086, 'intel'],
  ['nvidia', 'nvidia'],
  ['amd', 'amd'],
  [0x10005, undefined],
  ['mesa', undefined],
])('the maker %s is %s', (vendor, maker) => {
  expect(makerOf(vendor)).toBe(maker);
});

test.each([
  ['0000:65:00.0', '0000:65:00.0'],
  ['00000000:65:00.0', '0000:65:00.0'],
  ['0000:B3:00.7', '0000:b3:00.7'],
  ['A:02:03.4', '000a:02:03.4'],
  ['10000:e1:00.1', '10000:e1:00.1'],
])('the PCI address %s is %s', (text, bus) => {
  expect(parseBus(text)).toBe(bus);
});

test.each(['', '65:00.0', '0000:65:00', '0000:65:00.8', 'pci 0000:65:00.0', '000000000:65:00.0', '0000:65:00.0x'])(
  '%j is no PCI address',
  (text) => {
    expect(() => parseBus(text)).toThrow(`'${text}' is not a PCI address such as 0000:65:00.0`);
  },
);

test('the error for a text that is no PCI address quotes its beginning', () => {
  expect(() => parseBus('x'.repeat(1_000))).toThrow(
    new Error(`'${'x'.repeat(40)}' is not a PCI address such as 0000:65:00.0`),
  );
});
