/** The page of a rig. It polls the miner every two seconds, and shows the answers. */

import type { Status } from '../status/status.ts';
import { Api, ApiError, Poller, Requests } from './api.ts';
import { BalancePanel, EarningsPanel } from './balance.ts';
import { Charts } from './chart.ts';
import { type Action, Controls, Devices, Workers } from './devices.ts';
import { announce, byId, rememberFolds } from './dom.ts';
import { Log } from './log-panel.ts';
import { Reach } from './reach.ts';
import { ChainsPanel, SourcesPanel } from './sources.ts';
import { changes, showSummary } from './summary.ts';
import { followChoice } from './theme.ts';

const requests = new Requests();
const api = new Api(requests);
const reach = new Reach(requests, 'miner');
const controls = new Controls(act);
const balance = new BalancePanel(() => reach.withToken(() => api.balance()));
const panels = [
  controls,
  balance,
  new Devices(controls),
  new Workers(),
  new ChainsPanel(),
  new SourcesPanel(),
  new EarningsPanel(),
];
const log = new Log();
const poller = new Poller(refresh, (fault) => reach.showFault(fault, last?.timeMillis));
const charts = new Charts(() => poller.now());
let last: Status | undefined;

async function refresh(): Promise<void> {
  const status = await reach.withToken(() => api.status());
  // The page was loaded from another version of pickaxe than the one that runs now.
  if (last && last.version !== status.version) location.reload();
  if (last && last.startTimeMillis !== status.startTimeMillis) {
    log.startedAgain();
    charts.outdate();
  }
  show(status);
  log.add(await api.logAfter(log.last));
  if (charts.due) charts.show(await api.history(charts.range), status.timeMillis);
}

function show(status: Status): void {
  const wasAway = reach.showReached();
  const news = last ? changes(last, status) : [];
  if (wasAway) news.unshift('The miner is back.');
  last = status;
  showSummary(status);
  for (const panel of panels) panel.show(status);
  if (news.length > 0) announce(news.join('; '));
}

async function act(action: Action, device?: string): Promise<void> {
  const whom = device ?? 'all devices';
  try {
    await reach.withToken(() => api.control(action, device));
    announce(action === 'pause' ? `${whom}: asked to pause` : `${whom}: asked to resume`);
  } catch (fault) {
    const why = fault instanceof ApiError ? fault.message : 'the miner cannot be reached';
    announce(`${whom}: ${action} failed: ${why}`);
  }
  poller.now();
}

reach.followLinks();
rememberFolds();
followChoice(byId<HTMLSelectElement>('theme'), () => charts.redraw());
void poller.run();
