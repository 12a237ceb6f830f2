/** The panels of sources and of chains. */

import { describe, expect, it } from 'vitest';
import { ChainsPanel, SourcesPanel } from '#pickaxe/rig/page/sources.js';
import type { Status } from '#pickaxe/rig/status/status.js';
import { Rig, work } from './rig.ts';
import { emptyStatus, rowsOf, statusOf } from './statuses.ts';
import { openWindow } from './window.ts';

type Source = Status['sources'][string];

const SOURCE: Source = {
  kind: 'node',
  state: 'connected',
  reason: 'the node gives work',
  ageSeconds: 75,
  latencySeconds: null,
  losses: 0,
  warning: null,
  missedCuts: 0,
  polledChains: [],
};
const POLLED: Source['polledChains'] = [
  { chain: 2, reason: 'no-stream' },
  { chain: 5, reason: 'missed-block' },
];

/** Opens the panel. A row is the texts of a source that are not hidden. */
function openSources() {
  const page = openWindow('rig');
  const panel = new SourcesPanel();
  const show = (...sources: Partial<Source>[]) => {
    const named = sources.map((source, at) => [`http://${at}.example`, { ...SOURCE, ...source }]);
    panel.show(emptyStatus({ sources: Object.fromEntries(named) }));
    return rowsOf(page, '#sources li');
  };
  return { page, panel, show };
}

describe('the sources', () => {
  it.each<[Partial<Source>, string[]]>([
    [{}, ['connected for 1 min 15 s', 'the node gives work']],
    [{ state: 'connecting', reason: '', ageSeconds: 0 }, ['connecting for 0.0 s']],
    [{ state: 'lost', losses: 1, reason: 'refused' }, ['lost for 1 min 15 s, lost once so far', 'refused']],
    [{ losses: 2, reason: '' }, ['connected for 1 min 15 s, lost 2 times so far']],
    [
      { state: 'unhealthy', warning: 'its clock is late' },
      ['unhealthy for 1 min 15 s', 'the node gives work', 'its clock is late'],
    ],
    [
      { state: 'standby', reason: '', polledChains: POLLED.slice(0, 1) },
      ['standby for 1 min 15 s', 'is polled for work every few seconds on chain 2 (no stream)'],
    ],
    [
      { polledChains: POLLED, warning: '' },
      [
        'connected for 1 min 15 s',
        'the node gives work',
        'is polled for work every few seconds on chains 2 (no stream), 5 (missed block)',
        '',
      ],
    ],
  ])('have a row each: of %j it says %j', (source, texts) => {
    const { page, show } = openSources();
    for (const _ of [1, 2]) {
      expect(show(source)).toEqual([['http://0.example', ...texts]]);
      expect(page.one('#sources .badge').getAttribute('data-state')).toBe(source.state ?? 'connected');
      expect(show({})).toEqual([['http://0.example', 'connected for 1 min 15 s', 'the node gives work']]);
      expect(page.one('#sources .badge').getAttribute('data-state')).toBe('connected');
    }
  });

  it('keep their rows while others come and go', () => {
    const { page, panel, show } = openSources();
    expect(show({}, { state: 'lost' }).map(([url]) => url)).toEqual(['http://0.example', 'http://1.example']);
    const first = page.one('#sources li');
    expect(show({ state: 'lost' }).map(([url]) => url)).toEqual(['http://0.example']);
    expect(page.one('#sources li')).toBe(first);
    expect(page.byId('no-sources').hidden).toBe(true);
    panel.show(emptyStatus());
    expect(page.document.querySelectorAll('#sources li')).toHaveLength(0);
    expect(page.byId('no-sources').hidden).toBe(false);
  });

  it.each([
    ['node', 'Nodes', 'None has answered yet.'],
    ['pool', 'Pools', 'None has answered yet.'],
    ['parent', 'Parents', 'None has connected yet.'],
    ['fleet', 'Coordinators', 'None has sent a message yet.'],
  ] as const)('of the kind %s are %s: %s', (sourceKind, heading, none) => {
    const { page, panel } = openSources();
    panel.show(emptyStatus({ sourceKind }));
    expect(page.texts('#sources-heading, #no-sources')).toEqual([heading, none]);
  });
});

describe('the chains', () => {
  const openChains = () => {
    const page = openWindow('rig');
    const panel = new ChainsPanel();
    return {
      page,
      show: (status: Status) => {
        panel.show(status);
        return rowsOf(page, '#chain-table tbody tr');
      },
      marked: () => page.texts('#chain-table tr.current th'),
      now: () => page.byId('work-now').textContent,
    };
  };

  it('have a row each, and the one that is mined now has a mark', () => {
    const { page, show, marked, now } = openChains();
    const rig = work(new Rig());
    const three = ['3 mined now', '42', '5.000 M', '1 min'];
    const seven = ['7', '41', '9.000 M', '1 min'];
    expect(show(statusOf(rig))).toEqual([three, seven]);
    expect([marked(), now()]).toEqual([['3 mined now'], 'chain 3, height 42, difficulty 5.000 M']);
    expect(page.byId('work').hidden).toBe(false);
    rig.emit({ type: 'work', chain: 7, height: 43n, difficulty: 9e6 });
    expect(show(statusOf(rig))).toEqual([
      ['3', ...three.slice(1)],
      ['7 mined now', '43', '9.000 M', '0.0 s'],
    ]);
    expect([marked(), now()]).toEqual([['7 mined now'], 'chain 7, height 43, difficulty 9.000 M']);
    for (const status of [statusOf(rig, { state: 'paused' }), statusOf(rig, { state: 'mining', work: null })]) {
      expect(show(status).map(([chain]) => chain)).toEqual(['3', '7']);
      expect([marked(), now()]).toEqual([[], '']);
    }
    expect(show(emptyStatus())).toEqual([]);
    expect(page.byId('work').hidden).toBe(true);
  });

  it('need their table', () => {
    const page = openWindow('rig');
    page.one('#chain-table tbody').remove();
    expect(() => new ChainsPanel()).toThrow('the page has no table of chains');
  });
});
