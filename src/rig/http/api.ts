/** The routes of `/api/v1` and of health checks, the cache of the balance, and the start of a rig's HTTP server. */

import type { z } from 'zod';
import { within } from '../../base/system/abort.ts';
import { type Clock, wallMs } from '../../base/system/clock.ts';
import type { Controls, PauseReason } from '../../miner/events/events.ts';
import type { LogTail } from '../log/log-tail.ts';
import { type RunningMiner, reportedSetup } from '../running-miner.ts';
import { type AskBalance, NoBalance } from '../status/earnings.ts';
import { History } from '../status/history.ts';
import { Status } from '../status/status.ts';
import {
  BalanceAnswer,
  ControlBody,
  Health,
  HistoryAnswer,
  HistoryQuery,
  LogAnswer,
  LogQuery,
  Readiness,
} from './api-answers.ts';
import { xmrigRoutes } from './compat.ts';
import { EventStream } from './event-stream.ts';
import { HttpError, type HttpLimits } from './http-access.ts';
import { type Http, type ServerOptions, serve } from './http-server.ts';
import { Metrics } from './metrics.ts';
import { EVENT_STREAM, json, openApiRoute, type Route } from './route.ts';

const BY: PauseReason = 'user';

interface Served {
  readonly status: () => Status;
  readonly history: History;
  readonly logTail: LogTail;
  readonly controls: Controls;
  readonly stream: EventStream;
}

function apiRoutes({ status, history, logTail, controls, stream }: Served): Route[] {
  return [
    json('/api/v1/status', 'how the rig is doing, and what it did', Status, status),
    {
      ...json(
        '/api/v1/history',
        'the last ten minutes, hour or day, at most 720 points',
        HistoryAnswer,
        ({ query }) => {
          const { range } = query as z.infer<typeof HistoryQuery>;
          return history.points(range);
        },
      ),
      query: HistoryQuery,
    },
    {
      ...json('/api/v1/log', 'the last 500 lines of the log', LogAnswer, ({ query }) => {
        const { after } = query as z.infer<typeof LogQuery>;
        return { lines: logTail.after(Number(after)) };
      }),
      query: LogQuery,
    },
    {
      method: 'GET',
      path: '/api/v1/events',
      summary: 'the events of --json as they happen, and a status every second (server-sent events)',
      answers: { 200: EVENT_STREAM },
      answer: (_, reply) => stream.join(reply),
    },
    controlling('/api/v1/pause', 'pause a device, or all of them', (device) =>
      controls.pause(BY, 'by an HTTP request', device),
    ),
    controlling('/api/v1/resume', 'resume them, unless there is another reason to pause', (device) =>
      controls.resume(BY, device),
    ),
    {
      method: 'POST',
      path: '/api/v1/stop',
      summary: 'stop mining; waits for pending submissions',
      controls: true,
      answers: { 204: undefined },
      answer: (_, reply) => {
        // The end of mining closes this server, so mining is stopped only after the answer has been sent.
        reply.raw.once('close', () => controls.stop());
        return reply.code(204).send();
      },
    },
  ];
}

function controlling(path: string, summary: string, act: (device: string | undefined) => boolean): Route {
  return {
    method: 'POST',
    path,
    summary,
    controls: true,
    body: ControlBody,
    answers: { 204: undefined },
    answer: ({ body }, reply) => {
      const { device } = body as z.infer<typeof ControlBody>;
      if (!act(device)) throw new HttpError(404, 'no-such-device', `there is no device ${device}`);
      return reply.code(204).send();
    },
  };
}

/*
 * `/api/v1/balance`: the balance of the miner's account, as a node reports it. pickaxe asks for the balance only when a
 * client does, and never twice at the same time. It caches the answer. So clients cannot make pickaxe flood its node.
 */

export class KeptBalance {
  readonly #ask: AskBalance | undefined;
  readonly #clock: Clock;
  readonly #limits: HttpLimits;
  readonly #closing = new AbortController();
  /** The answer to the last request for the balance. It may be pending or have failed. */
  #answer: Promise<BalanceAnswer> | undefined;
  /** Time until which `#answer` is cached, in ms of the clock's `monotonicMs`. Infinite while the answer is pending. */
  #keptUntilMs = Number.POSITIVE_INFINITY;

  constructor(ask: AskBalance | undefined, clock: Clock, limits: HttpLimits) {
    this.#ask = ask;
    this.#clock = clock;
    this.#limits = limits;
  }

  get route(): Route {
    const summary = 'what the account that is mined for has, as a node says: it is asked at most every half minute';
    return json('/api/v1/balance', summary, BalanceAnswer, () => this.#get());
  }

  /** Cancels a pending request for the balance. */
  close(): void {
    this.#closing.abort();
  }

  #get(): Promise<BalanceAnswer> {
    if (!this.#ask) throw new HttpError(404, 'no-node', NO_NODE);
    if (!this.#answer || this.#clock.monotonicMs() >= this.#keptUntilMs) {
      this.#keptUntilMs = Number.POSITIVE_INFINITY;
      this.#answer = this.#askNow(this.#ask);
    }
    return this.#answer;
  }

  async #askNow(ask: AskBalance): Promise<BalanceAnswer> {
    const { balanceMs, balanceKeptMs, noBalanceKeptMs } = this.#limits;
    let keptMs = noBalanceKeptMs;
    try {
      const balance = await within(this.#clock, balanceMs, this.#closing.signal, ask);
      keptMs = balanceKeptMs;
      return { ...balance, timeMillis: wallMs(this.#clock) };
    } catch (fault) {
      throw asHttpError(fault, balanceMs);
    } finally {
      this.#keptUntilMs = this.#clock.monotonicMs() + keptMs;
    }
  }
}

const NO_NODE =
  'this rig does not mine on a node of its own, so there is no node to ask for a balance: ask the pool what it owes, or any ' +
  'node with pickaxe balance ACCOUNT --node URL';

/**
 * @returns an HttpError if no node gave a balance, if the time was up, or if pickaxe ends; any other fault unchanged
 */
function asHttpError(fault: unknown, balanceMs: number): unknown {
  if (fault instanceof NoBalance) return new HttpError(502, 'node-failed', fault.message);
  const name = fault instanceof DOMException ? fault.name : '';
  if (name === 'TimeoutError') {
    return new HttpError(502, 'node-failed', `no node said within ${balanceMs / 1000} s what the account has`);
  }
  return name === 'AbortError' ? new HttpError(503, 'unavailable', 'pickaxe is ending') : fault;
}

/** `/healthz` and `/readyz`, for supervisors. They need no token. */
function healthRoutes(status: () => Status): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      summary: 'whether the process lives, and which chains it has to poll',
      open: true,
      answers: { 200: Health },
      answer: () => ({
        status: 'ok',
        polledChains: Object.values(status().sources).flatMap((source) => source.polledChains),
      }),
    },
    {
      method: 'GET',
      path: '/readyz',
      summary: 'whether the rig mines, and if not, what it does instead',
      open: true,
      answers: { 200: Readiness, 503: Readiness },
      answer: (_, reply) => {
        const { ready, state } = status();
        // The answer has only the state's name. No token is required here, and the state's reason can contain the
        // address of a node or pool.
        return reply.code(ready ? 200 : 503).send({ ready, reasons: ready ? [] : [state] });
      },
    },
  ];
}

/**
 * Starts the HTTP server of a rig.
 * @param more further routes, such as the files of the web page
 * @throws Error with a `code`, such as EADDRINUSE, when the server cannot listen on the configured host and port
 */
export function serveHttp(miner: RunningMiner, options: ServerOptions, more: readonly Route[] = []): Promise<Http> {
  const { rigName, setup, controls, events, tally, clock, log, logTail, askBalance } = miner;
  return serve(options, { log, clock }, ({ limits, refusals }) => {
    const status = (): Status => ({ ...reportedSetup(rigName, setup), control: options.control, ...tally.status() });
    const history = new History(tally, clock);
    const stopHistory = history.start();
    const metrics = new Metrics(status, events, refusals.counts);
    const stream = new EventStream(events, clock, status, { limits, refusals });
    const balance = new KeptBalance(askBalance, clock, limits);
    const api = apiRoutes({ status, history, logTail, controls, stream });
    const own = [...api, balance.route, ...healthRoutes(status), metrics.route];
    const close = () => {
      stream.close();
      balance.close();
      metrics.close();
      stopHistory();
    };
    return { routes: [...own, openApiRoute(own), ...xmrigRoutes(status), ...more], close };
  });
}
