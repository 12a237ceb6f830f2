/** The page: polls the miner every two seconds and shows its answers. */

import type { Status } from '../report/status.ts';
import { Api, ApiError, Poller } from './api.ts';
import { BalancePanel, Earnings } from './balance.ts';
import { Charts } from './chart.ts';
import { type Action, Controls, Devices, Workers } from './devices.ts';
import { announce, byId, rememberFolds, setText } from './dom.ts';
import { clockSeconds } from './format.ts';
import { Log } from './log.ts';
import { Chains, Sources } from './sources.ts';
import { changes, showSummary } from './summary.ts';
import { followChoice } from './theme.ts';

const api = new Api();
const controls = new Controls(act);
const balance = new BalancePanel(() => withToken(() => api.balance()));
const panels = [controls, balance, new Devices(controls), new Workers(), new Chains(), new Sources(), new Earnings()];
const log = new Log();
const poller = new Poller(refresh, showFault);
const charts = new Charts(() => poller.now());
let last: Status | undefined;

async function refresh(): Promise<void> {
  const status = await withToken(() => api.status());
  // The page is of another version than the miner.
  if (last && last.version !== status.version) location.reload();
  if (last && last.startTimeMillis !== status.startTimeMillis) {
    log.startedAgain();
    charts.outdate();
  }
  show(status);
  log.add(await api.logAfter(log.last));
  if (charts.due) charts.show(await api.history(charts.range), status.timeMillis);
}

/** Prompts for the token until the miner accepts it. */
async function withToken<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      const answer = await ask();
      endAsking();
      return answer;
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.status !== 401) throw fault;
      showReached();
      api.useToken(await askForToken(api.hasToken));
    }
  }
}

function show(status: Status): void {
  const wasAway = showReached();
  const news = last ? changes(last, status) : [];
  if (wasAway) news.unshift('The miner is back.');
  last = status;
  showSummary(status);
  for (const panel of panels) panel.show(status);
  if (news.length > 0) announce(news.join('; '));
}

/** @returns whether the miner was out of reach before */
function showReached(): boolean {
  const wasAway = document.body.classList.contains('away');
  document.body.classList.remove('away');
  byId('banner').hidden = true;
  return wasAway;
}

function showFault(fault: unknown): void {
  document.body.classList.add('away');
  const when = last ? ` The figures are those of ${clockSeconds(last.timeMillis)}.` : '';
  setText(byId('banner'), `${whatIsWrong(fault)}${when} Trying again.`);
  byId('banner').hidden = false;
}

function whatIsWrong(fault: unknown): string {
  if (fault instanceof ApiError) return `The miner answers with an error: ${fault.message}.`;
  if (fault instanceof TypeError || fault instanceof DOMException) return 'The miner cannot be reached.';
  return `This page has failed: ${fault}.`;
}

/** If the page is open already, following a link only changes the fragment. */
function useLink(): boolean {
  const token = tokenOfLink();
  if (token !== undefined) api.useToken(token);
  return token !== undefined;
}

async function act(action: Action, device?: string): Promise<void> {
  const whom = device ?? 'all devices';
  try {
    await withToken(() => api.control(action, device));
    announce(action === 'pause' ? `${whom}: asked to pause` : `${whom}: asked to resume`);
  } catch (fault) {
    const why = fault instanceof ApiError ? fault.message : 'the miner cannot be reached';
    announce(`${whom}: ${action} failed: ${why}`);
  }
  poller.now();
}

/** Spaces and invisible characters, which may be pasted with a token, and must not be in a header. */
const NO_PART = /[^\x21-\x7e]/g;

/** Start of the fragment of a link. Browsers do not send fragments to the server. */
const IN_LINK = '#token=';

/** @returns the token of the link that opened the page, which is removed from the address; undefined without one */
function tokenOfLink(): string | undefined {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(IN_LINK)) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  try {
    return decodeURIComponent(hash.slice(IN_LINK.length)).replaceAll(NO_PART, '') || undefined;
  } catch {
    // The link was cut off within an escape such as %41, so the page prompts for the token.
    return undefined;
  }
}

/** @param wrong whether the miner refused the last token */
function askForToken(wrong: boolean): Promise<string> {
  const form = byId<HTMLFormElement>('token-form');
  const input = byId<HTMLInputElement>('token');
  setText(byId('token-fault'), wrong ? 'The miner does not accept this token.' : '');
  input.setAttribute('aria-invalid', String(wrong));
  showForm(form, true);
  input.focus();
  input.select();
  return new Promise((resolve) => {
    form.addEventListener(
      'submit',
      (event) => {
        event.preventDefault();
        resolve(input.value.replaceAll(NO_PART, ''));
      },
      { once: true },
    );
  });
}

/** Shows the figures again after a token was accepted. */
function endAsking(): void {
  const form = byId<HTMLFormElement>('token-form');
  if (form.hidden) return;
  byId<HTMLInputElement>('token').value = '';
  showForm(form, false);
  byId('main').focus();
}

function showForm(form: HTMLFormElement, asked: boolean): void {
  form.hidden = !asked;
  byId('main').hidden = asked;
}

useLink();
// Reloads, because requests may be waiting for a token.
window.addEventListener('hashchange', () => useLink() && location.reload());
rememberFolds();
followChoice(byId<HTMLSelectElement>('theme'), () => charts.redraw());
void poller.run();
