import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { KernelRow } from '#pickaxe/app/composition/choose-engines.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';
import { examineGpus, type GpuFacts } from '#pickaxe/app/doctor/examine-gpus.js';
import {
  examineCacheFolder,
  examineConfigFolder,
  examineCpu,
  examineDevices,
  examineSensors,
  examineSystem,
  isFolderWritable,
  readSystem,
  type SystemFacts,
} from '#pickaxe/app/doctor/examine-machine.js';
import { examineEarnings } from '#pickaxe/app/doctor/expected-earnings.js';
import { earningsTerms } from '#pickaxe/app/nodes/ledger-views.js';
import type { Finding } from '#pickaxe/base/finding.js';
import type { Gpu } from '#pickaxe/miner/engine/gpu/list-gpus.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { parseWork, type Work } from '#pickaxe/protocol/chain/work.js';

const brief = (findings: readonly Finding[]) => findings.map(({ about, state }) => `${state} ${about}`);

/** Every warning and fault says why it matters and what to do. */
function isHelpful(findings: readonly Finding[]): void {
  for (const finding of findings.filter(({ state }) => state !== 'ok')) {
    expect(finding).toMatchObject({ why: expect.any(String), remedy: expect.any(String) });
  }
}

describe('the system', () => {
  const well: SystemFacts = {
    node: '20.19.0',
    platform: 'linux',
    arch: 'x64',
    glibc: '2.36',
    memory: 4 * 2 ** 30,
    files: 1024,
  };
  const states = (facts: Partial<SystemFacts>) => {
    const findings = examineSystem({ ...well, ...facts });
    isHelpful(findings);
    return brief(findings.filter(({ state }) => state !== 'ok'));
  };

  it('has no faults in the usual case', () => {
    expect(brief(examineSystem(well))).toEqual(['ok Node.js', 'ok system', 'ok memory', 'ok limits']);
  });

  it.each([
    [{ node: '20.18.3' }, ['fault Node.js']],
    [{ node: '20.20.0' }, []],
    [{ node: '21.0.0' }, []],
    [{ node: '19.30.0' }, ['fault Node.js']],
    [{ glibc: '2.34' }, []],
    [{ glibc: '2.33' }, ['warning system']],
    [{ memory: 512 * 2 ** 20 }, []],
    [{ memory: 512 * 2 ** 20 - 1 }, ['warning memory']],
    [{ files: 256 }, []],
    [{ files: 255 }, ['warning limits']],
    [{ node: '18.20.0' }, ['fault Node.js']],
    [{ node: '22.1.0' }, []],
    [{ glibc: '2.31' }, ['warning system']],
    [{ glibc: undefined }, ['warning system']],
    [{ platform: 'darwin', arch: 'arm64', glibc: undefined }, []],
    [{ platform: 'linux', arch: 'riscv64' }, ['warning system']],
    [{ memory: 100 * 2 ** 20 }, ['warning memory']],
    [{ files: 64 }, ['warning limits']],
    [{ files: undefined }, []],
  ])('with %j causes %j', (facts, found) => {
    expect(states(facts)).toEqual(found);
  });

  it('is described in a few words', () => {
    const whats = (facts: Partial<SystemFacts>) => examineSystem({ ...well, ...facts }).map(({ what }) => what);
    expect(whats({})).toEqual(['20.19.0', 'linux x64, glibc 2.36', '4096 MiB free', 'up to 1024 open files']);
    expect(whats({ glibc: undefined })[1]).toBe('linux x64, no glibc');
    expect(whats({ platform: 'darwin', arch: 'arm64', glibc: undefined })[1]).toBe('darwin arm64');
    expect(examineSystem({ ...well, files: 10 })[3].remedy).toBe('raise the limit: ulimit -n 1024');
  });

  it('can be read on this machine', () => {
    expect(readSystem()).toMatchObject({ node: process.versions.node, memory: expect.any(Number) });
    expect(readSystem().memory).toBeGreaterThan(0);
  });
});

describe('the CPU’s sensors', () => {
  it('are fine, also where the system shows none', () => {
    for (const what of ['temperature from coretemp, power from RAPL', 'no readings: Linux shows no temperature']) {
      expect(examineSensors({ what })).toEqual({ about: 'sensors', state: 'ok', what: `CPU: ${what}` });
    }
  });

  it('cause a warning where the system tells the power to root alone', () => {
    const refused = '/sys/class/powercap/intel-rapl:0/energy_uj';
    const finding = examineSensors({ what: 'temperature from k10temp; the power is not known', refused });
    isHelpful([finding]);
    expect(finding).toMatchObject({ state: 'warning', what: expect.stringContaining(refused) });
  });
});

describe('the CPU', () => {
  const row = (name: KernelRow['name'], usable: boolean, chosen = false): KernelRow => {
    return { name, usable, chosen, why: usable ? 'the fastest here' : 'not built: install clang' };
  };
  const threads = { threads: 3, groups: [{ places: [[], [], []] }], why: 'one of 4 hardware threads is left free' };

  it('is fine with a native kernel', () => {
    const findings = examineCpu({ threads, kernels: [row('avx2', true, true), row('wasm-simd', true)] });
    expect(findings).toEqual([
      { about: 'CPU', state: 'ok', what: 'kernel avx2, 3 threads (one of 4 hardware threads is left free)' },
    ]);
  });

  it('is fine if one of the native kernels cannot be used', () => {
    const kernels = [row('avx2', true, true), row('sse41', false)];
    expect(examineCpu({ threads, kernels })[0]).toMatchObject({ state: 'ok' });
  });

  it('names the kernel of each kind of cores, once, and how many threads there are', () => {
    const on = (cores: 'performance' | 'efficiency', name: KernelRow['name']) => ({ ...row(name, true, true), cores });
    const what = (...given: Parameters<typeof examineCpu>) => examineCpu(...given)[0].what;
    const kernels = [on('performance', 'avx2'), on('efficiency', 'sse41')];
    expect(what({ threads, kernels })).toMatch(
      /^kernel avx2 on performance cores, sse41 on efficiency cores, 3 threads \(one of/,
    );
    expect(what({ kernels: [row('avx2', true, true), row('avx2', true, true)] })).toBe('kernel avx2');
    expect(what({ threads: { ...threads, threads: 1 }, kernels: [row('avx2', true, true)] })).toContain(', 1 thread (');
  });

  it('without a native kernel for its chip says that there is none', () => {
    const [finding] = examineCpu({ kernels: [row('avx2', false), row('wasm', true, true)] });
    expect(finding).toMatchObject({ state: 'warning', remedy: 'there is none for this chip' });
  });

  it('without a native kernel causes a warning that says how to get one', () => {
    const kernels = [row('avx2', false), row('portable', false), row('wasm-simd', true, true)];
    const findings = examineCpu({ threads, kernels });
    expect(brief(findings)).toEqual(['warning CPU']);
    expect(findings[0].remedy).toContain('install clang');
  });

  it('without any usable kernel is a fault', () => {
    const findings = examineCpu({ threads, kernels: [row('portable', false), row('wasm', false)] });
    expect(brief(findings)).toEqual(['fault CPU']);
    isHelpful(findings);
  });

  it('is a fault if its settings cannot be met', () => {
    const findings = examineCpu({ refused: 'There is no CPU kernel abacus.', kernels: [] });
    expect(brief(findings)).toEqual(['fault CPU']);
    isHelpful(findings);
  });
});

const gpu = (name: string, vendor: string, usable: boolean, software = false): Gpu => {
  const why = usable ? 'hardware' : software ? 'runs on the CPU; --software-gpu would use it' : 'a double';
  return { name, model: `${vendor} card`, vendor, backend: 'vulkan', driver: 'driver 1.0', software, usable, why };
};

describe('GPUs', () => {
  const nvidia = { bus: '0000:65:00.0', vendor: 'nvidia' } as const;
  const amd = { bus: '0000:03:00.0', vendor: 'amd' } as const;
  const bare: GpuFacts = {
    platform: 'linux',
    gpus: [],
    none: { message: 'no GPU', fault: 'missing' },
    devices: [],
    nodes: [],
    drivers: [],
    hasLoader: true,
    hasPackage: true,
  };

  it('that are listed are fine, and so is a software renderer', () => {
    const gpus = [gpu('gpu0', 'nvidia', true), gpu('gpu1', 'unknown', false, true)];
    const findings = examineGpus({ ...bare, gpus, none: undefined, devices: [nvidia] });
    expect(brief(findings)).toEqual(['ok gpu0', 'ok gpu1']);
  });

  it('that cannot be used cause a warning that says why', () => {
    const findings = examineGpus({ ...bare, gpus: [gpu('gpu0', 'amd', false)], none: undefined });
    expect(brief(findings)).toEqual(['warning gpu0']);
    isHelpful(findings);
  });

  it('that do not exist are not a fault', () => {
    expect(examineGpus(bare)).toEqual([{ about: 'GPU', state: 'ok', what: 'none' }]);
  });

  it('were not looked for where the package is not installed, and that is said', () => {
    const none = { message: 'the package webgpu is not installed: install it', fault: 'missing' } as const;
    const findings = examineGpus({ ...bare, hasPackage: false, none });
    expect(findings).toEqual([{ about: 'GPU', state: 'ok', what: `none: ${none.message}` }]);
  });

  it('cause a warning if listing them fails', () => {
    const findings = examineGpus({ ...bare, none: { message: 'its process ended', fault: 'lost' } });
    expect(brief(findings)).toEqual(['warning GPU']);
    isHelpful(findings);
  });

  const render = (isOpen: boolean) => ({ path: '/dev/dri/renderD128', isOpen });
  const nvidiactl = (isOpen: boolean) => ({ path: '/dev/nvidiactl', isOpen });
  it.each([
    [nvidia, { hasPackage: false }, 'the package webgpu, through which GPUs mine, is not installed', '--omit=optional'],
    [nvidia, { hasLoader: false }, 'loader is not installed', 'libvulkan1'],
    [nvidia, {}, 'driver is not installed', 'libnvidia-gl'],
    [amd, { drivers: ['nvidia_icd.json'] }, 'driver is not installed', 'mesa-vulkan-drivers'],
    [nvidia, { drivers: ['nvidia_icd.json'], nodes: [render(true)] }, 'no device file', 'nvidia-smi'],
    [amd, { drivers: ['radeon_icd.json'], nodes: [nvidiactl(true)] }, 'no device file', '/dev/dri'],
    [amd, { drivers: ['radeon_icd.json'], nodes: [render(false)] }, 'may not open /dev/dri/renderD128', 'usermod'],
    [nvidia, { drivers: ['nvidia_icd.json'], nodes: [nvidiactl(false)] }, 'may not open /dev/nvidiactl', 'usermod'],
    [amd, { drivers: ['amd_icd64.json'], nodes: [render(true)] }, 'does not offer it', 'vulkaninfo'],
  ])('on the bus that are not listed cause a warning: %j %j', (device, facts, says, remedy) => {
    const findings = examineGpus({ ...bare, devices: [device], ...facts });
    expect(brief(findings)).toEqual(['warning GPU']);
    expect(findings[0].what).toContain(device.bus);
    expect(findings[0].what).toContain(says);
    expect(findings[0].remedy).toContain(remedy);
  });

  it('on the bus are reported as missing even when another GPU is listed', () => {
    const findings = examineGpus({
      ...bare,
      gpus: [gpu('gpu0', 'amd', true)],
      none: undefined,
      devices: [amd, nvidia],
    });
    expect(brief(findings)).toEqual(['ok gpu0', 'warning GPU']);
  });
});

describe('the devices to mine with', () => {
  const gpus = [gpu('gpu0', 'nvidia', true), gpu('gpu1', 'unknown', false, true)];
  it.each<[...Parameters<typeof examineDevices>, string, string]>([
    ['all', true, gpus, 'ok', 'mines with cpu, gpu0'],
    [['gpu'], true, gpus, 'ok', 'mines with gpu0'],
    [['cpu'], true, [], 'ok', 'mines with cpu'],
    [['cpu', 'gpu1'], true, gpus, 'warning', 'mines with cpu; gpu1 cannot be used'],
    [['gpu'], true, [], 'fault', 'gpu cannot be used'],
    [['gpu7'], true, gpus, 'fault', 'gpu7 cannot be used'],
    ['all', false, [], 'fault', 'no device can be used'],
    [[], true, gpus, 'ok', 'none is asked for: other programs hash for this rig'],
  ])('are judged together: %j', (use, cpuWorks, gpus, state, what) => {
    const finding = examineDevices(use, cpuWorks, gpus);
    expect(finding).toMatchObject({ state, what });
    isHelpful([finding]);
  });
});

describe('the folders of the cache and the configuration', () => {
  it('cause a warning if they are needed and cannot be written to', () => {
    const findings = [
      examineCacheFolder('/cache', () => true),
      examineCacheFolder('/cache', () => false),
      examineCacheFolder(undefined),
      examineConfigFolder('/config', ['/here/pickaxe.toml'], () => false),
      examineConfigFolder('/config', [], () => true),
      examineConfigFolder('/config', [], () => false),
      examineConfigFolder(undefined, []),
    ];
    expect(findings.map(({ state }) => state)).toEqual(['ok', 'warning', 'warning', 'ok', 'ok', 'warning', 'warning']);
    isHelpful(findings);
  });

  it('that do not exist can be made if the nearest existing folder can be written to', () => {
    expect(isFolderWritable(`${process.execPath}/no/such/folder`)).toBe(false);
    // Nobody may search in a file that is no program, not even root.
    expect(isFolderWritable(fileURLToPath(import.meta.url))).toBe(false);
    expect(isFolderWritable(`${process.cwd()}/no/such/folder`)).toBe(true);
  });
});

describe('earnings', () => {
  /** Work of mainnet01 at the height 6,000,000, where a block brings 0.9468025 coins. */
  function work(difficulty: number, network = 5): Work {
    const record = new Uint8Array(322);
    record.set(targetForDifficulty(difficulty), 4);
    const header = new DataView(record.buffer, 36);
    header.setBigUint64(258, 6_000_000n, true);
    header.setUint32(266, network, true);
    return parseWork(record);
  }
  const kernel = (more: Partial<KernelRow> = {}): KernelRow => {
    return { name: 'avx2', usable: true, chosen: true, hashesPerSecond: 500_000, why: '', ...more };
  };
  const groups = [{ places: [[], []] }];
  const cpu = { threads: { threads: 2, groups, why: '' }, kernels: [kernel()] };
  const terms = earningsTerms({ node: DEFAULTS.node, power: {} });
  const told = (...given: Parameters<typeof examineEarnings>) => examineEarnings(...given).map(({ what }) => what);

  it('are estimated for the CPU as it was measured, from the work that nodes give', () => {
    expect(examineEarnings([work(41 * 86.4e9)], { cpu, gpus: [] }, terms)).toEqual([
      {
        about: 'earnings',
        state: 'ok',
        what:
          'the CPU at 1.000 MH/s: ~0.0231 coins a day (0.947 coins a block); a block in ~41 d on average; ' +
          '2.4 % for a block in a day, 52 % in 30 days',
      },
    ]);
  });

  it('say what a pool’s figures are', () => {
    const [finding] = examineEarnings([work(41 * 86.4e9)], { cpu, gpus: [] }, terms, true);
    expect(finding.what).toMatch(
      /; a pool pays by its own rules: .* at the rewards of the network that its jobs name$/,
    );
    const skipped = examineEarnings([work(1)], { gpus: ['gpu0'] }, terms, true);
    expect(skipped[0].what).not.toContain('pool pays');
  });

  it('leave out nodes of other networks, and say where the rewards are not known', () => {
    const [what] = told([work(86.4e9), work(1, 7)], { cpu, gpus: [] }, terms);
    expect(what).toContain('~0.947 coins a day');
    const another = earningsTerms({ node: { ...DEFAULTS.node, network: 'another01' }, power: {} });
    const [unknown] = told([work(86.4e9)], { cpu, gpus: [] }, another);
    expect(unknown).toMatch(/the rewards of this network are not known; a block in ~1 d on average/);
  });

  it('add up the kinds of a hybrid chip’s cores', () => {
    const kinds = [
      { kind: 'performance', places: [[]] },
      { kind: 'efficiency', places: [[], [], []] },
    ] as const;
    const kernels = [kernel({ cores: 'performance' }), kernel({ cores: 'efficiency', hashesPerSecond: 100_000 })];
    const hybrid = { threads: { threads: 4, groups: kinds, why: '' }, kernels };
    expect(told([work(86.4e9)], { cpu: hybrid, gpus: [] }, terms)[0]).toContain('the CPU at 800.0 kH/s: ');
  });

  it('have the cost of power where the watts are given, and say where they are not', () => {
    const power = (given: object) => told([work(86.4e9)], { cpu, gpus: [] }, { ...terms, ...given })[0];
    expect(power({ powerPrice: 0.3, powerWatts: 412 })).toContain('; 412 W cost 2.97 a day');
    expect(power({ powerPrice: 0.3 })).toContain('--power-watts');
    expect(power({})).not.toContain('power');
  });

  it('are skipped, with the reason, where no rate is known, and are no finding without work', () => {
    const busy = { ...cpu, kernels: [{ name: 'avx2', usable: true, chosen: true, why: 'not measured' } as const] };
    const state = (miners: Parameters<typeof examineEarnings>[1]) => examineEarnings([work(1e9)], miners, terms)[0];
    expect(state({ cpu: busy, gpus: [] })).toMatchObject({
      state: 'skipped',
      what: expect.stringContaining('too busy'),
    });
    expect(state({ cpu: { kernels: [] }, gpus: [] })).toMatchObject({ state: 'skipped' });
    expect(state({ gpus: ['gpu0'] })).toMatchObject({
      state: 'skipped',
      what: expect.stringContaining('the rate of gpu0 is not known here'),
    });
    expect(state({ cpu, gpus: ['gpu0'] }).what).toMatch(/^the CPU at .*; the rate of gpu0 is not known here/);
    expect(state({ gpus: [] })).toMatchObject({ state: 'skipped', what: expect.stringContaining('no device mines') });
    expect(examineEarnings([], { cpu, gpus: [] }, terms)).toEqual([]);
  });
});
