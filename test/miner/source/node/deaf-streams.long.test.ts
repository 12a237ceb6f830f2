/** A stream that sends everything at its end, with the real pauses. */

import { expect, it } from 'vitest';
import { eventually } from '../follow.ts';
import { deaf, onUpdates, QUICK } from './deaf.ts';

it('a stream that sends everything at its end is not trusted because of that', async () => {
  // On a machine that is busy the end of a stream can be read some time after what it has told.
  const limits = { ...QUICK, steadyStreamMs: 1_000 };
  const { node, recorder, advanced } = await deaf(onUpdates('buffered-stream'), { streamMs: 1_500 }, limits);
  await advanced();
  await eventually(() => expect(recorder.of('missed-cut')).toHaveLength(1));
  const { updates } = node.server.stats.requests;
  await eventually(() => {
    node.ledger.advance(3);
    expect(node.server.stats.requests.updates).toBeGreaterThan(updates + 2);
  });
  const since = recorder.all.findIndex(({ type }) => type === 'missed-cut');
  const told = recorder.all.slice(since).flatMap((event) => (event.type === 'polling' ? [event.chains] : []));
  expect(told).toEqual([[{ chain: 3, reason: 'missed-block' }]]);
});
