import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { MinerEvent } from '#pickaxe/miner/events/events.js';
import { LEFT, SOURCE_KINDS } from '#pickaxe/miner/events/vocabulary.js';
import { Outages, outageInFull, outageInShort } from '#pickaxe/rig/log/outages.js';
import type { RigState } from '#pickaxe/rig/status/status.js';
import { Tally } from '#pickaxe/rig/status/tally.js';
import { device, FakeClock } from '../status/fakes.ts';

const node = (state: 'connected' | 'lost', reason = ''): MinerEvent => {
  return { type: 'source', source: 'http://node', kind: 'node', state, reason };
};
const work: MinerEvent = { type: 'work', chain: 3, height: 42n, difficulty: 1e9 };
const MINES = [device('cpu', 'ready'), node('connected'), work];

/** A rig, and its log lines, each with the second at which it was logged. */
function rig() {
  const clock = new FakeClock();
  const tally = new Tally(clock);
  const said: string[] = [];
  const log = pino(
    { base: null, formatters: { level: (level) => ({ level }) } },
    {
      write: (line: string) => {
        const { level, msg } = JSON.parse(line);
        said.push(`${clock.monotonicMs() / 1_000} ${level}: ${msg}`);
      },
    },
  );
  const outages = new Outages(log, tally);
  const tell = (...events: MinerEvent[]) => {
    for (const event of events) tally.listen(event);
  };
  const wait = (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      outages.look();
    }
  };
  return { said, tell, wait, clock, outages };
}

function status(state: RigState, stateAgeSeconds: number, sourceKind: (typeof SOURCE_KINDS)[number] = 'node') {
  return { state, sourceKind, stateReason: 'why', stateAgeSeconds };
}

describe('an outage', () => {
  test('is logged after ten seconds and then each minute, and so is its end', () => {
    const { said, tell, wait } = rig();
    tell(...MINES);
    wait(5);
    tell(node('lost', 'cannot reach http://node (ECONNREFUSED): nothing listens there. Is the node running?'));
    wait(135);
    tell(node('connected'));
    wait(100);
    const why = '(cannot reach http://node (ECONNREFUSED): nothing listens there), retrying';
    expect(said).toEqual([
      `15 warn: no node for 10 s ${why}`,
      `75 warn: no node for 1 min ${why}`,
      `135 warn: no node for 2 min ${why}`,
      '141 info: mining again after 2 min 16 s (no node)',
    ]);
  });

  test('is as old as the state of the rig when it is first seen', () => {
    const { said, tell, clock, outages } = rig();
    tell(...MINES, node('lost', 'gone'));
    for (const ms of [9_999, 1]) {
      clock.advance(ms);
      outages.look();
    }
    expect(said).toEqual(['10 warn: no node for 10 s (gone), retrying']);
  });

  test('that is short is not logged', () => {
    const { said, tell, wait } = rig();
    tell(...MINES);
    for (let time = 0; time < 5; time++) {
      tell(node('lost', 'gone'));
      wait(9);
      tell(node('connected'));
      wait(9);
    }
    expect(said).toEqual([]);
  });

  test('because of a node that was never reached is logged from the start', () => {
    const { said, tell, wait } = rig();
    tell(device('cpu', 'ready'), node('lost', 'no such host'));
    wait(70);
    tell(node('connected'), work);
    wait(1);
    expect(said).toEqual([
      '10 warn: no node for 10 s (no such host), retrying',
      '70 warn: no node for 1 min (no such host), retrying',
      '71 info: mining after 1 min 11 s (no node)',
    ]);
  });

  test('whose reason changes is still one outage', () => {
    const { said, tell, wait } = rig();
    tell(...MINES);
    wait(1);
    tell(device('cpu', 'paused', 'the machine runs on battery'));
    wait(30);
    tell(device('cpu', 'reopening', 'it was lost'));
    wait(60);
    tell(device('cpu', 'ready'));
    wait(1);
    expect(said).toEqual([
      '11 info: paused for 10 s (cpu paused: the machine runs on battery)',
      '71 warn: no device mines for 1 min (cpu reopening: it was lost)',
      '92 info: mining again after 1 min 31 s (paused, then no device mines)',
    ]);
  });

  test('is named by the state of the rig', () => {
    const names = ['starting', 'paused', 'waiting-for-work', 'no-source', 'no-device', 'mining'] as const;
    expect(names.map((name) => outageInFull(status(name, 59.999)))).toEqual([
      'starting for 59 s (why)',
      'paused for 59 s (why)',
      'no work for 59 s (why)',
      'no node for 59 s (why), retrying',
      'no device mines for 59 s (why)',
      undefined,
    ]);
    expect(outageInShort(status('no-source', 7_259.999))).toBe('no node for 2 h');
  });

  test('of sources that are left for good is not retried, and of others beside them it is', () => {
    const left = `works for k:you and not for k:me, so it is ${LEFT}`;
    const { said, tell, wait } = rig();
    tell(device('cpu', 'ready'), node('lost', left));
    wait(10);
    tell({ ...(node('lost', 'gone') as MinerEvent & { type: 'source' }), source: 'http://other' });
    wait(60);
    expect(said).toEqual([
      '10 warn: no node for 10 s (works for k:you and not for k:me, so it is left until pickaxe is restarted)',
      '70 warn: no node for 1 min (works for k:you and not for k:me, so it is left until pickaxe is restarted; gone), retrying',
    ]);
  });

  test('is named by what the rig mines on; parents are not called', () => {
    const all = SOURCE_KINDS.map((kind) => outageInFull(status('no-source', 59.999, kind)));
    expect(all).toEqual([
      'no node for 59 s (why), retrying',
      'no pool for 59 s (why), retrying',
      'no parent for 59 s (why)',
      'no coordinator for 59 s (why), retrying',
    ]);
  });
});
