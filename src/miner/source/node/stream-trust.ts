/**
 * Decides which update streams can be trusted. An open stream has missed a block if a fetch brings a new parent on the
 * stream's chain, and the stream has sent no New Cut for this block. The reason is a proxy that holds the stream back,
 * or a connection that broke without a notice. Pure; times are monotonic milliseconds.
 */

import { BoundedMap } from '../../../base/system/bounded.ts';
import type { NodeLimits } from '../../../node/http/request-limits.ts';
import { equalBytes } from '../../../protocol/chain/bytes.ts';
import type { PolledChain, PollReason } from '../../events/vocabulary.ts';

type TrustLimits = Pick<NodeLimits, 'burstMs' | 'pollMs' | 'refreshMs' | 'steadyStreamMs' | 'newCutGraceMs'>;

interface Chain {
  /** When the chain's stream was opened; undefined while there is none. */
  openedAtMs?: number | undefined;
  /** When the chain's stream last ended, or when the chain became known. */
  closedAtMs: number;
  /** When the chain's last New Cut came, over any connection; undefined before the first one. */
  cutAtMs?: number | undefined;
  /** The parent of the chain's work that was fetched last, and when that fetch began. */
  parent?: { readonly hash: Uint8Array; readonly askedAtMs: number };
  /** When a fetch brought a parent that no New Cut had announced; undefined if nothing is suspected. */
  suspectedAtMs?: number | undefined;
  /** Whether the stream is not trusted, because this stream or the stream of another chain has missed a block. */
  missed: boolean;
  /** After a missed block: when the first New Cut came over the current connection; undefined before it. */
  cutAgainAtMs?: number | undefined;
}

/**
 * A pause between two New Cuts is ignored if it is shorter than this many times `burstMs`: both may be for one block.
 */
const ECHO_BURSTS = 5;
/** Weight of the latest pause in the moving average of the pauses between New Cuts. */
const SMOOTHING = 1 / 8;
/**
 * A silence begins when no New Cut has come for this many times the average pause between two New Cuts, and for
 * `LEAST_SILENCE_POLLS` times `pollMs`. During a silence, work is fetched more often.
 */
const USUAL_PAUSES = 3;
/** Minimum time without a New Cut after which a silence begins, as a multiple of `pollMs`. */
const LEAST_SILENCE_POLLS = 2.5;
/**
 * During a silence, the maximum age of work is this part of the time since the last New Cut, but at least `pollMs` and
 * at most `refreshMs`. So work is fetched often at first, and less often later.
 */
const SILENCE_PART = 1 / 10;

/** Maximum number of chains. Networks have 20; a node that names more and more chains must not fill the memory. */
const MOST_CHAINS = 64;

export class StreamTrust {
  readonly #limits: TrustLimits;
  readonly #chains = new BoundedMap<number, Chain>(MOST_CHAINS);
  /** When a New Cut last came on any chain; before the first one, when the first stream opened. */
  #lastEventMs: number | undefined;
  /** The moving average of the time between two New Cuts, on whatever chains; undefined before the first pause. */
  #usualPauseMs: number | undefined;

  constructor(limits: TrustLimits) {
    this.#limits = limits;
  }

  opened(chain: number, nowMs: number): void {
    this.#chain(chain, nowMs).openedAtMs = nowMs;
    this.#lastEventMs ??= nowMs;
  }

  ended(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.openedAtMs = undefined;
    state.closedAtMs = nowMs;
    state.suspectedAtMs = undefined;
    state.cutAgainAtMs = undefined;
  }

  newCut(chain: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    state.cutAtMs = nowMs;
    state.suspectedAtMs = undefined;
    if (state.missed) state.cutAgainAtMs ??= nowMs;
    const pauseMs = nowMs - (this.#lastEventMs ?? nowMs);
    if (pauseMs >= ECHO_BURSTS * this.#limits.burstMs) {
      this.#usualPauseMs =
        this.#usualPauseMs === undefined ? pauseMs : this.#usualPauseMs + (pauseMs - this.#usualPauseMs) * SMOOTHING;
    }
    this.#lastEventMs = nowMs;
  }

  /** Compares fetched work with the New Cuts that came. @param parent 32 bytes @param askedAtMs when the fetch began */
  fetched(chain: number, parent: Uint8Array, askedAtMs: number, nowMs: number): void {
    const state = this.#chain(chain, nowMs);
    const known = state.parent;
    state.parent = { hash: parent, askedAtMs };
    if (!known || equalBytes(known.hash, parent)) return;
    const watched = state.openedAtMs !== undefined && state.openedAtMs <= known.askedAtMs;
    // A New Cut can come before the node gives work on its block. So a New Cut from before the previous fetch counts,
    // too, if it came at most `newCutGraceMs` before this fetch.
    const announcedAfterMs = Math.min(known.askedAtMs, askedAtMs - this.#limits.newCutGraceMs);
    const isAnnounced = state.cutAtMs !== undefined && state.cutAtMs >= announcedAfterMs;
    // The New Cut may still come, so this is only a suspicion.
    if (watched && !isAnnounced) state.suspectedAtMs ??= nowMs;
  }

  /**
   * Decides on suspicions that are older than `newCutGraceMs`, and which streams are trusted again.
   * @returns `missed`: the chains whose open streams have missed a block. `distrusted`: those chains, and the other
   *   chains whose open streams are not trusted any more because they have sent no New Cut lately
   */
  judge(nowMs: number): { readonly missed: readonly number[]; readonly distrusted: readonly number[] } {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    const found: number[] = [];
    for (const [chain, state] of this.#chains) {
      // A proxy that holds a stream back passes its content on when the stream ends. So a New Cut proves something only
      // if the stream stays open for a while after it.
      if (state.cutAgainAtMs !== undefined && nowMs - state.cutAgainAtMs >= steadyStreamMs) {
        state.missed = false;
        state.cutAgainAtMs = undefined;
      }
      if (state.suspectedAtMs === undefined || nowMs - state.suspectedAtMs < newCutGraceMs) continue;
      state.suspectedAtMs = undefined;
      found.push(chain);
    }
    const distrusted = found.length > 0 ? this.#distrust(found, nowMs) : [];
    return { missed: found.filter((chain) => distrusted.includes(chain)), distrusted };
  }

  /** @returns when `judge` can next decide something; +∞ if no decision is pending */
  judgeAtMs(): number {
    const { newCutGraceMs, steadyStreamMs } = this.#limits;
    let atMs = Number.POSITIVE_INFINITY;
    for (const { suspectedAtMs, cutAgainAtMs } of this.#chains.values()) {
      if (suspectedAtMs !== undefined) atMs = Math.min(atMs, suspectedAtMs + newCutGraceMs);
      if (cutAgainAtMs !== undefined) atMs = Math.min(atMs, cutAgainAtMs + steadyStreamMs);
    }
    return atMs;
  }

  /** @returns why work on the chain must be polled; undefined while its stream is trusted */
  pollReason(chain: number): PollReason | undefined {
    const { missed = false, openedAtMs } = this.#chains.get(chain) ?? {};
    if (missed) return 'missed-block';
    return openedAtMs === undefined ? 'no-stream' : undefined;
  }

  /**
   * @returns the polled chains in ascending order. A chain with the reason `no-stream` is left out until it has had no
   *   stream for `pollMs`, because its stream may be opening
   */
  polled(nowMs: number): PolledChain[] {
    return [...this.#chains]
      .sort(([a], [b]) => a - b)
      .flatMap(([chain, { closedAtMs }]) => {
        const reason = this.pollReason(chain);
        const isOpening = reason === 'no-stream' && nowMs - closedAtMs < this.#limits.pollMs;
        return reason === undefined || isOpening ? [] : [{ chain, reason }];
      });
  }

  /** @returns the age at which work on a chain with a trusted stream is replaced by a new fetch */
  refreshMs(nowMs: number): number {
    const { pollMs, refreshMs } = this.#limits;
    const silentMs = nowMs - (this.#lastEventMs ?? nowMs);
    const usualMs =
      this.#usualPauseMs === undefined ? 0 : Math.max(LEAST_SILENCE_POLLS * pollMs, USUAL_PAUSES * this.#usualPauseMs);
    if (silentMs < usualMs) return refreshMs;
    return Math.max(Math.min(pollMs, refreshMs), Math.min(silentMs * SILENCE_PART, refreshMs));
  }

  /**
   * Distrusts the streams of these chains, and of all chains without a New Cut in the last `refreshMs`.
   * @returns the distrusted chains whose streams are open and were trusted before
   */
  #distrust(found: readonly number[], nowMs: number): number[] {
    const { refreshMs } = this.#limits;
    const silent = [...this.#chains].filter(
      ([chain, { cutAtMs }]) => found.includes(chain) || cutAtMs === undefined || nowMs - cutAtMs > refreshMs,
    );
    const fresh = silent.filter(([, { missed, openedAtMs }]) => !missed && openedAtMs !== undefined);
    for (const [, state] of silent) state.missed = true;
    return fresh.map(([chain]) => chain);
  }

  #chain(chain: number, nowMs: number): Chain {
    let state = this.#chains.get(chain);
    if (!state) {
      // While the stream of any chain has missed a block, the stream of a new chain is not trusted either.
      state = { closedAtMs: nowMs, missed: [...this.#chains.values()].some(({ missed }) => missed) };
      this.#chains.set(chain, state);
    }
    return state;
  }
}
