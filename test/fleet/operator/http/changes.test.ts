/** Which rigs an answer has for a page that has seen an earlier one. */

import { describe, expect, it } from 'vitest';
import type { FleetRig, FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { ChangeLog } from '#pickaxe/fleet/operator/http/changes.js';
import { FakeClock } from '../../../rig/status/fakes.ts';
import { fleetRig, INSTANCE } from '../messages.ts';

function setUp() {
  const clock = new FakeClock();
  const rigs = new Map<string, FleetRig>();
  let computed = 0;
  const read = () => {
    computed++;
    return { rigs: [...rigs.values()].map((rig) => ({ ...rig })) } as unknown as FleetStatus;
  };
  const log = new ChangeLog(read, clock, INSTANCE);
  /** The rig sends a new report. */
  const reports = (name: string, more: Partial<FleetRig> = {}) => rigs.set(name, fleetRig(name, more));
  const since = (mark?: string) => {
    const { whole, rigs, goneRigs } = log.since(mark);
    return `${whole ? 'whole' : 'changes'}: ${rigs.map(({ name }) => name)}; gone: ${goneRigs}`;
  };
  const mark = () => log.since(undefined).mark;
  const pass = (ms = 1_000) => clock.advance(ms);
  return { log, rigs, reports, since, mark, pass, computed: () => computed };
}

it('a status is computed once in a second, however many ask', () => {
  const { log, pass, computed } = setUp();
  const first = log.status;
  pass(999);
  expect([log.status === first, computed()]).toEqual([true, 1]);
  pass(1);
  expect([log.status === first, computed()]).toEqual([false, 2]);
  pass(999);
  log.since(undefined);
  expect(computed()).toBe(2);
});

describe('a rig is among the changes', () => {
  it('of each status in which it has a new report, and of no other', () => {
    const { reports, since, mark, pass } = setUp();
    reports('a');
    reports('b');
    const first = mark();
    expect(since(first)).toBe('changes: ; gone: ');
    pass();
    reports('b');
    const second = mark();
    expect([since(), since(first), since(second)]).toEqual([
      'whole: a,b; gone: ',
      'changes: b; gone: ',
      'changes: ; gone: ',
    ]);
    pass();
    reports('a');
    reports('c');
    expect([since(first), since(second)]).toEqual(['changes: a,b,c; gone: ', 'changes: a,c; gone: ']);
    pass();
    expect(since(first)).toBe('changes: a,b,c; gone: ');
  });

  it.each(['silent', 'duplicate'] as const)('when it is %s from now on, without a report', (what) => {
    const { rigs, reports, since, mark, pass } = setUp();
    reports('a');
    for (const is of [true, false]) {
      const before = mark();
      pass();
      rigs.set('a', { ...rigs.get('a')!, [what]: is });
      expect(since(before)).toBe('changes: a; gone: ');
    }
    const before = mark();
    pass();
    expect(since(before)).toBe('changes: ; gone: ');
  });

  it('when it is gone, until it is back, or the mark is too old', () => {
    const { rigs, reports, since, mark, pass } = setUp();
    reports('a');
    reports('b');
    const first = mark();
    pass();
    rigs.delete('b');
    const second = mark();
    expect([since(first), since(second)]).toEqual(['changes: ; gone: b', 'changes: ; gone: ']);
    pass();
    reports('b');
    expect([since(first), since(second)]).toEqual(['changes: b; gone: ', 'changes: b; gone: ']);
    pass();
    rigs.delete('b');
    const later = mark();
    for (let number = 0; number < 16; number++) {
      expect([number, since(second)]).toEqual([number, number < 15 ? 'changes: ; gone: b' : 'whole: a; gone: ']);
      pass();
      mark();
    }
    expect(since(later)).toBe('changes: ; gone: ');
  });
});

it.each([
  ['no mark', undefined],
  ['no number', INSTANCE],
  ['a later number', `${INSTANCE}-2`],
  ['another run', `${'f'.repeat(16)}-1`],
])('all rigs are answered to %s', (_, mark) => {
  const { log, reports, since } = setUp();
  reports('a');
  expect(log.status.rigs).toHaveLength(1);
  expect([since(mark), log.knows(mark)]).toEqual(['whole: a; gone: ', false]);
  expect([since(`${INSTANCE}-1`), log.knows(`${INSTANCE}-1`)]).toEqual(['changes: ; gone: ', true]);
});
