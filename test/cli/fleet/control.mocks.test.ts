/** The requests that `pickaxe fleet` makes of its flags, over a fleet in memory. */

import { expect, it, vi } from 'vitest';
import type { ControlRequest } from '#pickaxe/fleet/messages.js';
import { pickaxe } from '../in-process.ts';
import { answeringRig, setUp } from './members.ts';

const fleet = vi.hoisted(() => ({ operator: undefined as unknown }));

vi.mock('#pickaxe/cli/fleet/operator.js', async (load) => ({
  ...(await load<object>()),
  openOperator: () => fleet.operator,
}));

/** @returns the requests that a rig gets, and what is printed */
async function requested(...words: string[]): Promise<[ControlRequest[], string]> {
  const { nats, operator } = setUp();
  fleet.operator = operator;
  const requests = answeringRig(nats, 'rig1', { done: true, message: 'it is done' });
  const { code, stdout, stderr } = await pickaxe('fleet', ...words, '--nats', 'nats://127.0.0.1:9');
  expect([code, stderr]).toEqual([0, '']);
  return [requests, stdout];
}

const DONE = 'rig1  done  it is done\n1 of 1 rig did it';

it.each<[string[], object]>([
  [['pause', 'rig1'], { command: 'pause' }],
  [['pause', 'rig1', '--device', 'gpu0'], { command: 'pause', device: 'gpu0' }],
  [['resume', 'rig1'], { command: 'resume' }],
  [['resume', 'rig1', '--device', 'cpu'], { command: 'resume', device: 'cpu' }],
  [['limits', 'rig1', '--gpu', '70'], { command: 'limits', gpuCelsius: 70 }],
  [['limits', 'rig1', '--cpu', '0'], { command: 'limits', cpuCelsius: 0 }],
  [['limits', 'rig1', '--gpu', 'none', '--cpu', '150'], { command: 'limits', gpuCelsius: null, cpuCelsius: 150 }],
  [['limits', 'rig1', '--cpu', 'none'], { command: 'limits', cpuCelsius: null }],
  [['restart', 'rig1'], { command: 'restart' }],
])('fleet %j', async (words, request) => {
  expect(await requested(...words)).toEqual([[request], DONE]);
  const rigs = [{ name: 'rig1', done: true, message: 'it is done' }];
  const [, json] = await requested(...words, '--json');
  expect(JSON.parse(json)).toEqual({ done: 1, failed: 0, rigs });
});
