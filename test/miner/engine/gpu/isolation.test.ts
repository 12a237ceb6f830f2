import { describe, expect, test } from 'vitest';
import { onlyAt, parseTable } from '#pickaxe/miner/engine/gpu/disambiguate.js';

const MODEL = 'NVIDIA GeForce RTX 3080';
const THREE_ALIKE = `selectable devices:
  GPU 0: 10de:2206 "${MODEL}" discrete GPU 0000:17:00.0
  GPU 1: 10de:2206 "${MODEL}" discrete GPU 0000:65:00.0
  GPU 2: 10de:2206 "${MODEL}" discrete GPU 0000:b3:00.0
device-select: device_select_find_non_cpu selected 0
`;

describe('the layer’s table', () => {
  test('of three equal cards', () => {
    const card = { vendorId: 0x10de, deviceId: 0x2206, model: MODEL, isCpu: false };
    expect(parseTable(THREE_ALIKE)).toEqual([
      { ...card, bus: '0000:17:00.0' },
      { ...card, bus: '0000:65:00.0' },
      { ...card, bus: '0000:b3:00.0' },
    ]);
  });

  test('of a card, an integrated GPU, and a software renderer without an address', () => {
    const text = `selectable devices:
  GPU 0: 1002:744c "AMD Radeon RX 7900 XTX (RADV NAVI31)" discrete GPU 0000:03:00.0
  GPU 1: 1002:164e "AMD Radeon Graphics (RADV RAPHAEL_MENDOCINO)" integrated GPU 0000:10:00.0
  GPU 2: 10005:0 "llvmpipe (LLVM 15.0.6, 256 bits)" CPU 0000:00:00.0
`;
    expect(parseTable(text)).toEqual([
      {
        vendorId: 0x1002,
        deviceId: 0x744c,
        model: 'AMD Radeon RX 7900 XTX (RADV NAVI31)',
        isCpu: false,
        bus: '0000:03:00.0',
      },
      {
        vendorId: 0x1002,
        deviceId: 0x164e,
        model: 'AMD Radeon Graphics (RADV RAPHAEL_MENDOCINO)',
        isCpu: false,
        bus: '0000:10:00.0',
      },
      { vendorId: 0x10005, deviceId: 0, model: 'llvmpipe (LLVM 15.0.6, 256 bits)', isCpu: true },
    ]);
  });

  test('without addresses, as with Vulkan 1.0 or with some drivers', () => {
    const rows = parseTable('selectable devices:\n  GPU 0: 10005:0 "llvmpipe (LLVM 15.0.6, 256 bits)" CPU\n');
    expect(rows).toStrictEqual([
      { vendorId: 0x10005, deviceId: 0, model: 'llvmpipe (LLVM 15.0.6, 256 bits)', isCpu: true },
    ]);
  });

  test('is the last one in the output', () => {
    const cutOff = '6 "NVIDIA GeForce RTX 3080" discrete GPU 0000:99:00.0\n';
    const noise = 'WARNING: radv is not a conformant Vulkan implementation\nWarning: artificially reduced\n';
    const text = cutOff + noise + THREE_ALIKE + noise + THREE_ALIKE.replace('  GPU 2', `${noise}  GPU 2`) + noise;
    expect(parseTable(text)).toEqual(parseTable(THREE_ALIKE));
  });

  test('may have names with quotes, and addresses with long domains', () => {
    const [row] = parseTable('selectable devices:\n  GPU 0: 8086:e20b "the "best" GPU" virtual GPU 10000:e1:00.1\n');
    expect(row).toMatchObject({ model: 'the "best" GPU', bus: '10000:e1:00.1' });
  });

  test.each([
    ['nothing', ''],
    ['no heading', '  GPU 0: 10de:2206 "x" discrete GPU 0000:17:00.0\n'],
    ['no GPU', 'selectable devices:\n'],
    ['other words', 'selectable devices:\n  GPU zero: what "x" GPU\n  GPU 0: 10de "x" discrete GPU\n'],
    ['half a bus', 'selectable devices:\n  GPU 0: 10de:2206 "x" discrete GPU 0000:17\n'],
  ])('has no rows in %s', (_, text) => {
    expect(parseTable(text)).toEqual([]);
  });
});

test('a GPU is isolated by its address, whatever device the user has selected', () => {
  expect(onlyAt('0000:65:00.0')).toEqual({ DRI_PRIME: 'pci-0000_65_00_0!', MESA_VK_DEVICE_SELECT: '' });
});
