/** Compares the same nodes periodically, and reports changes of their health. */

import { isFault } from '../../base/finding.ts';
import { pause } from '../../base/system/abort.ts';
import type { Assessment } from './comparison.ts';

export interface Pace {
  readonly everyMs: number;
  /** Time until the next comparison when one comparison has found a fault in a healthy node. */
  readonly doubtMs: number;
}

interface NodeWatchOptions {
  /** Compares all nodes once. @returns their assessments, always in the same order */
  readonly survey: (stop: AbortSignal) => Promise<readonly Assessment[]>;
  /**
   * Called when a node's health has changed. `fault` is a clause after the node's name, and may contain foreign text;
   * undefined when the node is healthy again.
   */
  readonly changed: (index: number, fault: string | undefined) => void;
  /** Called with the reason when comparisons begin to fail, and with undefined when they succeed again. */
  readonly failing: (reason: string | undefined) => void;
  readonly pace?: Pace;
  /** Returns uniformly distributed numbers in [0, 1). */
  readonly random?: () => number;
}

const PACE: Pace = { everyMs: 60_000, doubtMs: 15_000 };
/** Maximum fraction by which pauses vary, so that rigs that start at the same time do not ask at the same time. */
const JITTER = 0.2;

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

/** Number of comparisons in a row after which a node's health changes. */
const CONTRADICTIONS = 2;

/**
 * The health of a node. One comparison alone does not change the health: otherwise mining would leave and rejoin a node
 * whose figures are close to a limit.
 */
export class NodeHealth {
  #isHealthy = true;
  /** Number of comparisons in a row that have contradicted the node's health. */
  #contradictions = 0;

  /** Call it only when the node has answered. @returns `doubtful` when another comparison should follow soon */
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
