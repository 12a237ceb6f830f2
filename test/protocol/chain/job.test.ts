/** What an engine searches for: the puzzle of a job, and an easier target than that of the work. */

import { expect, it } from 'vitest';
import { NOTHING_SOLVES, prepareJob, puzzleOf, withSearchTarget } from '#pickaxe/protocol/chain/job.js';
import { targetForDifficulty } from '#pickaxe/protocol/chain/target.js';
import { creationTimeOf, withCreationTime } from '#pickaxe/protocol/chain/work.js';
import { makeWork } from '../../fakes.ts';

const wordsOf = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Uint32Array.from({ length: 8 }, (_, i) => view.getUint32(4 * i, true));
};

it('a job has the puzzle of its work at a creation time', () => {
  const work = makeWork(1e6);
  const job = prepareJob(work, 7n);
  expect(job).toEqual({
    work,
    header: withCreationTime(work.header, 7n),
    searchTarget: work.target,
    ...puzzleOf(withCreationTime(work.header, 7n), work.target),
  });
  expect(job.target).toEqual(wordsOf(work.target));
  expect(prepareJob(work)).toEqual(prepareJob(work, creationTimeOf(work.header)));
});

it('an easier target is searched for, and everything else stays', () => {
  const job = prepareJob(makeWork(1e6));
  const easier = targetForDifficulty(7);
  expect(withSearchTarget(job, easier)).toEqual({ ...job, searchTarget: easier, target: wordsOf(easier) });
});

it('a puzzle for measurements has the target 0', () => {
  expect(NOTHING_SOLVES).toEqual(puzzleOf(new Uint8Array(286), new Uint8Array(32)));
  expect(NOTHING_SOLVES.target).toEqual(new Uint32Array(8));
});
