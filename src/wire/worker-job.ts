/** Jobs of a parent as works, and solutions as shares. Pure. */

import { fromHex, toHex } from '../chain/bytes.ts';
import { CHAIN_BYTES, HEADER_OFFSET, WORK_BYTES, WORK_OFFSET } from '../chain/layout.ts';
import { NO_NONCE1 } from '../chain/nonce.ts';
import { difficultyOf } from '../chain/target.ts';
import type { Solution } from '../chain/verify.ts';
import { headerTargetOf, parseWork, type Work } from '../chain/work.ts';
import { parseTarget } from './stratum.ts';
import type { AnswerOf } from './worker-answers.ts';
import type { JobRequest } from './worker-requests.ts';

/**
 * @param request a job whose shape has been checked
 * @param workId unique among all works
 * @returns the job's work. Its block target is the one in the header
 */
export function workOf(request: JobRequest, workId: string): Work {
  const header = fromHex(request.header);
  const blockTarget = headerTargetOf(header);
  const { target, nonce1 = NO_NONCE1, timeMayRoll = false, solutions = 'many' } = request;
  return workOfHeader(header, {
    id: workId,
    target: target === undefined ? blockTarget : targetOf(target),
    nonce1,
    rollTime: timeMayRoll,
    until: solutions === 'one' ? 'solved' : 'replaced',
  });
}

/**
 * @param header 286 bytes
 * @param terms what the header does not say; its block target is the one in the header
 */
export function workOfHeader(
  header: Uint8Array,
  { target, ...terms }: Pick<Work, 'id' | 'target' | 'nonce1' | 'rollTime' | 'until'>,
): Work {
  const record = new Uint8Array(WORK_BYTES);
  const chain = header.subarray(HEADER_OFFSET.chain, HEADER_OFFSET.chain + CHAIN_BYTES);
  record.set(chain, WORK_OFFSET.chain);
  record.set(target, WORK_OFFSET.target);
  record.set(header, WORK_OFFSET.header);
  return parseWork(record, { ...terms, blockTarget: Uint8Array.from(headerTargetOf(header)) });
}

/** @param target hex digits that have been checked @returns 32 bytes, little-endian */
export function targetOf(target: string): Uint8Array {
  return parseTarget(target) as Uint8Array;
}

/** @param share the number of the share @param id the job's name */
export function shareOf(
  { work, nonce, header, powHash, isBlock }: Solution,
  share: number,
  id: string,
): AnswerOf<'share'> {
  return {
    type: 'share',
    share,
    id,
    nonce: nonce.toString(),
    header: toHex(header),
    hash: toHex(powHash),
    difficulty: difficultyOf(work.target),
    isBlock,
  };
}
