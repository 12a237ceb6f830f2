/** The lists and tables of fields in docs/wrappers.md are made from the schemas of public JSON. */

import { expect, it } from 'vitest';
import { z } from 'zod';
import { DryRunPlan } from '#pickaxe/app/composition/dry-run.js';
import { PrintedConfig } from '#pickaxe/app/config/raw-settings.js';
import { BlocksReport } from '#pickaxe/cli/coins/blocks.js';
import { DevicesReport } from '#pickaxe/cli/measuring/devices.js';
import { TuneReport } from '#pickaxe/cli/measuring/tune.js';
import { RigsReport } from '#pickaxe/cli/mining/stats-table.js';
import { DoctorReport } from '#pickaxe/cli/setup/doctor.js';
import { MESSAGE_REFUSALS } from '#pickaxe/fleet/coordinator/coordinator-limits.js';
import { ControlRequest } from '#pickaxe/fleet/messages.js';
import { FleetChanges, RigSelection, RigSummary, TimedControlAnswer } from '#pickaxe/fleet/operator/fleet-answers.js';
import { FleetRig, FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import {
  BalanceAnswer,
  ErrorAnswer,
  Health,
  HistoryAnswer,
  LogAnswer,
  Readiness,
} from '#pickaxe/rig/http/api-answers.js';
import { JsonLine } from '#pickaxe/rig/log/json-lines.js';
import { LogLine } from '#pickaxe/rig/log/log-tail.js';
import { CoreShape } from '#pickaxe/rig/status/shapes.js';
import {
  AcceptedBlocks,
  DeviceStatus,
  relayReport,
  Shares,
  Status,
  Summary,
  Work,
} from '#pickaxe/rig/status/status.js';
import { FieldLists } from '../../field-lists.ts';
import { expectList, expectTable } from '../../generated.ts';

const DOCUMENT = 'docs/wrappers.md';

const LINES = Object.fromEntries(JsonLine.options.map((line) => [line.shape.type.value, line]));
const { cpu, machine } = DevicesReport.shape;
const { blocks, totals } = BlocksReport.shape;
/** The fields that the first table explains for all others. */
const SHARED = {
  Sensors: DeviceStatus.shape.sensors,
  Cores: CoreShape,
  Proven: DeviceStatus.shape.proven,
  Spread: Status.shape.switchSeconds,
  Shares,
  AcceptedBlocks,
  Worker: relayReport.workers.element,
  Earnings: Status.shape.earnings,
  Work,
  Machine: machine,
  Kernel: cpu.shape.kernels.element,
};
const FLEET = {
  Fleet: FleetStatus,
  Rig: FleetRig,
  RigDevice: FleetRig.shape.devices.element,
  Coordinator: FleetStatus.shape.coordinators.element,
  Repeats: FleetStatus.shape.repeats,
  Changes: FleetChanges,
  RigSummary,
  Selection: RigSelection,
  Answer: TimedControlAnswer,
};

type Shape = Readonly<Record<string, z.ZodType>>;

function coded<Value>(byName: Readonly<Record<string, Value>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(byName).map(([name, value]) => [`\`${name}\``, value]));
}

function without(shape: Shape, names: readonly string[]): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([name]) => !names.includes(name)));
}

it('docs/wrappers.md has all fields, made from the schemas', () => {
  const linked = (objects: object, anchor: string) =>
    Object.fromEntries(Object.entries(objects).map(([name, schema]) => [`[${name}](${anchor})`, schema]));
  const fields = new FieldLists({
    ...linked(SHARED, '#shared-objects'),
    ...linked(FLEET, '#fleet'),
    ...linked({ Block: blocks.element, Totals: totals }, '#other-commands'),
    '[Device](#a-device)': DeviceStatus,
    '[Status](#the-status)': Status,
    '[codes](watching.md#refused-requests)': ErrorAnswer.shape.error.shape.code,
  });
  const table = (heading: string, rows: string[]) => expectTable(DOCUMENT, heading, rows);
  const list = (heading: string, items: string[]) => expectList(DOCUMENT, heading, items);
  list('### Shared objects', fields.objects(SHARED));
  list('### All types', fields.objects(coded(LINES), ['type', 'timeMillis']));
  list(
    '### Other output of `mine`',
    fields.objects(
      coded({
        '--log-format json': LogLine,
        '--dry-run --json': DryRunPlan,
        '--print-config --json': PrintedConfig.valueType,
      }),
    ),
  );
  table(
    '### The status',
    fields.rows(Status.shape, {
      'as in `start` lines': LINES.start.shape,
      'as in `summary` lines': Summary.shape,
    }),
  );
  table(
    '### A device',
    fields.rows(DeviceStatus.shape, {
      'as in `device` lines': without(LINES.device.shape, ['state']),
      '`starting`, or as in `device` lines': { state: DeviceStatus.shape.state },
      'as in `summary` lines': Summary.shape.devices.valueType.shape,
      'as of the rig': Status.shape,
    }),
  );
  list(
    '### The other answers',
    fields.objects({
      ...coded({
        'GET /api/v1/history': HistoryAnswer,
        'GET /api/v1/log': LogAnswer,
        'GET /api/v1/balance': BalanceAnswer,
        'GET /healthz': Health,
        'GET /readyz': Readiness,
      }),
      'every error': ErrorAnswer,
    }),
  );
  list(
    '## `fleet`',
    fields.objects(FLEET, [], {
      Changes: ['[Fleet](#fleet)', FleetStatus.shape],
      RigSummary: ['[Rig](#fleet)', FleetRig.shape],
    }),
  );
  const requests = ControlRequest.options.map((request) => [request.shape.command.value, request]);
  list('### Control of rigs', fields.objects(coded(Object.fromEntries(requests)), ['command']));
  list(
    '### Messages that a coordinator refuses',
    Object.entries(MESSAGE_REFUSALS).map(([reason, meaning]) => `- **\`${reason}\`**: ${meaning}`),
  );
  list(
    '## Other commands',
    fields.objects({
      ...coded({ 'blocks --json': BlocksReport }),
      Block: blocks.element,
      Totals: totals,
      ...coded({
        'devices --json': DevicesReport,
        'doctor --json': DoctorReport,
        'bench --tune --json': TuneReport,
        'stats --json': RigsReport,
      }),
    }),
  );
});

it.each([
  ['a field without a description', z.object({ a: z.string() }), 'The field a has no description.'],
  ['a description that lacks a word', z.object({ a: z.enum(['b', 'c']).describe('not `b`') }), 'lacks the words c'],
])('nothing is made of %s', (_, { shape }, fault) => {
  expect(() => new FieldLists({}).rows(shape)).toThrow(fault);
});
