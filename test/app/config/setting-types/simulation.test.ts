import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { printed } from '#pickaxe/app/config/setting-types/basic.js';
import { simulation } from '#pickaxe/app/config/setting-types/rig.js';

const read = (text: string) => simulation.schema(z).safeParse(text);

describe('how blocks are simulated', () => {
  it.each([
    ['hashrate=100M', { kind: 'hashrate', hashesPerSecond: 100e6 }, 'hashrate=100M'],
    ['hashrate=1', { kind: 'hashrate', hashesPerSecond: 1 }, 'hashrate=1'],
    ['delay=5s', { kind: 'delay', seconds: 5 }, 'delay=5s'],
    ['delay=0.02', { kind: 'delay', seconds: 0.02 }, 'delay=0.02s'],
    ['delay=24h', { kind: 'delay', seconds: 86_400 }, 'delay=86400s'],
    ['on-demand=1917', { kind: 'on-demand', address: { host: '127.0.0.1', port: 1917 } }, 'on-demand=127.0.0.1:1917'],
    ['on-demand=[::1]:80', { kind: 'on-demand', address: { host: '::1', port: 80 } }, 'on-demand=[::1]:80'],
  ] as const)('is read from %s', (text, how, print) => {
    expect(read(text).data).toEqual(how);
    expect(printed(simulation, how)).toBe(print);
  });

  it.each([
    'hashrate=0',
    'hashrate=fast',
    'delay=0.019',
    'delay=0',
    'delay=86401',
    'delay=soon',
    'on-demand=',
    'on-demand=x:y',
    'on-demand=10.0.0.1:80',
    'often=1',
    '',
  ])('cannot be %j', (text) => {
    expect(read(text).success).toBe(false);
  });
});
