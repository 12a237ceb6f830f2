import { beforeEach, describe, expect, test, vi } from 'vitest';
import { disambiguate, type Look, type TableRow } from '#pickaxe/miner/engine/gpu/disambiguate.js';
import type { Adapter } from '#pickaxe/miner/engine/gpu/protocol.js';

const info = { vendor: 'nvidia', driver: 'NVIDIA 570.1', software: false };
/** The adapters that Dawn lists for these names. For a name, Dawn opens the first adapter whose name contains it. */
const adaptersOf = (...models: string[]): Adapter[] =>
  models.map((model, i) => {
    const opens = models.findIndex((other) => other.includes(model)) === i;
    return { model, backend: 'vulkan', ...(opens && { info }) };
  });
const row = (model: string, bus?: string): TableRow => {
  const ids = { vendorId: 0x10de, deviceId: 0x2206 };
  return { ...ids, model, isCpu: false, ...(bus && { bus }) };
};
const BUSES = ['0000:17:00.0', '0000:65:00.0', '0000:b3:00.0'];
const TAGS = ['pci-0000_17_00_0!', 'pci-0000_65_00_0!', 'pci-0000_b3_00_0!'];
const alike = adaptersOf('RTX 3080', 'RTX 3080', 'RTX 3080');
const table = BUSES.map((bus) => row('RTX 3080', bus));

/** A simulated layer: a process that is limited to an address sees only the card at that address. */
const obeying: Look = async ({ DRI_PRIME }) => [
  { model: 'RTX 3080', backend: 'vulkan', info: { ...info, driver: `at ${DRI_PRIME}` } },
];
const nobody = vi.fn<Look>(async () => []);
beforeEach(() => void nobody.mockClear());

describe('cards that Dawn can distinguish', () => {
  test('need no separate process', async () => {
    const rows = [row('Arc B580', '0000:03:00.0'), row('RTX 3080', '0000:01:00.0')];
    const found = await disambiguate(adaptersOf('RTX 3080', 'Arc B580'), rows, nobody);
    expect(found).toEqual([
      { model: 'RTX 3080', backend: 'vulkan', ...info, bus: '0000:01:00.0' },
      { model: 'Arc B580', backend: 'vulkan', ...info, bus: '0000:03:00.0' },
    ]);
    expect(nobody).not.toHaveBeenCalled();
  });

  test('need no layer', async () => {
    const found = await disambiguate(adaptersOf('RTX 3080'), [], nobody);
    expect(found).toEqual([{ model: 'RTX 3080', backend: 'vulkan', ...info }]);
  });

  test('that cannot be opened say why', async () => {
    const broken = { model: 'RTX 3080', backend: 'vulkan', fault: 'the driver is too old' };
    const found = await disambiguate([broken], [row('RTX 3080', BUSES[0])], nobody);
    expect(found).toMatchObject([{ vendor: 'nvidia', bus: BUSES[0], fault: broken.fault }]);
  });
});

test.each<[string, TableRow[], object]>([
  ['without the layer', [], { vendor: 'unknown', driver: 'unknown', software: false }],
  ['of a maker without a PCI number', [{ ...row('x'), vendorId: 0x10005 }], { vendor: 'unknown', software: false }],
  ['of a software renderer', [{ ...row('x'), isCpu: true }], { vendor: 'nvidia', software: true }],
])('what is known of an adapter that cannot be opened: %s', async (_, rows, known) => {
  const found = await disambiguate([{ model: 'x', backend: 'vulkan', fault: 'refused' }], rows, nobody);
  expect(found).toMatchObject([{ ...known, driver: 'unknown', fault: 'refused' }]);
});

describe('equal cards', () => {
  test('are each described by a process that sees no other card', async () => {
    const found = await disambiguate(alike, table, obeying);
    expect(found).toMatchObject(
      TAGS.map((tag, i) => ({ driver: `at ${tag}`, bus: BUSES[i], environment: { DRI_PRIME: tag } })),
    );
    expect(found.flatMap(({ fault }) => fault ?? [])).toEqual([]);
  });

  test('have processes of their own if there are only two', async () => {
    const found = await disambiguate(alike.slice(0, 2), table.slice(0, 2), obeying);
    expect(found.map(({ environment }) => environment?.DRI_PRIME)).toEqual(TAGS.slice(0, 2));
  });

  test('are used when another one fails', async () => {
    const look: Look = async (environment) => {
      if (environment.DRI_PRIME === TAGS[0]) throw new Error('it did not answer within 15 s');
      return obeying(environment);
    };
    const found = await disambiguate(alike, table, look);
    expect(found.map(({ bus }) => bus)).toEqual(BUSES);
    // For the name alone, Dawn might open another GPU.
    expect(found[0]).toMatchObject({ fault: expect.stringMatching(/17:00\.0 failed: it did not answer/) });
    expect(found[0].environment).toBeUndefined();
    expect(found.slice(1).map(({ fault }) => fault)).toEqual([undefined, undefined]);
  });

  test('are looked at a few at a time, and one that hangs does not delay the others', async () => {
    const many = adaptersOf(...Array<string>(10).fill('RTX 3080'));
    const rows = many.map((_, i) => row('RTX 3080', `0000:0${i}:00.0`));
    let running = 0;
    let most = 0;
    let unhang = () => {};
    const hung = new Promise<void>((resolve) => {
      unhang = resolve;
    });
    let looked = 0;
    const look: Look = async (environment) => {
      most = Math.max(most, ++running);
      await (environment.DRI_PRIME === 'pci-0000_00_00_0!' ? hung : null);
      running--;
      looked++;
      return obeying(environment);
    };
    const telling = disambiguate(many, rows, look);
    await vi.waitFor(() => expect(looked).toBe(9), { timeout: 60_000 });
    unhang();
    expect((await telling).filter(({ environment }) => environment)).toHaveLength(10);
    expect(most).toBe(4);
  });

  test.each<[string, Adapter[], string]>([
    ['all of them, as with a layer that is too old', alike, '3 GPUs'],
    ['none', [], '0 GPUs'],
    ['another', adaptersOf('GTX 1080'), 'GTX 1080'],
    ['one that does not open', [{ model: 'RTX 3080', backend: 'vulkan', fault: 'refused' }], 'refused'],
  ])('are used like one when a process that was to see one sees %s', async (_, seen, what) => {
    const found = await disambiguate(alike, table, async () => seen);
    expect(found[0]).toEqual({ model: 'RTX 3080', backend: 'vulkan', ...info });
    for (const other of found.slice(1)) {
      const fault = expect.stringMatching(`should see only the GPU at .* saw ${what} \\(Mesa .*docs/devices\\.md`);
      expect(other).toMatchObject({ ...info, fault });
      expect(other.bus).toBeUndefined();
    }
  });

  test.each<[string, TableRow[], RegExp]>([
    ['there is no layer', [], process.platform === 'linux' ? /mesa-vulkan-drivers/ : /nothing on this system/],
    ['one has no bus', [table[0], table[1], row('RTX 3080')], /PCI address/],
    ['two have the same bus', [table[0], table[1], table[1]], /PCI address/],
    ['the table has fewer', table.slice(1), /PCI address/],
    ['the table has more', [...table, row('RTX 3080', '0000:c1:00.0')], /PCI address/],
    ['the table has one more without a bus', [...table, row('RTX 3080')], /PCI address/],
  ])('are used like one when %s', async (_, rows, why) => {
    const look = vi.fn(obeying);
    const found = await disambiguate(alike, rows, look);
    expect(look).not.toHaveBeenCalled();
    expect(found[0]).toEqual({ model: 'RTX 3080', backend: 'vulkan', ...info });
    for (const other of found.slice(1)) expect(other.fault).toMatch(why);
  });
});

describe('a card with two drivers', () => {
  const [xtx, radv] = ['RX 7900 XTX', 'RX 7900 XTX (RADV NAVI31)'];
  const [bus, otherBus] = BUSES;

  test('is used through the first one', async () => {
    for (const [first, second] of [
      [radv, xtx],
      [xtx, radv],
    ]) {
      const found = await disambiguate(adaptersOf(first, second), [row(first, bus), row(second, bus)], nobody);
      expect(found).toMatchObject([
        { model: first, bus },
        { model: second, bus, double: true },
      ]);
      expect(found.flatMap(({ fault }) => fault ?? [])).toEqual([]);
    }
  });

  test('is used through the second one when the first does not open', async () => {
    const broken = { model: radv, backend: 'vulkan', fault: 'refused' };
    const found = await disambiguate([broken, ...adaptersOf('AMD')], [row(radv, bus), row('AMD', bus)], nobody);
    expect(found).toMatchObject([
      { model: radv, bus, double: true },
      { model: 'AMD', bus },
    ]);
    expect(found[1].double).toBeUndefined();
  });

  test('that opens with neither has both reasons', async () => {
    const broken = [radv, 'AMD'].map((model) => ({ model, backend: 'vulkan', fault: `${model} is refused` }));
    const found = await disambiguate(broken, [row(radv, bus), row('AMD', bus)], nobody);
    expect(found.map(({ fault }) => fault)).toEqual(broken.map(({ fault }) => fault));
    expect(found.map(({ double }) => double)).toEqual([undefined, undefined]);
  });

  const rows = [row(radv, bus), row(radv, otherBus), row(xtx, bus), row(xtx, otherBus)];

  test.each([
    [radv, radv, xtx, xtx],
    [xtx, xtx, radv, radv],
    [xtx, radv, xtx, radv],
  ])('and its like are two, by the driver that the layer shows: %s, %s, %s, %s', async (...models) => {
    const look: Look = async () => [{ model: radv, backend: 'vulkan', info }];
    const found = await disambiguate(adaptersOf(...models), rows, look);
    const used = found.filter(({ double }) => !double);
    expect(used).toEqual([
      { model: radv, backend: 'vulkan', ...info, bus, environment: expect.objectContaining({ DRI_PRIME: TAGS[0] }) },
      {
        model: radv,
        backend: 'vulkan',
        ...info,
        bus: otherBus,
        environment: expect.objectContaining({ DRI_PRIME: TAGS[1] }),
      },
    ]);
    const doubles = found.filter(({ double }) => double);
    expect(doubles.map((gpu) => [gpu.model, gpu.bus, gpu.fault, gpu.environment])).toEqual([
      [xtx, bus, undefined, undefined],
      [xtx, otherBus, undefined, undefined],
    ]);
  });

  test('and its like are used like one where the layer is too old', async () => {
    const all = adaptersOf(xtx, xtx, radv, radv);
    const found = await disambiguate(all, rows, async () => all);
    const isUsed = found.map(({ fault, double }) => fault === undefined && !double);
    expect(isUsed).toEqual([true, false, false, false]);
  });
});

describe('a card whose name is part of another’s', () => {
  const rows = [row('RTX 3080 Ti', BUSES[0]), row('RTX 3080', BUSES[1])];

  test('has a separate process, and the other needs none', async () => {
    const found = await disambiguate(adaptersOf('RTX 3080 Ti', 'RTX 3080'), rows, obeying);
    expect(found.map(({ bus }) => bus)).toEqual(BUSES.slice(0, 2));
    expect(found.map(({ environment }) => environment?.DRI_PRIME)).toEqual([undefined, TAGS[1]]);
  });

  test('is not used without the layer if Dawn would open the other one', async () => {
    const [, behind] = await disambiguate(adaptersOf('RTX 3080 Ti', 'RTX 3080'), [], obeying);
    expect(behind).toMatchObject({ vendor: 'unknown', fault: expect.stringMatching(/another GPU has the same name/) });
    const [first, second] = await disambiguate(adaptersOf('RTX 3080', 'RTX 3080 Ti'), [], obeying);
    expect([first.fault, second.fault]).toEqual([undefined, undefined]);
  });
});
