/**
 * The creation time rule. Document 1: the new value must be greater than the parents' creation times and must not lie
 * in the future. The node wrote a valid time into the work, so a time is only ever moved forward, and never past a
 * moment that the node's own clock has surely reached.
 */

/**
 * @param workTimeUs the time in the work as received
 * @param latestUs the latest time that the node surely accepts: the lower of our clock and the node's
 * @param marginUs how far the result stays below `latestUs`
 * @returns microseconds since the UNIX epoch
 */
export function rolledCreationTime(workTimeUs: bigint, latestUs: bigint, marginUs: bigint): bigint {
  const safe = latestUs - marginUs;
  return safe > workTimeUs ? safe : workTimeUs;
}
