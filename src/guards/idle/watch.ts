/** The interface of everything that shows when somebody last used the machine. */

export interface IdleWatch {
  /** For people: what is watched, such as `terminals`. */
  readonly name: string;
  /**
   * @param nowMs milliseconds since the UNIX epoch
   * @returns for how many milliseconds, at least, nobody has used the machine; undefined when that is not known now
   */
  idleMs(nowMs: number): Promise<number | undefined>;
}
