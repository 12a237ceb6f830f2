/** The controls of a running miner. `mine/` implements them; the keyboard, the HTTP API and guards use them. */

/** The reasons for which a device can be paused. It resumes when no reason is left. */
export type PauseReason = 'temperature' | 'user' | 'battery' | 'activity' | 'schedule' | 'backlog';

export interface Controls {
  /**
   * Pauses devices. A device that is paused for this reason already gets the new `why`.
   * @param why a clause for people, such as `it is night`
   * @param device a device's name. Without it, all devices are paused
   * @returns false when there is no such device
   */
  pause(reason: PauseReason, why: string, device?: string): boolean;
  /** Removes one reason for the pause. @returns false when there is no such device */
  resume(reason: PauseReason, device?: string): boolean;
  /** Ends mining. The miner then waits for pending submissions. */
  stop(): void;
}
