/** How GPUs are opened and listed, with a pretended package `webgpu`. */

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Adapter } from '#pickaxe/miner/engine/gpu/protocol.js';
import { pretendPlatform } from '../../../../platform.ts';

/** What the package exports. A test that sets `fault` makes the package fail to load. */
const dawn = vi.hoisted(() => ({
  fault: undefined as unknown,
  create: (_: readonly string[]): unknown => undefined,
}));

vi.mock('webgpu', () => ({
  get create() {
    if (dawn.fault !== undefined) throw dawn.fault;
    return (flags: readonly string[]) => dawn.create(flags);
  },
  globals: { GPUPretended: 'a global of WebGPU' },
}));

beforeEach(() => {
  vi.resetModules();
  dawn.fault = undefined;
});

/** @returns the module that opens GPUs, as it is on another system. What it does to the process ends with the test */
async function deviceOn(platform: string) {
  pretendPlatform(platform);
  const { setImmediate } = globalThis;
  onTestFinished(() => {
    globalThis.setImmediate = setImmediate;
    delete (globalThis as { GPUPretended?: string }).GPUPretended;
  });
  return import('#pickaxe/miner/engine/gpu/child/gpu-device.js');
}

describe('loading Dawn', () => {
  test('defines WebGPU’s globals, and lets timers poll instead of Dawn', async () => {
    const { loadDawn } = await deviceOn('linux');
    const { expectIn } = await import('#pickaxe/miner/engine/gpu/child/shader-scanner.js');
    let nowMs = 1_000;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const timers = vi.spyOn(globalThis, 'setTimeout').mockReturnValue(undefined as never);
    const own = globalThis.setImmediate;
    onTestFinished(() => {
      clock.mockRestore();
      timers.mockRestore();
    });
    dawn.create = () => 'Dawn';
    const create = await loadDawn();
    expect(create([])).toBe('Dawn');
    expect(globalThis).toMatchObject({ GPUPretended: 'a global of WebGPU' });

    const poll = (..._: unknown[]) => {};
    const polled = async () => {
      timers.mockClear();
      globalThis.setImmediate(poll, 'one', 'other');
      await new Promise((resolve) => own(resolve));
      return timers.mock.calls;
    };
    // Nothing is known of a batch at first.
    expect(await polled()).toEqual([[poll, 1, 'one', 'other']]);
    expectIn(20, 16);
    nowMs += 5;
    expect(await polled()).toEqual([[poll, 15.5, 'one', 'other']]);
    nowMs += 20;
    expect(await polled()).toEqual([[poll, 2, 'one', 'other']]);
  });

  const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

  test.each<[string, string, unknown, RegExp]>([
    [
      'an old C library',
      'linux',
      new Error('libc.so.6: version `GLIBC_2.38’ not found (required by dawn.node)'),
      /^GPU mining needs a newer C library \(GLIBC_2\.38\): use Debian 12, /,
    ],
    ['an old C++ library', 'linux', new Error('version `GLIBCXX_3.4.32’ not found'), /\(GLIBCXX_3\.4\.32\)/],
    [
      'no package webgpu',
      'linux',
      withCode("Cannot find package 'webgpu' imported from x", 'ERR_MODULE_NOT_FOUND'),
      /^the package webgpu, through which GPUs mine, is not installed: .*--omit=optional/,
    ],
    [
      'a package that webgpu needs',
      'linux',
      withCode("Cannot find package 'other' imported from x", 'ERR_MODULE_NOT_FOUND'),
      /^the WebGPU library does not load on linux-\w+: Cannot find package 'other' .*; install pickaxe again, with its/,
    ],
    [
      'another machine',
      'freebsd',
      withCode("Cannot find module 'dawn.node'\nRequire stack:\n- x", 'MODULE_NOT_FOUND'),
      /on freebsd-\w+: Cannot find module 'dawn\.node'; its package has no build for this kind of machine; CPU mining/,
    ],
    [
      'a file of webgpu itself that is missing',
      'linux',
      withCode("Cannot find module 'webgpu' (dlopen)", 'MODULE_NOT_FOUND'),
      /: Cannot find module 'webgpu' \(dlopen\); its package has no build for this kind of machine; CPU mining/,
    ],
    [
      'macOS’s quarantine',
      'darwin',
      new Error('dlopen: Library load denied by System Policy'),
      /on darwin-\w+: .*; allow it with `xattr -d com\.apple\.quarantine` and the name of that file; CPU mining is not/,
    ],
    [
      'the same words on another system',
      'linux',
      new Error('no code signature'),
      /: no code signature; CPU mining is not affected$/,
    ],
    ['another fault on macOS', 'darwin', new Error('out of memory'), /: out of memory; CPU mining is not affected$/],
    ['something that is no error', 'linux', 'no reason', /: no reason; CPU mining is not affected$/],
    ['nothing', 'linux', null, /: null; CPU mining is not affected$/],
  ])('fails because of %s, and the error says what to do', async (_, platform, fault, message) => {
    const { loadDawn } = await deviceOn(platform);
    dawn.fault = fault;
    const thrown = await loadDawn().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: 'DeviceError', fault: 'missing', message: expect.stringMatching(message) });
    expect((thrown as Error).message).toMatch(/CPU mining is not affected$/);
    expect((thrown as Error).cause).toBe(fault);
  });
});

const NAMELESS = { vendor: '', architecture: '', device: '', description: '', isFallbackAdapter: false };

/** A Dawn with these adapters, by name. An adapter that is undefined cannot be opened. */
function pretend(adapters: readonly (readonly [name: string, info: Partial<typeof NAMELESS> | undefined])[]) {
  const asked: string[] = [];
  dawn.create = (flags) => {
    const name = flags.find((flag) => flag.startsWith('adapter='))?.slice('adapter='.length) ?? '';
    asked.push(name);
    const found = adapters.find(([other]) => other.includes(name));
    return {
      requestAdapter: async () => {
        if (!found) {
          const lines = adapters.map(([other]) => ` * backend: 'vulkan', name: '${other}'`);
          throw new Error(['no adapter', ...lines].join('\n'));
        }
        return found[1] && { info: { ...NAMELESS, ...found[1] } };
      },
    };
  };
  return asked;
}

describe('the list of adapters', () => {
  test('has each in Dawn’s order, and opens each name that leads to it', async () => {
    const { listAdapters } = await deviceOn('linux');
    const asked = pretend([
      ['RTX 4090', { vendor: 'NVIDIA', description: 'NVIDIA 570.1' }],
      ['RTX 4090', { vendor: 'NVIDIA', description: 'NVIDIA 570.1' }],
      ['Arc', undefined],
      ['llvmpipe', { device: 'llvmpipe', description: 'Mesa' }],
    ]);
    const backend = 'vulkan';
    expect(await listAdapters()).toEqual<Adapter[]>([
      { model: 'RTX 4090', backend, info: { vendor: 'nvidia', driver: 'NVIDIA 570.1', software: false } },
      { model: 'RTX 4090', backend },
      { model: 'Arc', backend, fault: "there is no GPU 'Arc': `pickaxe devices` lists the GPUs" },
      { model: 'llvmpipe', backend, info: { vendor: 'unknown', driver: 'Mesa', software: true } },
    ]);
    expect(asked.slice(1)).toEqual(['RTX 4090', 'Arc', 'llvmpipe']);
  });

  test.each([
    ['there is none', () => Promise.reject(new Error('no adapter'))],
    ['Dawn gives no reason', () => Promise.reject('none')],
    ['Dawn takes any name', async () => ({ info: NAMELESS })],
  ])('is a fault that says what to install when %s', async (_, requestAdapter) => {
    const { listAdapters } = await deviceOn('linux');
    dawn.create = () => ({ requestAdapter });
    await expect(listAdapters()).rejects.toMatchObject({
      fault: 'missing',
      message: expect.stringMatching(/mesa-vulkan-drivers/),
    });
  });

  test('ends with a fault of pickaxe’s own', async () => {
    const { listAdapters } = await deviceOn('linux');
    pretend([['RTX', { vendor: 1 as never }]]);
    await expect(listAdapters()).rejects.toBeInstanceOf(TypeError);
  });
});

test('a GPU that Dawn refuses to look for is missing, and the fastest one is wanted', async () => {
  const { openAdapter } = await deviceOn('linux');
  const requestAdapter = vi.fn(() => Promise.reject(new Error('no such adapter')));
  const create = () => ({ requestAdapter });
  await expect(openAdapter(create as never, 'RTX')).rejects.toMatchObject({ fault: 'missing' });
  expect(requestAdapter.mock.calls).toEqual([[{ powerPreference: 'high-performance' }]]);
});

describe('an open device', () => {
  async function open() {
    const { openDevice } = await deviceOn('linux');
    let end = (_: { reason: string; message: string }) => {};
    const lost = new Promise<{ reason: string; message: string }>((resolve) => {
      end = resolve;
    });
    const device = Object.assign(new EventTarget(), { lost });
    const reasons: string[] = [];
    const adapter = { requestDevice: async () => device };
    expect(await openDevice(adapter as never, (reason) => reasons.push(reason))).toBe(device);
    const lose = async (reason: string, message: string) => {
      end({ reason, message });
      await lost;
      return reasons;
    };
    return { device, reasons, lose };
  }

  test.each([
    ['unknown', 'the driver was reset', ['the driver was reset']],
    ['unknown', '', ['the driver gave no reason']],
    ['destroyed', 'it was destroyed', []],
  ])('whose loss has the reason %s and the message “%s” is reported so', async (reason, message, expected) => {
    const { lose } = await open();
    expect(await lose(reason, message)).toEqual(expected);
  });

  test('that reports an error which nobody awaits is lost, and the error is not printed', async () => {
    const { device, reasons } = await open();
    const event = Object.assign(new Event('uncapturederror', { cancelable: true }), { error: new Error('too large') });
    device.dispatchEvent(event);
    expect(reasons).toEqual(['too large']);
    expect(event.defaultPrevented).toBe(true);
  });

  test('that the driver refuses is lost, because the GPU may be resetting', async () => {
    const { openDevice } = await deviceOn('linux');
    const adapter = { requestDevice: () => Promise.reject(new Error('out of memory')) };
    await expect(openDevice(adapter as never, () => {})).rejects.toMatchObject({
      fault: 'lost',
      message: 'the driver refuses to open the GPU (out of memory): update it',
    });
  });
});
