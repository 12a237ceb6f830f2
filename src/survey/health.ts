/** Compares the same nodes again and again, and reports which of them have become unhealthy or healthy. */

import { pause } from '../system/abort.ts';
import type { Assessment } from './comparison.ts';
import { isFault } from './finding.ts';

export interface Pace {
  /** The time between two comparisons. */
  readonly everyMs: number;
  /** The time to the next one when a node seems to have become unhealthy. */
  readonly doubtMs: number;
}

export interface NodeWatchOptions {
  /** Compares all nodes once, always in the same order. */
  readonly survey: (stop: AbortSignal) => Promise<readonly Assessment[]>;
  /**
   * Called when a node has become unhealthy or healthy again.
   * @param index its place in that order
   * @param fault what follows its name in a sentence, with foreign text; undefined when it is healthy
   */
  readonly changed: (index: number, fault: string | undefined) => void;
  /** Called when comparisons begin to fail, and without a reason when they succeed again. */
  readonly failing: (reason: string | undefined) => void;
  readonly pace?: Pace;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
}

const PACE: Pace = { everyMs: 60_000, doubtMs: 15_000 };
/** The share by which a pause may be longer or shorter, so that rigs that start together do not ask together. */
const JITTER = 0.2;

/** Watches until `stop`. */
export async function watchNodes(options: NodeWatchOptions, stop: AbortSignal): Promise<void> {
  const { survey, changed, failing, pace = PACE, random = Math.random } = options;
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
    await pause(ms * (1 + JITTER * (2 * random() - 1)), stop);
  }
}

/** @returns whether a node has become doubtful */
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

/** Number of comparisons in a row that it takes to change a node's health. */
const CONTRADICTIONS = 2;

/**
 * Decides from comparison to comparison whether a node is healthy. A node near a limit must not be left and returned to
 * again and again, so one comparison alone changes nothing.
 */
export class NodeHealth {
  #isHealthy = true;
  /** Number of comparisons in a row that have contradicted the node's health. */
  #contradictions = 0;

  /**
   * To be called for each comparison in which the node has answered: silence says nothing about its health.
   * @returns `doubtful` when a healthy node has had a fault for the first time, and another comparison should follow
   *   soon
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
