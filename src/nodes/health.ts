/**
 * Decides from look to look whether a node is healthy. A node near a limit must not be left and returned to again and again, so
 * one look alone changes nothing.
 */

/** How many looks in a row it takes to change what is thought of a node. */
const LOOKS = 2;

export class NodeHealth {
  #isHealthy = true;
  /** How many looks in a row have contradicted what is thought of the node. */
  #contradictions = 0;

  /**
   * Takes note of a look. One at a node that did not answer says nothing, and is left out.
   * @returns `doubtful` when a healthy node has had a fault for the first time, and another look should follow soon
   */
  looked(isFaulty: boolean): 'unchanged' | 'doubtful' | 'unhealthy' | 'healthy' {
    if (isFaulty !== this.#isHealthy) {
      this.#contradictions = 0;
      return 'unchanged';
    }
    this.#contradictions += 1;
    if (this.#contradictions < LOOKS) return isFaulty ? 'doubtful' : 'unchanged';
    this.#isHealthy = !isFaulty;
    this.#contradictions = 0;
    return isFaulty ? 'unhealthy' : 'healthy';
  }
}
