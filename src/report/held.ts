/** A fact that is true or false, and since when. */

export interface Held {
  readonly value: boolean;
  /** Since when it has had this value, on the clock's `monotonicMs`. */
  readonly sinceMs: number;
}

/** @returns the same fact when the value is the same */
export function held(before: Held, value: boolean, nowMs: number): Held {
  return before.value === value ? before : { value, sinceMs: nowMs };
}
