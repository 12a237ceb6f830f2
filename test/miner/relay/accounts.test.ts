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
