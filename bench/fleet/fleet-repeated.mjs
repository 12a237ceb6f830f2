// Measures how much of a fleet's work is done twice, from the ranges that its rigs took.

import { startCutFleet } from './cut-fleet.mjs';
import { startMiningRigs } from './mining-rigs.mjs';
import { coverage, expectedShare } from './repeated-work.mjs';

/**
 * All rigs choose among few lanes, and search a part of their lane between two New Cuts. Both make the share larger as
 * if the rigs were faster by that factor.
 */
const FEW_LANES = 64;
const PART_OF_LANE = 0.02;
const SPACING_MS = 2_000;

/** @param rigs number of rigs @param processes number of processes that they share @param cuts number of New Cuts */
export async function repeatedInFleet({ rigs, processes, cuts }) {
  const fleet = await startCutFleet();
  const groups = await Promise.all(
    Array.from({ length: processes }, (_, i) => {
      const [from, to] = [i, i + 1].map((part) => Math.floor((part * rigs) / processes));
      const options = { servers: fleet.cluster.urls, from, count: to - from, lanes: FEW_LANES };
      return fleet.addRigs((onHeight) => startMiningRigs(options, onHeight));
    }),
  );
  const rate = (PART_OF_LANE * 2 ** 48 * 1_000) / SPACING_MS;
  for (const group of groups) group.change({ rate, isMining: true, isRecorded: true });
  await fleet.cutAll(cuts, SPACING_MS);
  for (const group of groups) group.change({ rate: 0, isRecorded: false });
  const ranges = new Map();
  for (const group of groups) {
    for (const [key, taken] of await group.takenRanges()) ranges.set(key, [...(ranges.get(key) ?? []), ...taken]);
  }
  for (const ended of groups.map((group) => group.stop())) await ended;
  await fleet.close();
  return { rigs, asIfRate: (rate * 2 ** 16) / FEW_LANES, ...shares(ranges) };
}

/**
 * The formula is for rigs that share a header. A header whose creation time a single rig has moved on is not shared.
 * @param ranges by the key of the header
 */
function shares(ranges) {
  const total = { headers: 0, shared: 0, taken: 0, different: 0, expected: 0, takenShared: 0 };
  for (const taken of ranges.values()) {
    const rigs = new Set(taken.map(({ rig }) => rig)).size;
    const covered = coverage(taken);
    total.headers++;
    total.taken += covered.taken;
    total.different += covered.different;
    if (rigs === 1) continue;
    total.shared++;
    total.takenShared += covered.taken;
    total.expected += covered.taken * expectedShare(rigs, covered.taken / rigs, FEW_LANES);
  }
  return {
    headers: total.headers,
    sharedHeaders: total.shared,
    measured: (total.taken - total.different) / total.takenShared,
    expected: total.expected / total.takenShared,
    sharedPart: total.takenShared / total.taken,
  };
}
