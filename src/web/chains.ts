/** The table of chains: the last work of each one that was mined on. */

import type { Status } from '../report/http/schemas.ts';
import { formatDuration } from '../report/units.ts';
import { byId, element, type Row, Rows, setText } from './dom.ts';
import { amount } from './format.ts';

interface Shown {
  readonly work: Status['chains'][number];
  /** Whether it is mined on now. */
  readonly current: boolean;
}

export class Chains {
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
