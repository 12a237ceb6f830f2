/** What may be asked of a running miner. `mine/` does it; whatever listens to people asks for it. */

/** Why a device rests. It goes on when no reason is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule';

export interface Controls {
  /**
   * Has devices rest. Those that rest for this reason already take over the new words.
   * @param why one clause for people, such as `it is night`
   * @param device the name of one device. Without it, all devices rest
   * @returns false when there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Takes one reason to rest away. */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining, after pending submissions. */
  stop(): void;
}
