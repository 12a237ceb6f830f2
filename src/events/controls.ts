/** What may be done to a miner from outside while it runs. A leaf: `mine/` does it, what listens to people asks for it. */

/** Why a device rests: it goes on when no reason is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule';

export interface Controls {
  /**
   * Has devices rest; those that rest for this reason already are told the new words.
   * @param why for people: `it is night`
   * @param device its name; left out, all of them
   * @returns false when there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Takes one reason to rest away. */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining: pending submissions are seen through. */
  stop(): void;
}
