import { describe, expect, it } from 'vitest';
import { runWorld, type World } from './run.ts';
import { describeFailure, shrink, worldsOf } from './simulate.ts';
import type { Faults, Simulation } from './simulation.ts';

/** A world of nothing but faults, which breaks its promise once two kinds of them have happened. */
class FailingWorld implements World {
  readonly totals = { found: 0, accepted: 0, lost: 0 };
  readonly #simulation: Simulation;
  readonly #happened = new Set<string>();

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  faults(): Faults {
    return Object.fromEntries(['the first', 'the second'].map((name) => [name, () => this.#happen(name)]));
  }

  check(): void {}
  calm(): void {}
  checkMining(): void {}
  stop(): void {}
  stopMembers(): void {}
  checkEnd(): void {}

  #happen(name: string): void {
    this.#happened.add(name);
    if (this.#happened.size === 2) this.#simulation.violate('both have happened');
  }
}

describe('a run that fails', () => {
  const make = (simulation: Simulation) => new FailingWorld(simulation);
  const options = { seed: 4, minutes: 1, faultMs: 3_000 };

  it('has a digest of its own, by which it is compared', async () => {
    const digests: string[] = [];
    for (const seed of [4, 4, 5]) digests.push((await runWorld(make, { ...options, seed })).digest);
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });

  it('is described with what happened before, and how to repeat it', async () => {
    const text = describeFailure('solo', await runWorld(make, options));
    expect(text).toMatch(/^world solo, seed 4: after [\d.]+ s: both have happened$/m);
    expect(text).toMatch(/^ {2}[\d.]+ fault \d+: the (first|second)\n {2}[\d.]+ VIOLATION both have happened$/m);
    expect(text).toContain('npm run simulate -- --world solo --seed 4 --trace');
  });

  it('is repeated with as few faults as it takes', async () => {
    const run = await runWorld(make, options);
    expect(run.faults.length).toBeGreaterThan(10);
    const least = await shrink(make, run, options, () => {});
    expect(least.faults.map(({ name }) => name).sort()).toEqual(['the first', 'the second']);
    expect(least.violations).toMatchObject([{ what: 'both have happened' }]);
  });
});

it('a world that does not exist is said with those that do', () => {
  expect(() => worldsOf(['moon'])).toThrow('there is no world moon; there are solo, fleet');
  expect(worldsOf(['solo'])).toEqual(['solo']);
});
