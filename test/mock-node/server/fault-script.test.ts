/** Which request gets which fault of a script, and which scripts are valid. */

import { describe, expect, it } from 'vitest';
import { type FaultInput, FaultScript } from '#pickaxe/mock-node/server/faults.js';

function scriptOf(faults: readonly FaultInput[], side: 'service' | 'p2p' | 'both' = 'both', random = () => 0.5) {
  const script = new FaultScript(side, random);
  script.faults = faults;
  return script;
}

const old = { endpoint: 'cut', kind: 'old-cut' } as const;

describe('a fault', () => {
  it('of an endpoint is for its requests, and that of any endpoint for all', () => {
    const script = scriptOf([old, { endpoint: 'any', kind: 'status' }]);
    expect([script.next('cut')?.kind, script.next('work')?.kind]).toEqual(['old-cut', 'status']);
    expect(scriptOf([old]).next('work')).toBeUndefined();
  });

  it.each([
    ['service', 'service', true],
    ['service', 'p2p', false],
    ['p2p', 'p2p', true],
    ['p2p', 'both', true],
  ] as const)('of the side %s is for the side %s: %s', (of, side, applies) => {
    expect(scriptOf([{ ...old, side: of }], side).next('cut') !== undefined).toBe(applies);
  });

  it('comes as often as it says, and then the next one', () => {
    const script = scriptOf([
      { ...old, times: 2 },
      { endpoint: 'cut', kind: 'status' },
    ]);
    expect([1, 2, 3].map(() => script.next('cut')?.kind)).toEqual(['old-cut', 'old-cut', 'status']);
    expect(scriptOf([{ ...old, times: 1 }]).next('cut')).toMatchObject({ kind: 'old-cut' });
  });

  it.each([
    [0, false],
    [0.5, false],
    [0.51, true],
    [1, true],
  ])('of the probability %d comes at the random number 0.5: %s', (probability, comes) => {
    expect(scriptOf([{ ...old, probability }]).next('cut') !== undefined).toBe(comes);
  });

  it('has its values by default', () => {
    const { faults } = scriptOf([{ endpoint: 'any', kind: 'status' }]);
    expect(faults).toEqual([
      {
        endpoint: 'any',
        kind: 'status',
        probability: 1,
        delayMs: 0,
        status: 503,
        text: '',
        items: 1,
        blocksBack: 1,
        bytes: 33_500_000,
        noise: '\n',
        noiseBytesPerS: 1_000,
      },
    ]);
  });
});

describe('a script', () => {
  it.each([
    [{ items: 4_096 }, { items: 4_097 }],
    [{ items: 1 }, { items: 0 }],
    [{ blocksBack: 400 }, { blocksBack: 401 }],
    [{ blocksBack: 1 }, { blocksBack: 0 }],
    [{ times: 1 }, { times: 0 }],
    [{ delayMs: 600_000 }, { delayMs: 600_001 }],
    [{ delayMs: 0 }, { delayMs: -1 }],
    [{ retryAfterS: 3_600 }, { retryAfterS: 3_601 }],
    [{ status: 599 }, { status: 600 }],
    [{ status: 400 }, { status: 399 }],
    [{ text: 'x'.repeat(1_000) }, { text: 'x'.repeat(1_001) }],
    [{ bytes: 16 }, { bytes: 15 }],
    [{ bytes: 100_000_000 }, { bytes: 100_000_001 }],
    [{ noise: '\n' }, { noise: 'x' }],
    [{ noise: `${'x'.repeat(999)}\n` }, { noise: `${'x'.repeat(1_000)}\n` }],
    [{ noiseBytesPerS: 1 }, { noiseBytesPerS: 0 }],
    [{ noiseBytesPerS: 10_000_000 }, { noiseBytesPerS: 10_000_001 }],
    [{ probability: 0 }, { probability: -0.1 }],
  ])('may have %j, and not %j', (right, wrong) => {
    expect(scriptOf([{ ...old, ...right }]).faults).toHaveLength(1);
    expect(() => scriptOf([{ ...old, ...wrong }])).toThrow();
  });

  it('has a hundred faults at most', () => {
    expect(scriptOf(Array(100).fill(old)).faults).toHaveLength(100);
    expect(() => scriptOf(Array(101).fill(old))).toThrow();
  });
});
