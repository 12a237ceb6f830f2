/** `/api/v1`: everything, in pickaxe's own shapes. */

import type { z } from 'zod';
import type { Controls, PauseReason } from '../../events/controls.ts';
import { HttpError } from './errors.ts';
import type { EventStream } from './event-stream.ts';
import type { RigStats } from './rig-stats.ts';
import { EVENT_STREAM, json, type Route } from './route.ts';
import { ControlBody, HistoryAnswer, HistoryQuery, LogAnswer, LogQuery, Status } from './schemas.ts';
import { statusOf } from './status.ts';

const BY: PauseReason = 'user';

export function apiRoutes(stats: RigStats, controls: Controls, stream: EventStream, control: boolean): Route[] {
  return [
    json('/api/v1/status', 'how the rig is doing, and what it did', Status, () => statusOf(stats, control)),
    {
      ...json(
        '/api/v1/history',
        'the last ten minutes, hour or day, at most 720 points',
        HistoryAnswer,
        ({ query }) => {
          const { range } = query as z.infer<typeof HistoryQuery>;
          return { range, ...stats.history.points(range) };
        },
      ),
      query: HistoryQuery,
    },
    {
      ...json('/api/v1/log', 'the last 500 lines of the log', LogAnswer, ({ query }) => {
        const { after } = query as z.infer<typeof LogQuery>;
        return { lines: stats.logTail.after(Number(after)) };
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
        // Stopping ends this server, too, so the answer goes out first.
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
