/** Builds simulated Vulkan drivers of cards (pretend-driver.c), for rigs on a machine without GPUs. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('./pretend-driver.c', import.meta.url));
const crashing = fileURLToPath(new URL('./crashing-driver.c', import.meta.url));
const VULKAN = '/usr/share/vulkan';
/** Far longer than compiling a page of C takes. */
const COMPILE_MS = 60_000;

/** The manifest of Mesa's software renderer, if it is installed. Its name differs between systems. */
export const lavapipe = filesOf('icd.d').find((path) => /\blvp_icd[^/]*\.json$/.test(path));

/** Why cards cannot be simulated or distinguished on this machine; undefined when they can. */
export const whyNoCards = !lavapipe
  ? 'no lavapipe: install mesa-vulkan-drivers'
  : !filesOf('implicit_layer.d').some((path) => path.includes('device_select'))
    ? 'no Vulkan layer of Mesa’s: install mesa-vulkan-drivers'
    : spawnSync('cc', ['--version']).error && 'no C compiler: install gcc libc6-dev';

export interface Card {
  readonly model: string;
  /** The driver's name, by which the card is recognized. */
  readonly driver: string;
  /** The number of its PCI bus. Without it, the driver reports no address. */
  readonly bus?: number;
}

export interface Rig {
  /** Environment variables with which Vulkan finds only these cards. */
  readonly environment: Record<string, string>;
  /** The folder of all its files. */
  readonly folder: string;
}

export function pretend(cards: readonly Card[]): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-cards-'));
  const manifests = cards.map((card, i) => {
    const library = join(folder, `card${i}.so`);
    compile(card, library, join(folder, card.driver));
    return writeManifest(folder, `card${i}`, library);
  });
  return { environment: onlyDrivers(manifests), folder };
}

/** @returns the ids of the processes that have opened this driver's card, each once */
export function openersOf(driver: string, { folder }: Rig): number[] {
  const path = join(folder, driver);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  return [...new Set(lines.map(Number))];
}

/** Two adapters that cannot be distinguished. */
export function twoLavapipes(): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'pickaxe-cards-'));
  return { environment: onlyDrivers([lavapipe!, writeManifest(folder, 'second', lavapipeLibrary())]), folder };
}

/** Adds a driver to a rig that kills the first processes that load it. */
export function withCrashes({ environment, folder }: Rig, crashes: number): Rig {
  const library = join(folder, 'crashing.so');
  const loaded = JSON.stringify(join(folder, 'loaded'));
  cc(crashing, library, [`-DLOADED=${loaded}`, `-DCRASHES=${crashes}`]);
  const manifest = writeManifest(folder, 'crashing', library);
  return { environment: onlyDrivers([manifest, environment.VK_DRIVER_FILES].filter(Boolean)), folder };
}

function compile({ model, driver, bus }: Card, output: string, opened: string): void {
  const words = { REAL: lavapipeLibrary(), MODEL: model, DRIVER: driver, OPENED: opened };
  const defines = Object.entries(words).map(([name, value]) => `-D${name}=${JSON.stringify(value)}`);
  const place = bus === undefined ? [] : [`-DBUS=${bus}`];
  cc(source, output, [...defines, ...place]);
}

function cc(file: string, output: string, defines: readonly string[]): void {
  const flags = ['-std=gnu11', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', ...defines];
  const { status, stderr } = spawnSync('cc', [...flags, '-o', output, file, '-ldl'], {
    encoding: 'utf8',
    timeout: COMPILE_MS,
  });
  if (status !== 0) throw new Error(`cc does not compile ${file}: ${stderr}`);
}

function lavapipeLibrary(): string {
  return JSON.parse(readFileSync(lavapipe!, 'utf8')).ICD.library_path;
}

function writeManifest(folder: string, name: string, library: string): string {
  const path = join(folder, `${name}.json`);
  const manifest = { file_format_version: '1.0.0', ICD: { library_path: library, api_version: '1.3.0' } };
  writeFileSync(path, JSON.stringify(manifest));
  return path;
}

/** Both names of the variable. Older loaders know only the second. */
function onlyDrivers(manifests: readonly string[]): Record<string, string> {
  const list = manifests.join(':');
  return { VK_DRIVER_FILES: list, VK_ICD_FILENAMES: list };
}

function filesOf(folder: string): string[] {
  const path = join(VULKAN, folder);
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
}
