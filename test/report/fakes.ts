/** For tests of reporters: a clock that a test advances, and short ways to make events. */

import type { MinerEvent } from '#pickaxe/events/events.js';
import type { Clock } from '#pickaxe/system/clock.js';

export class FakeClock implements Clock {
  #ms = 0;

  advance(ms: number): void {
    this.#ms += ms;
  }

  nowUs(): bigint {
    return 1_700_000_000_000_000n + BigInt(this.#ms) * 1000n;
  }

  monotonicMs(): number {
    return this.#ms;
  }
}

type DeviceEvent = Extract<MinerEvent, { type: 'device' }>;
type VerdictEvent = Extract<MinerEvent, { type: 'verdict' }>;

export const device = (name: string, state: DeviceEvent['state'], reason?: string): DeviceEvent => {
  const kind = name === 'cpu' ? 'cpu' : 'gpu';
  return { type: 'device', device: name, kind, state, description: `model of ${name}`, ...(reason && { reason }) };
};

export const hashes = (device: string, count: number, difficulty = 1_000): MinerEvent => {
  return { type: 'hashes', device, hashes: count, difficulty };
};

export const verdict = (device: string, outcome: VerdictEvent['outcome'], reason = ''): VerdictEvent => {
  const about = {
    isRelay: false,
    chain: 3,
    height: 42n,
    nonce: 2n ** 63n,
    isBlock: true,
    isShare: false,
    difficulty: 1_000,
  };
  return { type: 'verdict', outcome, reason, device, ...about, answerSeconds: 0.0123 };
};
