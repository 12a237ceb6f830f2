/** Two simulated GPUs, to test what happens to one when the other fails. */

import { describe, expect, vi } from 'vitest';
import type { SearchReport } from '#pickaxe/miner/engine/engine.js';
import type { GpuEngine, GpuOptions } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { gpuEngine, softwareAdapter, type TestOptions } from './adapter.ts';
import { pretend, whyNoCards } from './pretend-driver.ts';

/** Time limit for a GPU to open and for its loss to be noticed, on a busy CPU that simulates both. */
const PATIENCE = { timeout: 60_000, interval: 10 };
/** Shorter than in real use, and far longer than a busy machine leaves a process without processor time. */
export const SILENCE_MS = 2_000;

export const CARDS = [
  { model: 'GeForce RTX 3080', driver: 'the first card' },
  { model: 'Arc B580', driver: 'the second card' },
] as const;

/** Two cards, each with its own driver; undefined when cards cannot be simulated. */
export const rig = whyNoCards ? undefined : pretend(CARDS);

// As in adapter.ts: in CI these tests fail where they cannot run.
if (!softwareAdapter && process.env.CI) throw new Error('CI must simulate two GPUs: install mesa-vulkan-drivers');

/** `describe`, or without an adapter `describe.skip` with a name that says why. */
export const describeTwoGpus = (name: string, tests: () => void): void => {
  if (softwareAdapter) describe(name, tests);
  else describe.skip(`${name} (no GPU made of software: install mesa-vulkan-drivers)`, tests);
};

/** When cards cannot be simulated, two processes share the one adapter. */
function cardOptions(card: 0 | 1): Partial<GpuOptions> {
  const place = rig ? { adapter: CARDS[card].model, environment: rig.environment } : { adapter: softwareAdapter! };
  return { name: `gpu${card}`, ...place };
}

/** A GPU, and all its reports that were read. */
export interface Watched {
  readonly engine: GpuEngine;
  readonly reports: SearchReport[];
  /** The arguments of each search. */
  readonly searches: Parameters<GpuEngine['search']>[];
}

export function watched(card: 0 | 1, options: TestOptions = {}): Watched {
  const engine = gpuEngine({ ...cardOptions(card), ...options });
  const gpu: Watched = { engine, reports: [], searches: [] };
  const search = engine.search.bind(engine);
  engine.search = async function* (...wishes) {
    gpu.searches.push(wishes);
    for await (const report of search(...wishes)) {
      gpu.reports.push(report);
      yield report;
    }
  };
  return gpu;
}

export const until = (condition: () => void): Promise<void> => vi.waitFor(condition, PATIENCE);

/** Waits for some more reports. */
export const moreOf = ({ reports }: Watched, count = 3): Promise<void> => {
  const before = reports.length;
  return until(() => expect(reports.length).toBeGreaterThanOrEqual(before + count));
};

export const signal = (name: NodeJS.Signals) => (engine: GpuEngine) => process.kill(engine.pid!, name);
