import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { displayDevices } from '#pickaxe/miner/engine/gpu/pci.js';

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
