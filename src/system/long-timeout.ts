/** setTimeout for waits of any length. */

/** Node.js ends a longer wait at once. */
const MAX_MS = 2 ** 31 - 1;

/** @returns what cancels it */
export function setLongTimeout(act: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout;
  const wait = (restMs: number) => {
    timer = restMs > MAX_MS ? setTimeout(() => wait(restMs - MAX_MS), MAX_MS) : setTimeout(act, restMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}
