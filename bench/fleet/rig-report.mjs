// The report of a simulated rig with eight GPUs.

import { randomBytes } from 'node:crypto';
import { messageBytes } from '#pickaxe/fleet/messages.js';
import { RigReport } from '#pickaxe/fleet/rig-report.js';

const GPUS = 8;

/** @param rate of the rig, in H/s @returns a message */
export function reportOf(coordinator, rate) {
  const each = { hashesPerSecond: rate / GPUS, provenHashesPerSecond: rate / GPUS, celsius: 64, watts: 312.5 };
  const devices = Array.from({ length: GPUS }, (_, i) => ({
    name: `gpu${i}`,
    kind: 'gpu',
    model: 'NVIDIA GeForce RTX 4090',
    state: 'ready',
    reason: null,
    ...each,
    hardwareErrors: 0,
    reopens: 0,
  }));
  const counts = { found: 12, accepted: 12, rejected: 0, stale: 0, unknown: 0, hardwareErrors: 0 };
  const report = {
    instance: randomBytes(8).toString('hex'),
    version: '0.1.0',
    group: 'hall-a',
    uptimeSeconds: 123_456.7,
    state: 'mining',
    stateReason: null,
    coordinator,
    hashesPerSecond: rate,
    provenHashesPerSecond: rate,
    hashes: 1.2345e17,
    ...counts,
    control: true,
    devices,
  };
  return messageBytes(RigReport.parse(report));
}
