/** The whole text of each finding of pickaxe doctor about a machine. */

import { expect, it } from 'vitest';
import type { KernelRow } from '#pickaxe/app/composition/choose-engines.js';
import { examineGpus, type GpuFacts } from '#pickaxe/app/doctor/examine-gpus.js';
import {
  examineCacheFolder,
  examineConfigFolder,
  examineCpu,
  examineDevices,
  examineSensors,
  examineSystem,
  type SystemFacts,
} from '#pickaxe/app/doctor/examine-machine.js';
import type { Finding } from '#pickaxe/base/finding.js';
import type { Gpu } from '#pickaxe/miner/engine/gpu/list-gpus.js';

const shown = (findings: readonly Finding[]) =>
  findings
    .map(({ about, state, what, why, remedy }) =>
      [`${state} ${about}: ${what}`, why, remedy].filter(Boolean).join('\n  '),
    )
    .join('\n');

const WELL: SystemFacts = {
  ...{ node: '20.19.0', platform: 'linux', arch: 'x64', glibc: '2.36', memory: 4 * 2 ** 30, files: 1024 },
};

it('about the system', () => {
  const bad = { node: '20.18.9', platform: 'sunos', memory: 1.6 * 2 ** 20, files: 9 };
  const texts = [WELL, { ...WELL, ...bad }, { ...WELL, glibc: undefined }].map((facts) => shown(examineSystem(facts)));
  expect(texts.join('\n\n')).toMatchInlineSnapshot(`
    "ok Node.js: 20.19.0
    ok system: linux x64, glibc 2.36
    ok memory: 4096 MiB free
    ok limits: up to 1024 open files

    fault Node.js: 20.18.9 is too old
      it lacks functions that pickaxe uses
      install Node.js 20.19 or newer, from https://nodejs.org or your system
    warning system: sunos x64
      pickaxe was never tested on it: CPUs may work, GPUs will not
      use one of: linux x64, linux arm64, darwin x64, darwin arm64, win32 x64, win32 arm64
    warning memory: 2 MiB free
      the system kills processes when none is left; pickaxe needs 150 MB, and as much again for each GPU
      close other programs, or raise the container’s limit
    warning limits: up to 9 open files
      connections to nodes count as open files, and fail beyond the limit
      raise the limit: ulimit -n 1024

    ok Node.js: 20.19.0
    warning system: linux x64, no glibc
      mining on GPUs needs glibc 2.34; CPUs work without it
      to mine on GPUs, use Debian 12, Ubuntu 22.04, RHEL 9 or newer
    ok memory: 4096 MiB free
    ok limits: up to 1024 open files"
  `);
});

it('about the CPU', () => {
  const row = (
    name: KernelRow['name'],
    usable: boolean,
    chosen = false,
    why = 'not built: install clang',
  ): KernelRow => {
    return { name, usable, chosen, why };
  };
  const threads = { threads: 3, groups: [{ places: [[], [], []] }], why: 'one of 4 hardware threads is left free' };
  const cases: Parameters<typeof examineCpu>[0][] = [
    { threads, kernels: [row('avx2', true, true)] },
    { threads, kernels: [row('avx2', false), row('portable', false, false, 'why'), row('wasm-simd', true, true)] },
    { kernels: [row('avx2', false, false, 'the CPU lacks AVX2'), row('wasm', true, true)] },
    { threads, kernels: [row('portable', false), row('wasm', false)] },
    { refused: 'There is no CPU kernel abacus.', kernels: [] },
  ];
  expect(cases.map((facts) => shown(examineCpu(facts))).join('\n\n')).toMatchInlineSnapshot(`
    "ok CPU: kernel avx2, 3 threads (one of 4 hardware threads is left free)

    warning CPU: kernel wasm-simd, 3 threads (one of 4 hardware threads is left free)
      native kernels are two to six times as fast
      why

    warning CPU: kernel wasm
      native kernels are two to six times as fast
      there is none for this chip

    fault CPU: no kernel can be used: portable: not built: install clang; wasm: not built: install clang
      the CPU cannot mine
      reinstall pickaxe

    fault CPU: There is no CPU kernel abacus.
      pickaxe does not start with these settings
      change or remove the settings of the CPU (--threads, --kernel, --cpu-cores, --cpu-affinity, --cpu-priority)"
  `);
  const sensors = examineSensors({ what: 'the temperature', refused: '/sys/power' });
  expect(shown([sensors])).toMatchInlineSnapshot(`
    "warning sensors: the CPU’s power is not known: this user may not read /sys/power
      without it there are no watts and no hashes per joule of the CPU; it mines as well without them
      docs/devices.md, “Allow pickaxe to read the power”, says how, and why the system keeps the file from users"
  `);
});

it('about GPUs', () => {
  const gpu = (name: string, usable: boolean, software: boolean): Gpu => {
    const texts = { model: 'a card', vendor: 'amd', backend: 'vulkan', driver: 'driver 1.0', why: 'runs on the CPU' };
    return { name, usable, software, ...texts };
  };
  const facts: GpuFacts = {
    ...{ platform: 'linux', gpus: [], none: { message: 'no GPU', fault: 'missing' }, devices: [], nodes: [] },
    ...{ drivers: [], hasLoader: true, hasPackage: true },
  };
  const lists = [gpu('gpu0', true, false), gpu('gpu1', false, true), gpu('gpu2', false, false)];
  const buses = (['nvidia', 'amd', 'intel'] as const).map((vendor, i) => ({ bus: `0000:0${i}:00.0`, vendor }));
  const drivers = ['nvidia_icd.json', 'radeon_icd.json', 'intel_icd.json'];
  const nodes = (isOpen: boolean) => ['/dev/dri/renderD128', '/dev/nvidiactl'].map((path) => ({ path, isOpen }));
  const cases: Partial<GpuFacts>[] = [
    {},
    { platform: 'win32' },
    { hasPackage: false },
    { gpus: lists },
    { none: { message: 'its process ended', fault: 'lost' } },
    { none: { message: 'its process ended', fault: 'lost' }, gpus: [lists[0]] },
    { devices: buses, hasPackage: false, hasLoader: false },
    { devices: buses, hasLoader: false },
    { devices: buses },
    { devices: buses, drivers },
    { devices: buses, drivers, nodes: nodes(false) },
    { devices: buses, drivers, nodes: nodes(true) },
    { devices: buses, drivers: ['xnvidia', 'xradeon', 'xamd', 'xintel'] },
    { devices: [buses[1]], gpus: [gpu('gpu0', true, true)] },
  ];
  expect(cases.map((more) => shown(examineGpus({ ...facts, ...more }))).join('\n\n')).toMatchInlineSnapshot(`
    "ok GPU: none

    ok GPU: none: no GPU

    ok GPU: none: no GPU

    ok gpu0: a card, vulkan, driver 1.0
    ok gpu1: a card, vulkan, driver 1.0: not used, because it runs on the CPU
    warning gpu2: a card, vulkan, driver 1.0: not used
      a GPU mines tens to hundreds of times as fast as a CPU
      runs on the CPU

    warning GPU: listing fails: its process ended
      a GPU mines tens to hundreds of times as fast as a CPU
      docs/devices.md, “When a GPU is missing”, says how to find the failing driver

    ok gpu0: a card, vulkan, driver 1.0
    warning GPU: listing fails: its process ended
      a GPU mines tens to hundreds of times as fast as a CPU
      docs/devices.md, “When a GPU is missing”, says how to find the failing driver

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: the package webgpu, through which GPUs mine, is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install pickaxe with its optional packages (not with --omit=optional)
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: the package webgpu, through which GPUs mine, is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install pickaxe with its optional packages (not with --omit=optional)
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: the package webgpu, through which GPUs mine, is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install pickaxe with its optional packages (not with --omit=optional)

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: Vulkan’s loader is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install Vulkan’s loader (libvulkan1)
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: Vulkan’s loader is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install Vulkan’s loader (libvulkan1)
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: Vulkan’s loader is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install Vulkan’s loader (libvulkan1)

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install NVIDIA’s driver with its Vulkan part (libnvidia-gl-… or nvidia-driver-…, not the headless packages)
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install mesa-vulkan-drivers 23 or later
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install mesa-vulkan-drivers 23 or later

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: the system has no device file for it
      a GPU mines tens to hundreds of times as fast as a CPU
      check that NVIDIA’s kernel module is loaded (nvidia-smi); in a container, pass the GPU in
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: the system has no device file for it
      a GPU mines tens to hundreds of times as fast as a CPU
      check that its kernel module is loaded (ls /dev/dri); in a container, pass /dev/dri in
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: the system has no device file for it
      a GPU mines tens to hundreds of times as fast as a CPU
      check that its kernel module is loaded (ls /dev/dri); in a container, pass /dev/dri in

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: this user may not open /dev/nvidiactl
      a GPU mines tens to hundreds of times as fast as a CPU
      add yourself to the group of the device file (sudo usermod -aG render $USER) and log in again
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: this user may not open /dev/dri/renderD128
      a GPU mines tens to hundreds of times as fast as a CPU
      add yourself to the group of the device file (sudo usermod -aG render $USER) and log in again
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: this user may not open /dev/dri/renderD128
      a GPU mines tens to hundreds of times as fast as a CPU
      add yourself to the group of the device file (sudo usermod -aG render $USER) and log in again

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: its driver does not offer it
      a GPU mines tens to hundreds of times as fast as a CPU
      look at what vulkaninfo --summary prints, and read docs/devices.md, “When a GPU is missing”
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: its driver does not offer it
      a GPU mines tens to hundreds of times as fast as a CPU
      look at what vulkaninfo --summary prints, and read docs/devices.md, “When a GPU is missing”
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: its driver does not offer it
      a GPU mines tens to hundreds of times as fast as a CPU
      look at what vulkaninfo --summary prints, and read docs/devices.md, “When a GPU is missing”

    warning GPU: an NVIDIA GPU at 0000:00:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install NVIDIA’s driver with its Vulkan part (libnvidia-gl-… or nvidia-driver-…, not the headless packages)
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install mesa-vulkan-drivers 23 or later
    warning GPU: an Intel GPU at 0000:02:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install mesa-vulkan-drivers 23 or later

    ok gpu0: a card, vulkan, driver 1.0
    warning GPU: an AMD GPU at 0000:01:00.0 cannot be used: its Vulkan driver is not installed
      a GPU mines tens to hundreds of times as fast as a CPU
      install mesa-vulkan-drivers 23 or later"
  `);
  const devices = [
    examineDevices('all', false, lists),
    examineDevices(['gpu0', 'gpu1', 'gpu2'], true, lists),
    examineDevices(['gpu1', 'cpu'], false, lists),
    examineDevices(['gpu'], true, lists),
    examineDevices([], true, lists),
  ];
  expect(shown(devices)).toMatchInlineSnapshot(`
    "ok devices: mines with gpu0
    warning devices: mines with gpu0; gpu1, gpu2 cannot be used
      --devices asks for more than can be used
      choose among what pickaxe devices lists (--devices), or fix what is said about them above
    fault devices: gpu1, cpu cannot be used
      pickaxe has nothing to mine with
      choose among what pickaxe devices lists (--devices), or fix what is said about them above
    ok devices: mines with gpu0
    ok devices: none is asked for: other programs hash for this rig"
  `);
});

it('about folders', () => {
  const findings = [
    examineCacheFolder('/cache', () => true),
    examineCacheFolder('/cache', () => false),
    examineCacheFolder(undefined),
    examineConfigFolder('/config', ['/here/pickaxe.toml', '/there'], () => false),
    examineConfigFolder('/config', [], () => true),
    examineConfigFolder('/config', [], () => false),
    examineConfigFolder(undefined, []),
  ];
  expect(shown(findings)).toMatchInlineSnapshot(`
    "ok cache: /cache can be written to
    warning cache: /cache cannot be written to
      kernels are measured again at each start: a second for the CPU, and a few seconds for each GPU
      make it writable, or set XDG_CACHE_HOME
    warning cache: this user has no home directory
      kernels are measured again at each start: a second for the CPU, and a few seconds for each GPU
      set XDG_CACHE_HOME to a folder that this user can write to
    ok configuration: /here/pickaxe.toml, /there
    ok configuration: no file yet; pickaxe init writes one
    warning configuration: no file, and /config cannot be written to
      pickaxe init --user cannot write its file
      use pickaxe init without --user: it writes to the current folder
    warning configuration: no file, and this user has no home directory
      pickaxe init --user cannot write its file
      use pickaxe init without --user: it writes to the current folder"
  `);
});
