/** Which queries and bodies an operator's HTTP server takes: each limit with what just fits, and what does not. */

import { expect, it } from 'vitest';
import type { z } from 'zod';
import {
  FleetChangesQuery,
  FleetControlBody,
  FleetMetricsQuery,
  FleetRigQuery,
  RigSelection,
} from '#pickaxe/fleet/operator/fleet-answers.js';
import { INSTANCE } from './messages.ts';

const text = (length: number) => 'x'.repeat(length);
const list = (length: number) => Array.from({ length }, () => 'rig');
const asking = (request: object) => ({ request, rigs: { pattern: '*' } });

it.each<[what: string, schema: z.ZodType, fits: object, exceeds: object]>([
  [
    'the digits of a mark',
    FleetChangesQuery,
    { since: `${INSTANCE}-${'9'.repeat(15)}` },
    { since: `${INSTANCE}-${'9'.repeat(16)}` },
  ],
  ['the run of a mark', FleetChangesQuery, { since: `${INSTANCE}-1` }, { since: `${INSTANCE}0-1` }],
  ['the number of a mark', FleetChangesQuery, {}, { since: `${INSTANCE}-` }],
  ['the fields of a query', FleetChangesQuery, {}, { until: 1 }],
  ['the name of a rig', FleetRigQuery, { name: text(64) }, { name: text(65) }],
  ['a rig without a name', FleetRigQuery, { name: 'a' }, { name: '' }],
  ['the named rigs', RigSelection, { names: list(20_000) }, { names: list(20_001) }],
  ['no named rigs', RigSelection, { names: list(1) }, { names: [] }],
  ['a group', RigSelection, { group: text(64) }, { group: text(65) }],
  ['a pattern', RigSelection, { pattern: text(64) }, { pattern: '' }],
  ['a condition', RigSelection, { pattern: '*' }, {}],
  [
    'the temperature',
    FleetControlBody,
    asking({ command: 'limits', gpuCelsius: 150 }),
    asking({ command: 'limits', gpuCelsius: 151 }),
  ],
  [
    'a device',
    FleetControlBody,
    asking({ command: 'pause', device: text(64) }),
    asking({ command: 'pause', device: text(65) }),
  ],
  ['a command', FleetControlBody, asking({ command: 'restart' }), asking({ command: 'stop' })],
  ['the rigs of a request', FleetControlBody, asking({ command: 'resume' }), { request: { command: 'resume' } }],
  ['the metrics', FleetMetricsQuery, { rigs: 'each' }, { rigs: 'all' }],
])('%s', (_, schema, fits, exceeds) => {
  expect([schema.safeParse(fits).success, schema.safeParse(exceeds).success]).toEqual([true, false]);
});

it('refusals say what to give', () => {
  const message = (schema: z.ZodType, value: object) => schema.safeParse(value).error!.issues[0].message;
  expect(message(RigSelection, {})).toBe('give names, a group or a pattern; the pattern * means every rig');
  expect(message(FleetChangesQuery, { since: 'x' })).toBe('the mark of an earlier answer');
  expect(FleetMetricsQuery.parse({})).toEqual({ rigs: 'sums' });
});
