import { expect, test } from 'vitest';
import { completed } from '#pickaxe/miner/source/complete-source.js';
import { NodeSource } from '#pickaxe/miner/source/node/node-source.js';
import type { Judge, WorkSource } from '#pickaxe/miner/source/source.js';
import { makeWork } from '../../fakes.ts';

const stop = new AbortController().signal;

const own = (): WorkSource => ({
  name: 'my own',
  follow: async () => {},
  submit: async () => ({ outcome: 'accepted', reason: '' }),
  latestTimeUs: () => 7n,
});

test('a source that leaves members out is a node that answers and never judges itself', async () => {
  const source = completed(own());
  const work = makeWork(100);
  expect([source.name, source.kind, source.nameOf(work), source.latestTimeUs(work)]).toEqual([
    'my own',
    'node',
    'my own',
    7n,
  ]);
  expect(await source.answers(stop)).toBe(true);
  source.onHealth(() => expect.fail('it has no health'));
});

test('the members that it has are used, also those that it gets later', async () => {
  const judges: Judge[] = [];
  const given = { ...own(), kind: 'pool' as const, onHealth: (judge: Judge) => void judges.push(judge) };
  const source = completed(given);
  Object.assign(given, { name: 'renamed', answers: async () => false, nameOf: () => 'one of several' });
  const judge = () => {};
  source.onHealth(judge);
  expect(judges).toEqual([judge]);
  expect([source.name, source.kind, source.nameOf(makeWork(100))]).toEqual(['renamed', 'pool', 'one of several']);
  expect(await source.answers(stop)).toBe(false);
});

test('a source is completed once, and a complete one not at all', () => {
  const given = own();
  expect(completed(given)).toBe(completed(given));
  expect(completed(completed(given))).toBe(completed(given));
  const node = new NodeSource({
    url: 'http://one.example:1848',
    network: 'mainnet01',
    miner: { account: 'k:abc', predicate: 'keys-all', publicKeys: ['abc'] },
  });
  expect(completed(node)).toBe(node);
});
