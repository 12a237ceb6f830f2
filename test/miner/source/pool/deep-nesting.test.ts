import { expect, it } from 'vitest';
import { MOST_LINE_BYTES } from '#pickaxe/miner/source/pool/pool-limits.js';
import { eventually } from '../follow.ts';
import { MockPool } from './mock-pool.ts';
import { followPool, GREETING, jobLine, makeHeader, targetLine } from './pool.ts';

/** Nested as deep as a line allows: JSON.parse reads this, and JSON.stringify exceeds the stack. */
const DEPTH = MOST_LINE_BYTES / 2 - 100;
const DEEP = '['.repeat(DEPTH) + ']'.repeat(DEPTH);

it('an id that is nested too deep to be repeated is left out', async () => {
  const pool = await MockPool.start([
    ...GREETING,
    `< {"id":${DEEP},"method":"client.get_version","params":[]}`,
    '> {"id":null,"result":"pickaxe/test","error":null}',
    targetLine(100),
    jobLine('1', makeHeader()),
  ]);
  const { follower } = followPool(pool.url);
  await pool.played();
  await follower.work();
});

it.each([
  ['a job', `< {"id":null,"method":"mining.notify","params":${DEEP}}`],
  ['a target', `< {"id":null,"method":"mining.set_target","params":[${DEEP}]}`],
])('%s that is nested too deep to be quoted ends the connection', async (what, line) => {
  const pool = await MockPool.start([...GREETING, line]);
  const { recorder } = followPool(pool.url);
  const reason = `the pool sent ${what} that cannot be read: something that is nested too deep`;
  await eventually(() => expect(recorder.of('source')).toContainEqual(expect.objectContaining({ reason })));
});

it('a difficulty that is nested too deep to be quoted is said to be so', async () => {
  const pool = await MockPool.start([
    ...GREETING,
    targetLine(100),
    `< {"id":null,"method":"mining.set_difficulty","params":[${DEEP}]}`,
    jobLine('1', makeHeader()),
  ]);
  const { follower, recorder } = followPool(pool.url);
  await follower.work();
  const reasons = recorder.of('source').map(({ reason }) => reason);
  expect(reasons.join()).toContain('mining.set_difficulty (something that is nested too deep)');
});
