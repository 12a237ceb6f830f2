import { describe, expect, it } from 'vitest';
import { OTHER_WORKERS } from '#pickaxe/miner/events/vocabulary.js';
import { Accounts } from '#pickaxe/miner/relay/accounts.js';

describe('the accounts of workers', () => {
  it('have the counts of all sessions of a name, and the rates of those that are open', () => {
    const accounts = new Accounts();
    const account = accounts.of('rig');
    expect(accounts.of('rig')).toBe(account);
    const session = { hashesPerSecond: 5, difficulty: 100 };
    account.sessions.add(session).add({ hashesPerSecond: 7, difficulty: 50 });
    expect([account.note('rejected', 1_000), account.note('accepted', 2_000), account.note('accepted', 3_000)]).toEqual(
      [false, true, false],
    );
    expect(accounts.list(5_000)).toEqual([
      {
        name: 'rig',
        sessions: 2,
        hashesPerSecond: 12,
        difficulty: 50,
        accepted: 2,
        rejected: 1,
        stale: 0,
        duplicate: 0,
        blocks: 0,
        lastShareSeconds: 2,
      },
    ]);
    account.sessions.clear();
    expect(accounts.list(5_000)[0]).not.toHaveProperty('difficulty');
  });

  it('have no time of a last share before the first one that is accepted', () => {
    const accounts = new Accounts();
    const account = accounts.of('rig');
    for (const outcome of ['rejected', 'stale', 'duplicate'] as const) account.note(outcome, 1_000);
    expect(accounts.list(2_000)[0]).not.toHaveProperty('lastShareSeconds');
    account.note('accepted', 2_000);
    expect(accounts.list(2_000)[0]).toHaveProperty('lastShareSeconds', 0);
  });

  it('are listed by their rate, 64 of them; the rest is summed up', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 70; index++) {
      const account = accounts.of(`rig${index}`);
      account.sessions.add({ hashesPerSecond: index, difficulty: 10 + index });
      account.note('accepted', 1_000 * index);
    }
    const list = accounts.list(100_000);
    expect(list).toHaveLength(65);
    expect(list[0].name).toBe('rig69');
    expect(list[64]).toMatchObject({
      name: OTHER_WORKERS,
      sessions: 6,
      hashesPerSecond: 15,
      difficulty: 10,
      accepted: 6,
      lastShareSeconds: 95,
    });
  });

  it('of the rest are summed up in all that they have done', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 64; index++)
      accounts.of(`a${index}`).sessions.add({ hashesPerSecond: 1, difficulty: 1 });
    const [one, other, idle] = ['b', 'c', 'd'].map((name) => accounts.of(name));
    for (const [account, times] of [
      [one, 1],
      [other, 3],
    ] as const) {
      for (let time = 0; time < times; time++) {
        account.note('accepted', 1_000 * times);
        account.note('rejected', 9_000);
        for (const _ of [1, 2]) account.note('stale', 9_000);
        for (const _ of [1, 2, 3]) account.note('duplicate', 9_000);
      }
      account.blocks += times;
    }
    expect(accounts.list(10_000)).toHaveLength(65);
    const sums = { accepted: 4, rejected: 4, stale: 8, duplicate: 12, blocks: 4 };
    expect(accounts.list(10_000)[64]).toEqual({
      name: OTHER_WORKERS,
      sessions: 0,
      hashesPerSecond: 0,
      ...sums,
      lastShareSeconds: 7,
    });
    for (const [hashesPerSecond, difficulty] of [
      [0.25, 50],
      [0.5, 40],
    ]) {
      idle.sessions.add({ hashesPerSecond, difficulty });
    }
    expect(accounts.list(10_000)[64]).toMatchObject({ sessions: 2, hashesPerSecond: 0.75, difficulty: 40, ...sums });
  });

  it.each(['accepted', 'rejected', 'stale', 'duplicate'] as const)(
    'of the rest have a row as soon as there is a share that is %s, or a session',
    (outcome) => {
      const accounts = new Accounts();
      for (let index = 0; index < 64; index++) {
        accounts.of(`a${index}`).sessions.add({ hashesPerSecond: 1, difficulty: 1 });
      }
      const late = accounts.of('late');
      expect(accounts.list(0)).toHaveLength(64);
      late.note(outcome, 0);
      expect(accounts.list(0)[64]).toMatchObject({ [outcome]: 1 });
      expect(accounts.list(0)[64]).not.toHaveProperty('difficulty');
      if (outcome !== 'accepted') expect(accounts.list(0)[64]).not.toHaveProperty('lastShareSeconds');
      const busy = new Accounts();
      busy.of(OTHER_WORKERS).sessions.add({ hashesPerSecond: 0, difficulty: 3 });
      expect(busy.list(0)).toEqual([expect.objectContaining({ name: OTHER_WORKERS, sessions: 1, difficulty: 3 })]);
    },
  );

  it('that are as fast are listed by the number of their sessions, and then by their names', () => {
    const accounts = new Accounts();
    for (const [name, sessions] of [
      ['c', 1],
      ['a', 1],
      ['d', 2],
      ['b', 1],
    ] as const) {
      for (let i = 0; i < sessions; i++) {
        accounts.of(name).sessions.add({ hashesPerSecond: 6 / sessions, difficulty: 1 });
      }
    }
    expect(accounts.list(0).map(({ name }) => name)).toEqual(['d', 'a', 'b', 'c']);
  });

  it('that are forgotten leave all that they have done, with the time of the last share among them', () => {
    const accounts = new Accounts();
    const done = (name: string, ms: number | undefined) => {
      const account = accounts.of(name);
      if (ms !== undefined) account.note('accepted', ms);
      for (const outcome of ['rejected', 'stale', 'duplicate'] as const) account.note(outcome, 99_000);
      account.blocks += 2;
    };
    done('first', 5_000);
    done('second', undefined);
    done('third', 7_000);
    done('fourth', 6_000);
    for (let index = 4; index < 4_096; index++) accounts.of(`user${index}`).users++;
    for (const [index, lastShareSeconds] of [5, 5, 3, 3].entries()) {
      accounts.of(`new${index}`).users++;
      const times = index + 1;
      expect(accounts.of(OTHER_WORKERS).now(10_000)).toMatchObject({
        accepted: [1, 1, 2, 3][index],
        rejected: times,
        stale: times,
        duplicate: times,
        blocks: 2 * times,
        lastShareSeconds,
      });
    }
    expect(accounts.of('one more').name).toBe(OTHER_WORKERS);
  });

  it('are forgotten in the order in which they were last asked for', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 4_096; index++) accounts.of(`rig${index}`);
    const [first, second] = [accounts.of('rig0'), accounts.of('rig1')];
    accounts.of('rig0');
    for (let index = 2; index < 4_096; index++) accounts.of(`rig${index}`);
    accounts.of('new');
    expect([accounts.of('rig0') === first, accounts.of('rig1') === second]).toEqual([true, false]);
  });

  it('have one row of the name that sums up the rest, though a worker calls itself so', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 70; index++) accounts.of(`rig${index}`).note('accepted', 0);
    accounts.of(OTHER_WORKERS).note('accepted', 0);
    const others = accounts.list(0).filter(({ name }) => name === OTHER_WORKERS);
    expect(others).toMatchObject([{ accepted: 7 }]);
  });

  it('are bounded: names without users are forgotten, but not what they have done', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 10_000; index++) accounts.of(`name${index}`).note('accepted', index);
    const list = accounts.list(10_000);
    expect(list.reduce((sum, { accepted }) => sum + accepted, 0)).toBe(10_000);
    const crowded = new Accounts();
    for (let index = 0; index < 4_096; index++) {
      crowded.of(`name${index}`).users++;
    }
    expect(crowded.of('one more').name).toBe(OTHER_WORKERS);
    crowded.of('name7').users--;
    expect(crowded.of('one more').name).toBe('one more');
  });
});
