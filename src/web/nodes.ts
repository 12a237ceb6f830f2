/** The nodes that work comes from, and how they are. */

import type { Status } from '../report/http/schemas.ts';
import { describePolled, formatDuration } from '../report/units.ts';
import { byId, element, type Row, Rows, setAttribute, setText } from './dom.ts';

type Node = Status['sources'][string];

export class Nodes {
  readonly #rows = new Rows<Node>(byId('nodes'), nodeRow);

  show({ sources }: Status): void {
    const all = Object.entries(sources);
    byId('no-nodes').hidden = all.length > 0;
    this.#rows.show(all);
  }
}

function nodeRow(url: string): Row<Node> {
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
    show(node) {
      setText(state, node.state);
      setAttribute(state, 'data-state', node.state);
      const losses = node.losses === 0 ? '' : `, lost ${node.losses === 1 ? 'once' : `${node.losses} times`} so far`;
      setText(since, `for ${formatDuration(node.ageSeconds)}${losses}`);
      reason.hidden = node.reason === '';
      polled.hidden = node.polledChains.length === 0;
      warning.hidden = node.warning === null;
      setText(reason, node.reason);
      setText(polled, describePolled(node.polledChains));
      setText(warning, node.warning ?? '');
    },
  };
}
