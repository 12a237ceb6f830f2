/** Looks at the same nodes again and again, and tells which of them are healthy. */

import { pause } from '../system/abort.ts';
import { type Judgement, NodeHealth } from './judge.ts';

export interface Pace {
  /** The time between two surveys. */
  readonly everyMs: number;
  /** The time to the next one when a node seems to have become unhealthy. */
  readonly doubtMs: number;
}

export interface NodeWatchOptions {
  /** Looks at all nodes once, always in the same order. */
  readonly survey: (stop: AbortSignal) => Promise<readonly Judgement[]>;
  /**
   * Called when a node has become unhealthy or healthy again.
   * @param index its place in that order
   * @param fault what follows its name in a sentence, with foreign text; undefined when it is healthy
   */
  readonly changed: (index: number, fault: string | undefined) => void;
  /** Called when surveys begin to fail, and when they succeed again: then without a reason. */
  readonly failing: (reason: string | undefined) => void;
  readonly pace?: Pace;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
}

const PACE: Pace = { everyMs: 60_000, doubtMs: 15_000 };
/** By how much a pause may be longer or shorter, so that rigs that start together do not ask together. */
const JITTER = 0.2;

/** Watches until `stop`. */
export async function watchNodes(options: NodeWatchOptions, stop: AbortSignal): Promise<void> {
  const { survey, changed, failing, pace = PACE, random = Math.random } = options;
  const health: NodeHealth[] = [];
  let hasFailed = false;
  while (!stop.aborted) {
    let isDoubtful = false;
    try {
      const judgements = await survey(stop);
      if (hasFailed) failing(undefined);
      hasFailed = false;
      isDoubtful = compare(judgements, health, changed);
    } catch (fault) {
      if (stop.aborted) return;
      if (!hasFailed) failing((fault as Error).message);
      hasFailed = true;
    }
    const ms = isDoubtful ? pace.doubtMs : pace.everyMs;
    await pause(ms * (1 + JITTER * (2 * random() - 1)), stop);
  }
}

/** @returns whether a node has become doubtful */
function compare(
  judgements: readonly Judgement[],
  health: NodeHealth[],
  changed: NodeWatchOptions['changed'],
): boolean {
  let isDoubtful = false;
  for (const [index, { hasAnswered, problems }] of judgements.entries()) {
    if (!hasAnswered) continue;
    health[index] ??= new NodeHealth();
    const faults = problems.filter(({ state }) => state === 'fault').map(({ what }) => what);
    const news = health[index].looked(faults.length > 0);
    if (news === 'doubtful') isDoubtful = true;
    if (news === 'unhealthy') changed(index, faults.join('; '));
    if (news === 'healthy') changed(index, undefined);
  }
  return isDoubtful;
}
