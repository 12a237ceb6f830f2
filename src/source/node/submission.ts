/** Submits one solution to the node: repeats the attempt while the node remembers the work, and returns the verdict. */

import { Backoff } from '../../net/connecting.ts';
import { NodeError } from '../../node/errors.ts';
import type { StatusAnswer } from '../../node/http.ts';
import type { NodeLimits } from '../../node/limits.ts';
import { onAbort, within } from '../../system/abort.ts';
import { TokenBucket } from '../../system/bounded.ts';
import type { Verdict } from '../source.ts';

export interface SubmissionOptions {
  /** Makes one attempt. @throws NodeError */
  readonly post: (stop: AbortSignal) => Promise<StatusAnswer>;
  /** Whether the solution's chain has had a New Cut since the work was fetched. */
  readonly isOutdated: () => boolean;
  /** Called once: when the first attempt has ended, with or without success, or when it takes long. */
  readonly onSent: () => void;
  /** Waits before the next attempt. It returns early when the node shows signs of life. */
  readonly pause: (ms: number, stop: AbortSignal) => Promise<void>;
  /** Time for which the node still remembers the work. */
  readonly lifeMs: number;
  readonly random: () => number;
  readonly limits: Pick<NodeLimits, 'solvedAfterMs' | 'submitAfterStopMs' | 'submitPauses'>;
}

/** Maximum pause that a node may ask for (`retry-after`): a solution soon becomes worthless. */
const MAX_PATIENCE_MS = 5_000;

/** Settles within `lifeMs`, or soon after `stop`. Never throws. */
export async function submitSolution(options: SubmissionOptions, stop: AbortSignal): Promise<Verdict> {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const release = onAbort(stop, () => {
    timer = setTimeout(() => ending.abort(), options.limits.submitAfterStopMs);
  });
  try {
    return await within(options.lifeMs, ending.signal, (signal) => keepTrying(options, signal));
  } finally {
    clearTimeout(timer);
    release();
  }
}

async function keepTrying(options: SubmissionOptions, stop: AbortSignal): Promise<Verdict> {
  const { post, isOutdated, random, limits } = options;
  const pauses = new Backoff(limits.submitPauses, random);
  const onSent = once(options.onSent);
  const takesLong = setTimeout(onSent, limits.solvedAfterMs);
  /** Whether the node may have accepted an attempt whose answer was lost. */
  let answerLost = false;
  for (let attempt = 1; ; attempt++) {
    let problem: NodeError;
    try {
      return verdictOf(await post(stop), answerLost);
    } catch (error) {
      problem = error instanceof NodeError ? error : new NodeError('timed out', String(error), { cause: error });
    } finally {
      clearTimeout(takesLong);
      onSent();
    }
    answerLost ||= problem.mayHaveBeenTaken;
    if (isOutdated() && !answerLost) {
      return { outcome: 'stale', reason: `a New Cut came before the node could be reached: ${problem.message}` };
    }
    if (!stop.aborted) await options.pause(pauses.nextMs(Math.min(problem.retryAfterMs ?? 0, MAX_PATIENCE_MS)), stop);
    if (stop.aborted) {
      const attempts = attempt === 1 ? 'one attempt' : `${attempt} attempts`;
      return { outcome: 'unknown', reason: `gave up after ${attempts}: ${problem.message}` };
    }
  }
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) action();
    isDone = true;
  };
}

function verdictOf({ status, text }: StatusAnswer, answerLost: boolean): Verdict {
  if (status >= 200 && status < 300) return { outcome: 'accepted', reason: '' };
  const reason = text === '' ? `the node answered ${status}` : text;
  // A refusal says nothing about the attempt whose answer was lost: it may have been accepted and have solved the work.
  if (answerLost)
    return { outcome: 'unknown', reason: `the answer was lost, and the next attempt was answered with: ${reason}` };
  return { outcome: status === 404 ? 'stale' : 'rejected', reason };
}

/*
 * Bounds how often one node is asked for work and for streams. Otherwise a node, or a fault of pickaxe, that always
 * gives another reason would keep the rig changing its work instead of searching. Pure; times are monotonic
 * milliseconds.
 */

/**
 * Each change of work costs a rig some milliseconds of its search. Real networks need a few fetches a minute; test
 * networks with a block each 50 ms need about 20 a second.
 */
export const FETCHES_PER_SECOND = 25;
/** Enough for the start, for nodes that were away, and for 10 s of a test network that is far too quick. */
const FETCHES_AT_ONCE = 250;
/**
 * An accepted solution pays for one fetch, so that a network with easy blocks can be mined as fast as its node answers.
 * This bounds even those fetches, because the node also says how easy its blocks are.
 */
const ALL_FETCHES_PER_SECOND = 250;
/** Maximum number of fetches that accepted solutions can have paid for in advance. */
const MOST_PAID = 16;
/** Streams end after minutes, so a node with 20 chains is asked for about one stream in 12 s. */
const STREAMS_PER_SECOND = 5;
/** Enough to open the streams of 20 chains three times. */
const STREAMS_AT_ONCE = 60;

export class RequestBounds {
  readonly #fetches: TokenBucket;
  readonly #allFetches: TokenBucket;
  readonly #streams: TokenBucket;
  #paid = 0;

  constructor(nowMs: number) {
    this.#fetches = new TokenBucket(FETCHES_AT_ONCE, FETCHES_PER_SECOND, nowMs);
    this.#allFetches = new TokenBucket(FETCHES_AT_ONCE, ALL_FETCHES_PER_SECOND, nowMs);
    this.#streams = new TokenBucket(STREAMS_AT_ONCE, STREAMS_PER_SECOND, nowMs);
  }

  accepted(): void {
    this.#paid = Math.min(MOST_PAID, this.#paid + 1);
  }

  /** @returns whether work may be fetched now; if so, the fetch is counted */
  mayFetch(nowMs: number): boolean {
    if (!this.#allFetches.take(1, nowMs)) return false;
    if (this.#paid > 0) {
      this.#paid--;
      return true;
    }
    return this.#fetches.take(1, nowMs);
  }

  /** @returns whether a stream may be asked for now; if so, it is counted */
  mayOpenStream(nowMs: number): boolean {
    return this.#streams.take(1, nowMs);
  }
}
