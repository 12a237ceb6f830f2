/**
 * The page of a fleet. While it is visible, it requests the changes from the operator's HTTP server every two seconds
 * (less often after failures), and shows them.
 */

import { plural } from '../../base/text/quantities.ts';
import { Poller, Requests } from '../../rig/page/api.ts';
import { announce, byId, element, setAttribute, setText } from '../../rig/page/dom.ts';
import { Reach } from '../../rig/page/reach.ts';
import { followChoice } from '../../rig/page/theme.ts';
import type { FleetChanges, TimedControlAnswer } from '../operator/fleet-answers.ts';
import type { FleetRig } from '../operator/fleet-status.ts';
import { type Command, ControlDialog, RigDialog, type SentRequest } from './dialogs.ts';
import { Coordinators, newsOf, showTotals, type Totals } from './fleet-summary.ts';
import { CHOICES, FLEET_COLUMNS, type FleetRow, FleetRows, type FleetView, fragmentOf, viewOf } from './rig-rows.ts';
import { FleetTable } from './rig-table.ts';

/**
 * Maximum time of a request for changes, and of a request to rigs. The first answer for 20,000 rigs has megabytes, and
 * rigs may take 10 s to answer.
 */
const TIMEOUT_MS = 14_000;
const COMMANDS = ['pause', 'resume', 'restart', 'limits'] as const;

const requests = new Requests();
const reach = new Reach(requests, 'operator');
const rows = new FleetRows();
const selected = new Set<string>();
const coordinators = new Coordinators();
const rigDialog = new RigDialog((name) => requests.get<FleetRig>(`fleet/rig?name=${encodeURIComponent(name)}`));
const controlDialog = new ControlDialog(send);
const table = new FleetTable({ sort: sortBy, open: openRig, select });
const poller = new Poller(refresh, (fault) => reach.showFault(fault, last?.timeMillis));
let view: FleetView;
let shown: readonly FleetRow[] = [];
let last: Totals | undefined;

async function refresh(): Promise<void> {
  const since = last ? `?since=${last.mark}` : '';
  const changes = await reach.withToken(() => requests.get<FleetChanges>(`fleet/changes${since}`, TIMEOUT_MS));
  // The HTTP server was restarted with another version of pickaxe, which has another page.
  if (last && last.version !== changes.version) location.reload();
  const wasAway = reach.showReached();
  const { rigs, goneRigs, ...totals } = changes;
  rows.apply(changes);
  for (const name of selected) if (!rows.get(name)) selected.delete(name);
  const news = last ? newsOf(last, totals) : [];
  if (wasAway) news.unshift('The operator is back.');
  last = totals;
  showTotals(totals, rows);
  coordinators.show(totals);
  showGroups();
  showRows();
  if (news.length > 0) announce(news.join('; '));
  await rigDialog.refresh(rows, totals.timeMillis);
}

/* The view: the fragment of the address, and the fields above the table */

const text = byId<HTMLInputElement>('filter-text');
const group = byId<HTMLSelectElement>('filter-group');
const choice = byId<HTMLSelectElement>('filter-state');
const order = byId<HTMLSelectElement>('sort');

function use(next: FleetView): void {
  view = next;
  if (text.value !== view.text) text.value = view.text;
  choice.value = view.choice;
  order.value = orderOf(view);
  showGroups();
  showRows();
}

/**
 * Changes the view, and replaces the address. If the address were added to the browser's history instead, every letter
 * of a filter would add an entry.
 */
function change(part: Partial<FleetView>): void {
  use({ ...view, ...part });
  history.replaceState(null, '', `${location.pathname}${location.search}${fragmentOf(view)}`);
  announce(countText());
}

const orderOf = ({ sort, downwards }: Pick<FleetView, 'sort' | 'downwards'>) => `${sort} ${downwards ? 'down' : 'up'}`;

function sortBy(sort: string): void {
  const downwards = sort === view.sort ? !view.downwards : FLEET_COLUMNS[sort].isFigure;
  change({ sort, downwards });
}

/** Lists the groups in the filter. The group that the filter selects stays in the list even if it has no rigs. */
function showGroups(): void {
  const names = new Set([...rows.groups, ...(view.group === '' ? [] : [view.group])]);
  const there = [...group.options].slice(1).map(({ value }) => value);
  if (there.join('\n') !== [...names].join('\n')) {
    const [all] = group.options;
    group.replaceChildren(all, ...[...names].map((name) => element('option', { value: name }, name)));
  }
  group.value = view.group;
  byId('group-field').hidden = names.size === 0;
}

function showRows(): void {
  shown = rows.shown(view);
  const selectable = last?.control ?? false;
  const { sort, downwards } = view;
  table.show({ rows: shown, selected, selectable, sort, downwards, nowMs: last?.timeMillis ?? 0 });
  setText(byId('shown'), last ? countText() : '');
  byId('no-rigs').hidden = shown.length > 0;
  setText(byId('no-rigs'), rows.size === 0 ? 'No rig has reported yet.' : 'No rig is as the filter wants it.');
  byId('controls').hidden = !selectable;
  setText(byId('selected'), selectedText());
  for (const command of COMMANDS) setAttribute(byId(command), 'aria-disabled', String(selected.size === 0));
  setAttribute(byId('deselect'), 'aria-disabled', String(selected.size === 0));
}

const thousands = (count: number) => count.toLocaleString('en');

function countText(): string {
  const all = `${thousands(rows.size)} ${rows.size === 1 ? 'rig' : 'rigs'}`;
  return shown.length === rows.size ? all : `${thousands(shown.length)} of ${all}`;
}

function selectedText(): string {
  const inSight = shown.filter(({ rig }) => selected.has(rig.name)).length;
  const hidden = selected.size - inSight;
  const more = hidden === 0 ? '' : `, ${thousands(hidden)} of them not shown`;
  return selected.size === 0 ? 'none selected' : `${thousands(selected.size)} selected${more}`;
}

/* Rigs, and requests to them */

function openRig(name: string): void {
  void rigDialog.open(name, rows, last?.timeMillis ?? 0);
}

function select(names: readonly string[], isSelected: boolean): void {
  for (const name of names) {
    if (isSelected) selected.add(name);
    else selected.delete(name);
  }
  showRows();
  if (names.length !== 1) announce(plural(selected.size, 'rig').concat(' selected'));
}

function ask(command: Command): void {
  const targets = [...selected].flatMap((name) => rows.get(name) ?? []);
  if (targets.length > 0) controlDialog.open(command, targets);
}

/** Sends names instead of the filter, so that the request reaches only rigs that were on the page. */
async function send(request: SentRequest, names: readonly string[]): Promise<TimedControlAnswer> {
  const body = { request, rigs: { names } };
  const response = await reach.withToken(() => requests.post('fleet/control', body, TIMEOUT_MS));
  const answer: TimedControlAnswer = await response.json();
  const done = answer.rigs.flatMap((rig) => (rig.done ? [rig.name] : []));
  // A rig's report does not contain the rig's limits. So a row could not show that the rig has changed them.
  if (request.command !== 'limits') rows.noteAsked(`asked to ${request.command}`, answer.askedMillis, done);
  showRows();
  poller.now();
  return answer;
}

choice.replaceChildren(...CHOICES.map((each) => element('option', { value: each }, each)));
order.replaceChildren(
  ...Object.entries(FLEET_COLUMNS).flatMap(([name, { heading }]) =>
    [false, true].map((downwards) =>
      element('option', { value: orderOf({ sort: name, downwards }) }, `${heading} ${downwards ? '▼' : '▲'}`),
    ),
  ),
);
text.addEventListener('input', () => change({ text: text.value }));
group.addEventListener('change', () => change({ group: group.value }));
choice.addEventListener('change', () => change({ choice: CHOICES.find((each) => each === choice.value) ?? 'all' }));
order.addEventListener('change', () => {
  const [sort, direction] = order.value.split(' ');
  change({ sort, downwards: direction === 'down' });
});
for (const command of COMMANDS) byId(command).addEventListener('click', () => ask(command));
byId('deselect').addEventListener('click', () => select([...selected], false));
reach.followLinks();
use(viewOf(location.hash));
window.addEventListener('hashchange', () => use(viewOf(location.hash)));
followChoice(byId<HTMLSelectElement>('theme'), () => {});
void poller.run();
