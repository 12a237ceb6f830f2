/** The tables of sources (nodes, pools, parents or coordinators) and of chains. */

import type { Status } from '../status/status.ts';
import { describePolled, formatDuration, noneYet } from '../status/units.ts';
import { byId, element, type Row, Rows, setAttribute, setText } from './dom.ts';
import { amount } from './format.ts';

type Source = Status['sources'][string];

const HEADINGS = { node: 'Nodes', pool: 'Pools', parent: 'Parents', fleet: 'Coordinators' } as const;

export class SourcesPanel {
  readonly #rows = new Rows<Source>(byId('sources'), sourceRow);

  show({ sourceKind, sources }: Status): void {
    setText(byId('sources-heading'), HEADINGS[sourceKind]);
    const all = Object.entries(sources);
    setText(byId('no-sources'), `${noneYet(sourceKind).replace(/^n/, 'N')}.`);
    byId('no-sources').hidden = all.length > 0;
    this.#rows.show(all);
  }
}

function sourceRow(url: string): Row<Source> {
  const state = element('span', { class: 'badge' });
  const since = element('span', { class: 'quiet' });
  const reason = element('p', { class: 'quiet' });
  const polled = element('p', { class: 'warning' });
  const warning = element('p', { class: 'warning' });
  return {
    element: element(
      'li',
      {},
      element('p', { class: 'url' }, url),
      element('p', {}, state, ' ', since),
      reason,
      polled,
      warning,
    ),
    show(source) {
      setText(state, source.state);
      setAttribute(state, 'data-state', source.state);
      const losses =
        source.losses === 0 ? '' : `, lost ${source.losses === 1 ? 'once' : `${source.losses} times`} so far`;
      setText(since, `for ${formatDuration(source.ageSeconds)}${losses}`);
      reason.hidden = source.reason === '';
      polled.hidden = source.polledChains.length === 0;
      warning.hidden = source.warning === null;
      setText(reason, source.reason);
      setText(polled, describePolled(source.polledChains));
      setText(warning, source.warning ?? '');
    },
  };
}

/* The table of chains, with the last work of each chain */

interface Shown {
  readonly work: Status['chains'][number];
  /** Whether the chain is mined now. */
  readonly current: boolean;
}

export class ChainsPanel {
  readonly #rows: Rows<Shown>;

  constructor() {
    const body = byId('chain-table').querySelector('tbody');
    if (!body) throw new Error('the page has no table of chains');
    this.#rows = new Rows(body, workRow);
  }

  show({ chains, work, state }: Status): void {
    const now = state === 'mining' ? work : null;
    byId('work').hidden = chains.length === 0;
    setText(
      byId('work-now'),
      now ? `chain ${now.chain}, height ${now.height}, difficulty ${amount(now.difficulty)}` : '',
    );
    this.#rows.show(chains.map((work) => [String(work.chain), { work, current: work.chain === now?.chain }]));
  }
}

function workRow(chain: string): Row<Shown> {
  const mark = element('span', { class: 'mark' });
  const [height, difficulty, age] = Array.from({ length: 3 }, () => element('td', { class: 'number' }));
  const row = element('tr', {}, element('th', { scope: 'row' }, chain, mark), height, difficulty, age);
  return {
    element: row,
    show({ work, current }) {
      row.classList.toggle('current', current);
      setText(mark, current ? ' mined now' : '');
      setText(height, String(work.height));
      setText(difficulty, amount(work.difficulty));
      setText(age, formatDuration(work.ageSeconds));
    },
  };
}
