/** Which blocks of other coordinators prove that this one lags, for how long, and how often others are asked. */

import { describe, expect, it } from 'vitest';
import { systemClock } from '#pickaxe/base/system/clock.js';
import { coordinatorLimits } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { Lag } from '#pickaxe/fleet/coordinator/lag.js';
import { Namesakes } from '#pickaxe/fleet/coordinator/namesakes.js';
import { OtherCoordinators } from '#pickaxe/fleet/coordinator/other-coordinators.js';
import { type CoordinatorState, messageBytes } from '#pickaxe/fleet/messages.js';
import { LinkError } from '#pickaxe/fleet/nats/link.js';
import { HEADER_OFFSET, toHex, WORK_BYTES, WORK_OFFSET } from '#pickaxe/protocol/chain/bytes.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { parseWork, type Work, withCreationTime } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';
import { mine } from '../../miner/source/follow.ts';
import { stateOf, subjects } from './coordinator.ts';

const never = new AbortController().signal;
/** By the clock of the coordinator's node, in microseconds. */
const NOW_US = 1_700_000_000_000_000n;
const state = (more: Partial<CoordinatorState> = {}) => stateOf('0'.repeat(16), 0, more);

function workAt(height: bigint, difficulty: number, network = 5): Work {
  const { target, header, chain, ...work } = makeWork(difficulty);
  const changed = Uint8Array.from(header);
  const view = new DataView(changed.buffer);
  view.setBigUint64(HEADER_OFFSET.height, height, true);
  view.setUint32(HEADER_OFFSET.version, network, true);
  const record = new Uint8Array(WORK_BYTES);
  new DataView(record.buffer).setUint32(0, chain, true);
  record.set(target, WORK_OFFSET.target);
  record.set(changed, WORK_OFFSET.header);
  return { ...work, ...parseWork(record) };
}

/** The header of a found block, in hex. */
function blockAt(height: bigint, { difficulty = 64, network = 5, ageUs = 0n } = {}): string {
  const work = workAt(height, difficulty, network);
  const header = withCreationTime(work.header, NOW_US - ageUs);
  const record = new Uint8Array(WORK_BYTES);
  record.set(work.target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return toHex(mine(parseWork(record)).header);
}

/** A coordinator at height 100, and one that claims a greater height. */
function lagging({ answer = (): unknown => state(), claims = ['c2'] } = {}) {
  let nowMs = 1_000_000;
  let own: { height: bigint; sinceMs: number } | undefined = { height: 100n, sinceMs: 0 };
  const asked: string[] = [];
  const above: bigint[] = [];
  const lag = new Lag({
    name: 'c1',
    own: {
      last: { ...workAt(100n, 64), blockTarget: targetForDifficulty(64) },
      latestTimeUs: () => NOW_US,
      growth: () => own,
    },
    others: {
      fitAbove: (height) => {
        above.push(height);
        return claims;
      },
    },
    link: {
      request: async (subject) => {
        asked.push(subject);
        return messageBytes(answer());
      },
    },
    subjects,
    clock: { ...systemClock, monotonicMs: () => nowMs },
    limits: coordinatorLimits,
  });
  return {
    lag,
    asked,
    above,
    pass: (ms: number) => {
      nowMs += ms;
    },
    grow: (height: bigint | undefined) => {
      own = height === undefined ? undefined : { height, sinceMs: 0 };
    },
  };
}

async function blocksBy(parent: string | undefined) {
  const { lag } = lagging({ answer: () => state(parent === undefined ? {} : { parent }) });
  await lag.look(never);
  return lag.blocks;
}

describe('a lag is proven by a block', () => {
  it.each([
    ['that is high enough', blockAt(102n), 3n],
    ['that is too low', blockAt(101n), undefined],
    ['that is much higher', blockAt(109n), 10n],
    ['of another network', blockAt(109n, { network: 7 }), undefined],
    ['that is half as hard to find', blockAt(109n, { difficulty: 32 }), 10n],
    ['that is easier to find', blockAt(109n, { difficulty: 31 }), undefined],
    ['of ten minutes ago', blockAt(109n, { ageUs: 600_000_000n }), 10n],
    ['that is older', blockAt(109n, { ageUs: 600_000_001n }), undefined],
    ['whose clock is 10 s ahead', blockAt(109n, { ageUs: -10_000_000n }), 10n],
    ['whose clock is further ahead', blockAt(109n, { ageUs: -10_000_001n }), undefined],
    ['that nobody shows', undefined, undefined],
  ])('%s', async (_, parent, blocks) => {
    expect(await blocksBy(parent)).toBe(blocks);
  });

  it('for two minutes, and as long as this coordinator is behind it', async () => {
    const { lag, pass, grow } = lagging({ answer: () => state({ parent: blockAt(109n) }) });
    expect(lag.blocks).toBeUndefined();
    await lag.look(never);
    expect(lag.blocks).toBe(10n);
    grow(107n);
    expect(lag.blocks).toBe(3n);
    grow(108n);
    expect(lag.blocks).toBeUndefined();
    grow(undefined);
    expect(lag.blocks).toBeUndefined();
    grow(100n);
    pass(119_999);
    expect(lag.blocks).toBe(10n);
    pass(1);
    expect(lag.blocks).toBeUndefined();
  });

  it('once: the same block does not prolong it, nor does a lower one', async () => {
    let parent = blockAt(109n);
    const { lag, pass } = lagging({ answer: () => state({ parent }) });
    await lag.look(never);
    for (const next of [parent, blockAt(101n)]) {
      parent = next;
      pass(60_000);
      await lag.look(never);
    }
    expect(lag.blocks).toBeUndefined();
    parent = blockAt(110n);
    pass(10_000);
    await lag.look(never);
    expect(lag.blocks).toBe(11n);
  });
});

describe('others are asked', () => {
  it('for a block that is three ahead, each ten seconds at most, and not after the end', async () => {
    const { lag, asked, above, pass } = lagging({ claims: ['c2', 'c3'] });
    await lag.look(AbortSignal.abort());
    expect(asked).toEqual([]);
    await lag.look(never);
    expect([asked, above]).toEqual([[subjects.hello('c2', 'c1'), subjects.hello('c3', 'c1')], [102n]]);
    pass(9_999);
    await lag.look(never);
    expect(asked).toHaveLength(2);
    pass(1);
    await lag.look(never);
    expect(asked).toHaveLength(4);
  });

  it('not while nobody claims to be ahead, or while there is no work, and at once when somebody does', async () => {
    const claims: string[] = [];
    const { lag, asked, grow } = lagging({ claims });
    await lag.look(never);
    claims.push('c2');
    grow(undefined);
    await lag.look(never);
    expect(asked).toEqual([]);
    grow(100n);
    await lag.look(never);
    expect(asked).toHaveLength(1);
  });

  it('not for the first half of the time for which a block is a proof', async () => {
    const { lag, asked, pass, grow } = lagging({ answer: () => state({ parent: blockAt(109n) }) });
    await lag.look(never);
    pass(59_999);
    await lag.look(never);
    expect(asked).toHaveLength(1);
    // A proof that proves nothing any more is none.
    grow(108n);
    await lag.look(never);
    expect(asked).toHaveLength(2);
    grow(100n);
    pass(1);
    await lag.look(never);
    expect(asked).toHaveLength(2);
    pass(10_000);
    await lag.look(never);
    expect(asked).toHaveLength(3);
  });
});

describe('the name of a coordinator that starts', () => {
  const start = async (isConnected: boolean, fault: Error) => {
    const lines: string[] = [];
    let asked = 0;
    const log = (line: string) => void lines.push(line);
    const namesakes = new Namesakes({
      name: 'c1',
      instance: '0'.repeat(16),
      own: { states: 1 },
      link: {
        state: isConnected ? { isConnected, server: '' } : { isConnected, reason: '' },
        request: async () => {
          asked++;
          throw fault;
        },
      },
      subjects,
      clock: systemClock,
      log: { debug: log, info: log, warn: log },
      limits: coordinatorLimits,
    });
    await namesakes.refuse();
    return { asked, lines };
  };

  it('is asked for only with a connection, and a mistake of the program is none of the link', async () => {
    const silent = new LinkError('timeout', 'no answer');
    expect(await start(false, silent)).toEqual({ asked: 0, lines: [] });
    expect(await start(true, silent)).toEqual({ asked: 1, lines: [] });
    expect((await start(true, new LinkError('denied', 'no'))).lines).toHaveLength(1);
    await expect(start(true, new TypeError('x is undefined'))).rejects.toThrow('x is undefined');
  });
});

it('another coordinator is believed again after ten seconds of silence, and not before, whenever it came', () => {
  const others = new OtherCoordinators(coordinatorLimits);
  expect(others.admits('a', 50_000)).toBe(true);
  others.take('a', state({ number: 9, lost: 'away' }), 50_000);
  others.take('a', state({ number: 3, work: `${'0'.repeat(16)}-1` }), 59_999);
  expect(others.fitAbove(-2n, 59_999)).toEqual([]);
  others.take('a', state({ number: 3, work: `${'0'.repeat(16)}-1` }), 60_000);
  expect(others.fitAbove(-2n, 60_000)).toEqual(['a']);
});
