/** `pickaxe fleet pause`, `resume`, `limits` and `restart`: sends requests to rigs, and prints the answer of each. */

import { type Command, InvalidArgumentError } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import { EXIT, UsageError } from '../../app/process/exit.ts';
import { jsonText, oneLine } from '../../base/text/plain-text.ts';
import { plural } from '../../base/text/quantities.ts';
import type { ControlRequest } from '../../fleet/messages.ts';
import { askRigs, selectRigs, type Target } from '../../fleet/operator/ask-rigs.ts';
import type { FleetControlAnswer } from '../../fleet/operator/fleet-answers.ts';
import { MOST_NAME } from '../../fleet/subjects.ts';
import { aligned } from '../../rig/status/figures.ts';
import type { Io, Line } from '../io.ts';
import { settingsOf, withSettings } from '../usage/options.ts';
import {
  collectReports,
  connected,
  endDisconnected,
  OPERATOR_SETTINGS,
  type OpenOperator,
  type Operator,
  openOperator,
  rosterOf,
  WAIT_SECONDS,
  waitOf,
} from './operator.ts';

interface WhichRigs {
  readonly group?: string;
  readonly wait: number;
  readonly json: boolean;
}

/** Not null for `none`, because commander makes an empty text of null. */
type Celsius = number | 'none';

interface Given extends WhichRigs {
  readonly device?: string;
  readonly gpu?: Celsius;
  readonly cpu?: Celsius;
}

/** @param fleet the command `fleet` */
export function declareControl(fleet: Command, line: Line): void {
  declareOne(fleet, line, 'pause', 'pause rigs until they are resumed, or restart', ({ device }) => ({
    command: 'pause',
    ...(device !== undefined && { device }),
  })).option('--device <name>', 'only this device, such as gpu0');
  declareOne(fleet, line, 'resume', 'end what pause began, but no pause of a rig’s own', ({ device }) => ({
    command: 'resume',
    ...(device !== undefined && { device }),
  })).option('--device <name>', 'only this device, such as gpu0');
  declareOne(fleet, line, 'limits', 'lower the temperatures at which devices pause, until rigs restart', limitsOf)
    .option('--gpu <celsius>', 'for every GPU, in °C; none: the rig’s own again', celsiusOf)
    .option('--cpu <celsius>', 'for the CPU, in °C; none: the rig’s own again', celsiusOf);
  declareOne(fleet, line, 'restart', 'end mining and begin again, with the configuration read afresh', () => ({
    command: 'restart',
  }));
}

function declareOne(
  fleet: Command,
  { io, action }: Line,
  name: string,
  about: string,
  request: (given: Given) => ControlRequest,
): Command {
  const command = fleet.command(`${name} [rigs...]`).description(about);
  return withSettings(command, ...OPERATOR_SETTINGS)
    .option('--group <name>', 'only rigs of this group')
    .option('--wait <time>', 'with a group or a pattern: listen for this time first', waitOf, WAIT_SECONDS)
    .option('--json', 'one JSON object on stdout', false)
    .action(
      action(async (rigs: readonly string[], given: Given) => {
        return runControl(await settingsOf(command), rigs, given, request(given), io);
      }),
    );
}

/** @throws UsageError if neither limit is given */
function limitsOf({ gpu, cpu }: Given): ControlRequest {
  if (gpu === undefined && cpu === undefined) throw new UsageError('Give a limit: --gpu CELSIUS or --cpu CELSIUS.');
  return {
    command: 'limits',
    ...(gpu !== undefined && { gpuCelsius: gpu === 'none' ? null : gpu }),
    ...(cpu !== undefined && { cpuCelsius: cpu === 'none' ? null : cpu }),
  };
}

function celsiusOf(text: string): Celsius {
  if (text === 'none') return text;
  const celsius = Number(text);
  if (/^\d{1,3}$/.test(text) && celsius <= 150) return celsius;
  throw new InvalidArgumentError('Give a temperature in °C from 0 to 150, or none.');
}

/**
 * @param rigs names of rigs, or patterns of names
 * @returns the exit code: failed unless every rig did what was requested
 * @throws UsageError if neither a rig nor a group is given, or if a name is too long
 */
export async function runControl(
  loaded: Loaded,
  rigs: readonly string[],
  which: WhichRigs,
  request: ControlRequest,
  io: Io,
  open: OpenOperator = openOperator,
): Promise<number> {
  if (rigs.length === 0 && which.group === undefined) {
    throw new UsageError('Say which rigs: their names, patterns like "hall-a-*", or --group NAME.');
  }
  const tooLong = rigs.find((name) => name.length > MOST_NAME);
  if (tooLong !== undefined) throw new UsageError(`No rig’s name is longer than ${MOST_NAME} characters: ${tooLong}`);
  const warn = (line: string) => io.say(`warning: ${line}`);
  const operator = open(loaded, warn);
  try {
    if (!(await connected(operator, io.stop))) {
      const { state } = operator.link;
      return endDisconnected(state.isConnected ? '' : oneLine(state.reason), io);
    }
    const targets = await targetsOf(rigs, which, operator, io, warn);
    if (targets.length === 0) {
      io.say('error: no such rig has reported.');
      return EXIT.failed;
    }
    const answer = await askRigs(targets, request, operator.ask, io.stop);
    io.out(`${which.json ? jsonText(answer) : linesOf(answer).join('\n')}\n`);
    return answer.failed === 0 ? EXIT.done : EXIT.failed;
  } finally {
    await operator.close();
  }
}

/** Finds the rigs of a group or a pattern by their reports. If only names are given, waits for no reports. */
async function targetsOf(
  rigs: readonly string[],
  { group, wait }: WhichRigs,
  operator: Operator,
  io: Io,
  warn: (line: string) => void,
): Promise<Target[]> {
  const patterns = rigs.filter((name) => /[*?]/.test(name));
  if (group === undefined && patterns.length === 0) return [...new Set(rigs)].map((name) => ({ name }));
  const roster = rosterOf(operator, warn);
  await collectReports(wait, roster, operator, io);
  const { rigs: reported } = roster.status();
  roster.close();
  const inGroup = group === undefined ? {} : { group };
  const selections = rigs.length === 0 ? [inGroup] : rigs.map((pattern) => ({ ...inGroup, ...selectionOf(pattern) }));
  const found = selections.flatMap((selection) => selectRigs(reported, selection));
  return [...new Map(found.map((target) => [target.name, target])).values()];
}

function selectionOf(text: string): { pattern: string } | { names: string[] } {
  return /[*?]/.test(text) ? { pattern: text } : { names: [text] };
}

function linesOf({ done, failed, rigs }: FleetControlAnswer): string[] {
  return [
    ...aligned(rigs.map((rig) => [oneLine(rig.name), rig.done ? 'done' : 'NOT DONE', rig.message])),
    `${done} of ${plural(done + failed, 'rig')} did it`,
  ];
}
