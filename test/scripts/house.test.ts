import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { answers, importsIn, measure } from '../../scripts/house.mjs';
import { WALKS } from '../../scripts/journeys.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url)).replaceAll('\\', '/');
const house = measure(root);

it('says in ten names what is in src/, with few arrows between them, which point one way', () => {
  expect(house.names).toBe(10);
  expect(house.arrows).toBeGreaterThan(20);
  expect(house.arrows).toBeLessThanOrEqual(40);
  expect(house.twoWay).toEqual([]);
  expect(house.ruleLines).toBeLessThanOrEqual(40);
});

it('has no folder of more than sixteen entries, and few names of files that are used twice', () => {
  expect(house.largestFolder.entries).toBeLessThanOrEqual(16);
  expect(house.namesUsedTwice).toBeLessThanOrEqual(60);
});

it('leads from a word of the field to the file that answers', () => {
  expect(house.questions.asked).toBe(69);
  expect(house.questions.found).toBeGreaterThanOrEqual(60);
  expect(answers('miner/relay/stratum/vardiff', 'vardiff')).toBe(true);
  expect(answers('miner/relay/stratum/difficulty', 'vardiff')).toBe(false);
  expect(answers('base/net/tls-trust', 'tls|cert')).toBe(true);
  expect(answers('miner/relay/stratum/jobs', 'stratum server')).toBe(false);
});

it('lets a reader follow a value without walking to and fro', () => {
  const { walks } = house;
  expect(walks['a work, from GET to POST'].files).toBeLessThanOrEqual(20);
  expect(walks['a work, from GET to POST'].stays).toBeLessThanOrEqual(28);
  expect(walks['a share of a stratum session'].moves.rooms).toBeLessThanOrEqual(6);
  expect(walks['a solution of a fleet'].moves.wings).toBeLessThanOrEqual(8);
});

it.each(Object.entries(WALKS))(
  '%s walks through files that are there, and that know another one of its way',
  (_, walk) => {
    const files = new Map([...importsIn(`${root}src/`)].map(([file, targets]) => [file.replace(/\.ts$/, ''), targets]));
    expect(walk.filter((file) => !files.has(file))).toEqual([]);
    const knows = (a: string, b: string) => files.get(a)!.includes(`${b}.ts`);
    const lonely = walk.filter((file) => !walk.some((other) => knows(file, other) || knows(other, file)));
    expect(lonely).toEqual([]);
  },
);
