/** Compares nodes with each other periodically, and reports changes of their health. */

import { isFault } from '../../base/finding.ts';
import { pause } from '../../base/system/abort.ts';
import type { Clock } from '../../base/system/clock.ts';
import type { Assessment } from './comparison.ts';

export interface Pace {
  readonly everyMs: number;
  /** Time until the next comparison if a comparison has found a fault of a healthy node. */
  readonly doubtMs: number;
}

interface NodeWatchOptions {
  /** Compares all nodes once. @returns an assessment of each node, always in the same order */
  readonly survey: (stop: AbortSignal) => Promise<readonly Assessment[]>;
  /**
   * Called when a node's health has changed. `index` is the node's place among the assessments. `fault` is a clause
   * that follows the node's name, and may contain foreign text. It is undefined if the node is healthy again.
   */
  readonly changed: (index: number, fault: string | undefined) => void;
  /** Called with the reason when comparisons begin to fail, and with undefined when they succeed again. */
  readonly failing: (reason: string | undefined) => void;
  readonly pace?: Pace;
  readonly clock: Clock;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random: () => number;
}

const PACE: Pace = { everyMs: 60_000, doubtMs: 15_000 };
/** Maximum fraction by which pauses vary, so that rigs that start together do not send requests together. */
const JITTER = 0.2;

export async function watchNodes(options: NodeWatchOptions, stop: AbortSignal): Promise<void> {
  const { survey, changed, failing, pace = PACE, clock, random } = options;
  const health: NodeHealth[] = [];
  let hasFailed = false;
  while (!stop.aborted) {
    let isDoubtful = false;
    try {
      const assessments = await survey(stop);
      if (hasFailed) failing(undefined);
      hasFailed = false;
      isDoubtful = update(health, assessments, changed);
    } catch (fault) {
      if (stop.aborted) return;
      if (!hasFailed) failing((fault as Error).message);
      hasFailed = true;
    }
    const ms = isDoubtful ? pace.doubtMs : pace.everyMs;
    await pause(clock, ms * (1 + JITTER * (2 * random() - 1)), stop);
  }
}

/**
 * Updates the health of the nodes that have answered.
 * @returns whether `observe` has returned `doubtful` for a node, so that another comparison should follow soon
 */
function update(
  health: NodeHealth[],
  assessments: readonly Assessment[],
  changed: NodeWatchOptions['changed'],
): boolean {
  let isDoubtful = false;
  for (const [index, { hasAnswered, problems }] of assessments.entries()) {
    if (!hasAnswered) continue;
    health[index] ??= new NodeHealth();
    const faults = problems.filter(isFault).map(({ what }) => what);
    const news = health[index].observe(faults.length > 0);
    if (news === 'doubtful') isDoubtful = true;
    if (news === 'unhealthy') changed(index, faults.join('; '));
    if (news === 'healthy') changed(index, undefined);
  }
  return isDoubtful;
}

/** Number of comparisons in a row that must contradict a node's health before the health changes. */
const CONTRADICTIONS = 2;

/**
 * The health of a node. One comparison alone does not change it. Otherwise mining would repeatedly leave a node whose
 * figures are close to a limit, and return to it.
 */
export class NodeHealth {
  #isHealthy = true;
  /** Number of comparisons in a row that have contradicted the node's health. */
  #contradictions = 0;

  /**
   * Records the result of a comparison. Do not call this if the node did not answer.
   * @returns the new health; or `unchanged`; or `doubtful` if a healthy node has a fault that the previous comparison
   *   did not find
   */
  observe(isFaulty: boolean): 'unchanged' | 'doubtful' | 'unhealthy' | 'healthy' {
    if (isFaulty !== this.#isHealthy) {
      this.#contradictions = 0;
      return 'unchanged';
    }
    this.#contradictions += 1;
    if (this.#contradictions < CONTRADICTIONS) return isFaulty ? 'doubtful' : 'unchanged';
    this.#isHealthy = !isFaulty;
    this.#contradictions = 0;
    return isFaulty ? 'unhealthy' : 'healthy';
  }
}
