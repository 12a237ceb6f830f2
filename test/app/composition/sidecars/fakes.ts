/** A running miner without work for tests of sidecars, which records what they do. */

import type { Sidecar } from '#pickaxe/app/composition/run-miner.js';
import { Events } from '#pickaxe/miner/events/events.js';
import { LogTail } from '#pickaxe/rig/log/log-tail.js';
import type { RunningMiner } from '#pickaxe/rig/running-miner.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { Recorder } from '../../../fakes.ts';
import { guarded } from '../../../rig/pauses/fakes.ts';
import { SETUP } from '../../../rig/status/fakes.ts';

export function idleMiner() {
  const { controls, clock, log, rests, said } = guarded();
  const [events, recorded, tally] = [new Events(), new Recorder(), new Tally(clock)];
  for (const { listen } of [tally, recorded]) events.on(listen);
  const running: RunningMiner = {
    rigName: 'rig-7',
    setup: SETUP,
    controls,
    events,
    tally,
    clock,
    log,
    logTail: new LogTail(),
  };
  return { running, rests, said, recorded };
}

/** @returns a function that ends the sidecars in the order in which a miner ends them */
export async function startAll(sidecars: readonly Sidecar[], running: RunningMiner): Promise<() => Promise<void>> {
  const ends: (() => void | Promise<void>)[] = [];
  for (const start of sidecars) ends.push(await start(running));
  return async () => {
    for (const end of ends.reverse()) await end();
  };
}
