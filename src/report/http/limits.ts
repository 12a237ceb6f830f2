/** The limits on what clients cost the server, all in one place. Tests bring shorter times. */

export interface HttpLimits {
  /** How many connections there may be at one time. Event streams have one each, scrapers and pages a few. */
  readonly connections: number;
  /** How many event streams there may be at one time: some pages, and some that a proxy has forgotten to close. */
  readonly streams: number;
  /** How often connections are checked: they may end this much later than the times below say. */
  readonly checkMs: number;
  /** How long a request may take to arrive. Clients are near, so one that takes longer is not worth its connection. */
  readonly requestMs: number;
  /** How long a connection is kept for the next request. Answers tell clients so. */
  readonly keepAliveMs: number;
  /** How long a client may be without a complete answer: since it connected, asked, or had its last one. */
  readonly answerMs: number;
  /**
   * An event stream whose client has read nothing for so long is closed. When the limit of streams is reached, the
   * oldest stream makes room once it is this old.
   */
  readonly streamMs: number;
  /** How long nodes may take to say what the account has: less than `answerMs`. */
  readonly balanceMs: number;
  /** How long a balance is kept before a node is asked again; how long no node is asked after none had an answer. */
  readonly balanceKeptMs: number;
  readonly noBalanceKeptMs: number;
  /** The time between two lines of the log about what was refused. */
  readonly logMs: number;
}

/** Together with `checkMs`, a request has 5 s, and an answer or a stream that is not read keeps its connection for 15 s. */
export const httpLimits: HttpLimits = {
  connections: 64,
  streams: 16,
  checkMs: 1_000,
  requestMs: 4_000,
  keepAliveMs: 10_000,
  answerMs: 14_000,
  streamMs: 14_000,
  balanceMs: 10_000,
  balanceKeptMs: 30_000,
  noBalanceKeptMs: 5_000,
  logMs: 60_000,
};
