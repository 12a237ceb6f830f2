/** What may be asked of a running miner. `mine/` does it; whatever listens to people asks for it. */

/** Why a device is paused. It resumes when no reason is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule';

export interface Controls {
  /**
   * Pauses devices. Those that are paused for this reason already get the new words.
   * @param why one clause for people, such as `it is night`
   * @param device the name of one device. Without it, all devices are paused
   * @returns false when there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Takes one reason to pause away. */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining, and waits for pending submissions. */
  stop(): void;
}
