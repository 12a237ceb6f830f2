/** What clients may take of the server, all in one place. Tests bring shorter times. */

export interface HttpLimits {
  /** Connections at one time. Event streams have one each, scrapers and pages a few. */
  readonly connections: number;
  /** Event streams at one time: some pages, and some that a proxy has forgotten to close. */
  readonly streams: number;
  /** How often connections are looked at: so much later than the times below they may end. */
  readonly checkMs: number;
  /** For a request to arrive. Clients are on this machine or near; who takes longer holds a place for nothing. */
  readonly requestMs: number;
  /** How long a connection is kept for the next request, as clients are told. */
  readonly keepAliveMs: number;
  /** From the opening of a connection, or from the end of an answer, until the next answer has been taken. */
  readonly answerMs: number;
  /**
   * A listener that has read nothing for so long is cut off. When all places are taken, the oldest gives its place away once it
   * has had it for so long.
   */
  readonly streamMs: number;
  /** Between two lines of the log about what was refused. */
  readonly logMs: number;
}

/** With the time between two looks, a request has 5 s, and an answer or a stream that is not read holds a place for 15 s. */
export const httpLimits: HttpLimits = {
  connections: 64,
  streams: 16,
  checkMs: 1_000,
  requestMs: 4_000,
  keepAliveMs: 10_000,
  answerMs: 14_000,
  streamMs: 14_000,
  logMs: 60_000,
};
