/** setTimeout for delays of any length. */

/** The longest delay of a Node.js timer. With a longer one it fires at once. */
const MAX_MS = 2 ** 31 - 1;

/** @returns a function that cancels the timer */
export function setLongTimeout(act: () => void, ms: number): () => void {
  let timer: NodeJS.Timeout;
  const wait = (restMs: number) => {
    timer = restMs > MAX_MS ? setTimeout(() => wait(restMs - MAX_MS), MAX_MS) : setTimeout(act, restMs);
  };
  wait(ms);
  return () => clearTimeout(timer);
}
