/**
 * The rule for a block's creation time (document 1): it must be greater than the creation times of the parents and must
 * not lie in the future. The node wrote a valid time into the work, so pickaxe only ever moves the time forward, and
 * never past a moment that the node's own clock has surely reached.
 */

/**
 * @param workTimeUs the time in the work as received, in microseconds since the UNIX epoch
 * @param latestUs the latest time that the node surely accepts: the lower of our clock and the node's, in the same unit
 * @param marginUs how far the result stays below `latestUs`, unless `workTimeUs` is later
 * @returns microseconds since the UNIX epoch
 */
export function rolledCreationTime(workTimeUs: bigint, latestUs: bigint, marginUs: bigint): bigint {
  const safe = latestUs - marginUs;
  return safe > workTimeUs ? safe : workTimeUs;
}
