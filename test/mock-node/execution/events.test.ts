import { expect, it } from 'vitest';
import { DIALECTS } from '../node.ts';
import { alice, banksOf, bob, commandOf, toBob } from './bank.ts';

it.each(DIALECTS)('a result has the events of its command, unless the node has none (%s)', async (dialect) => {
  const eventsOf = async (outputEvents: boolean) => {
    const { run } = await banksOf(dialect)({ outputEvents });
    const { events, result } = await run(0, commandOf(0, toBob('1.5')));
    expect(result.status).toBe('success');
    return events.map(({ name, params }) => [name, params[0], params[1]]);
  };
  expect(await eventsOf(true)).toContainEqual(['TRANSFER', alice, bob]);
  expect(await eventsOf(false)).toEqual([]);
});
