// How much of the work of several rigs is repeated: from the ranges that they took, and by the formula.

import { randomInt } from 'node:crypto';
import { Space } from '#pickaxe/miner/loop/space.js';
import { likeCpu, likeGpu } from './pretend-engine.mjs';

const LANES = 2 ** 16;
const NONCES_OF_LANE = 2 ** 48;

/**
 * @param ranges of all rigs, for one header
 * @returns how many nonces were taken, and how many different ones
 */
export function coverage(ranges) {
  const lanes = new Map();
  for (const range of ranges) {
    if (!lanes.has(range.lane)) lanes.set(range.lane, []);
    lanes.get(range.lane).push(range);
  }
  let [taken, different] = [0, 0];
  for (const inLane of lanes.values()) {
    const sum = inLane.reduce((total, { counters, pages }) => total + counters * pages, 0);
    taken += sum;
    different += inLane.length === 1 ? sum : areaOf(inLane);
  }
  return { taken, different };
}

/** @returns the number of nonces in the union of rectangles of one lane */
function areaOf(rectangles) {
  const edges = [...new Set(rectangles.flatMap(({ page, pages }) => [page, page + pages]))].sort((a, b) => a - b);
  let area = 0;
  for (let i = 0; i + 1 < edges.length; i++) {
    const [from, to] = [edges[i], edges[i + 1]];
    const across = rectangles.filter(({ page, pages }) => page <= from && page + pages >= to);
    area += (to - from) * lengthOf(across.map(({ counter, counters }) => [counter, counter + counters]));
  }
  return area;
}

/** @returns the length of the union of intervals */
function lengthOf(intervals) {
  let [length, end] = [0, 0];
  for (const [from, to] of intervals.sort(([a], [b]) => a - b)) {
    length += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return length;
}

/**
 * The share of what rigs with random starts search on one header that is repeated, on average. The last nonces of a rig
 * were searched before with twice this probability, and its first ones with none.
 * @param nonces searched by each rig @param lanes from which each rig chooses one
 */
export const expectedShare = (rigs, nonces, lanes = LANES) => ((rigs - 1) * nonces) / 2 / (lanes * NONCES_OF_LANE);

/** Rigs as fast as large ones are, each on one header until its creation time moves on. */
const RIGS = 10_000;
const SECONDS = 3;
const KINDS = [
  { what: 'GPUs of 25 GH/s', rate: 25e9, shape: likeGpu, tasksPerSecond: 10 },
  { what: 'CPUs of 20 MH/s', rate: 20e6, shape: likeCpu, tasksPerSecond: 4 },
];

/**
 * Takes ranges as rigs do, without a network.
 * @param headers number of headers that are searched one after the other
 */
export function simulateRepeated(headers) {
  return KINDS.map(({ what, rate, shape, tasksPerSecond }) => {
    const lanes = Array.from({ length: RIGS }, () => randomInt(LANES));
    let [taken, different] = [0, 0];
    for (let header = 0; header < headers; header++) {
      const ranges = lanes.flatMap((lane) => {
        const space = Space.anywhere({ lane, step: 1 }, (below) => randomInt(below));
        return Array.from({ length: SECONDS * tasksPerSecond }, () => space.take(shape(rate / tasksPerSecond)));
      });
      const covered = coverage(ranges);
      taken += covered.taken;
      different += covered.different;
    }
    const nonces = taken / headers / RIGS;
    return { what, rigs: RIGS, nonces, measured: 1 - different / taken, expected: expectedShare(RIGS, nonces) };
  });
}
