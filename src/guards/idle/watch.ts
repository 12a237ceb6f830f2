/** One way to learn when somebody last used the machine. */

export interface IdleWatch {
  /** The name of what it watches, for people: `terminals`. */
  readonly name: string;
  /**
   * @param nowMs milliseconds since the UNIX epoch
   * @returns for how long nobody has used it, at least; undefined when it cannot say now
   */
  idleMs(nowMs: number): Promise<number | undefined>;
}
