/** Whether a page's server can be reached, and the tokens that it accepts. */

import { describe, expect, it, vi } from 'vitest';
import { ApiError, Requests } from '#pickaxe/rig/page/api.js';
import { clockSeconds } from '#pickaxe/rig/page/format.js';
import { Reach } from '#pickaxe/rig/page/reach.js';
import { turns } from '../../turns.ts';
import { type Opened, openWindow } from './window.ts';

const NOW = 1_700_000_000_000;

/** Opens a page whose server accepts one token. */
function openReach(opened: Opened = {}, server = 'miner') {
  const page = openWindow('rig', opened);
  const { window, document } = page;
  const reload = vi.spyOn(window.location, 'reload').mockImplementation(() => {});
  const requests = new Requests();
  const reach = new Reach(requests, server);
  const input = page.byId<InstanceType<typeof window.HTMLInputElement>>('token');
  const kept = () => window.sessionStorage.getItem('pickaxe-token');
  const tried: (string | null)[] = [];
  return {
    page,
    reach,
    requests,
    input,
    kept,
    reload,
    tried,
    /** Asks the server, which refuses all tokens but `right`. */
    ask: (right: string) =>
      reach.withToken(async () => {
        tried.push(kept());
        if (kept() !== right) throw new ApiError(401, 'unauthorized');
        return 'the answer';
      }),
    /** @returns whether the browser would load another page */
    submit: async (token: string) => {
      input.value = token;
      const event = new window.Event('submit', { cancelable: true });
      const isLeft = page.byId('token-form').dispatchEvent(event);
      await turns();
      return isLeft;
    },
    isAsking: () => {
      const [form, main] = [page.byId('token-form').hidden, page.byId('main').hidden];
      expect(main).toBe(!form);
      return main;
    },
    fault: () => page.byId('token-fault').textContent,
    focused: () => document.activeElement?.id,
    banner: () => (page.byId('banner').hidden ? undefined : page.byId('banner').textContent),
    isAway: () => document.body.classList.contains('away'),
    follow: async (fragment: string) => {
      window.location.hash = fragment;
      await turns();
      window.dispatchEvent(new window.Event('hashchange'));
    },
  };
}

describe('a page whose server requires a token', () => {
  it('asks for it until it is right, and then shows the figures', async () => {
    const { ask, isAsking, fault, input, focused, submit, tried, reach, isAway, banner, page } = openReach();
    reach.showFault(new TypeError('failed to fetch'), undefined);
    const answer = ask('right');
    await turns();
    expect([isAsking(), fault(), input.getAttribute('aria-invalid'), focused()]).toEqual([true, '', 'false', 'token']);
    // The server has answered, so it can be reached.
    expect([isAway(), banner()]).toEqual([false, undefined]);
    for (const wrong of ['wrong', 'wrong, too']) {
      page.byId('main').focus();
      expect(await submit(wrong)).toBe(false);
      expect([isAsking(), fault(), input.getAttribute('aria-invalid')]).toEqual([
        ...[true, 'The miner does not accept this token.', 'true'],
      ]);
      // The next token is typed over this one.
      expect([focused(), input.selectionStart, input.selectionEnd]).toEqual(['token', 0, wrong.length]);
    }
    expect(await submit(' ri\u200bght\n')).toBe(false);
    expect(await answer).toBe('the answer');
    expect(tried).toEqual([null, 'wrong', 'wrong,too', 'right']);
    expect([isAsking(), focused(), input.value]).toEqual([false, 'main', '']);
    input.focus();
    expect(await ask('right')).toBe('the answer');
    expect([isAsking(), focused()]).toEqual([false, 'token']);
  });

  it('asks again when the token has become wrong, and names the server', async () => {
    const { ask, isAsking, fault, submit, requests, kept } = openReach({}, 'fleet');
    requests.useToken('old');
    const answer = ask('new');
    await turns();
    expect([isAsking(), fault()]).toEqual([true, 'The fleet does not accept this token.']);
    await submit('new');
    expect([await answer, kept(), isAsking()]).toEqual(['the answer', 'new', false]);
  });

  it('uses a token that was entered for one request for the others, too', async () => {
    const { ask, submit, tried } = openReach();
    const answers = Promise.all([ask('right'), ask('right')]);
    await turns();
    await submit('right');
    expect(await answers).toEqual(['the answer', 'the answer']);
    expect(tried).toEqual([null, null, 'right', 'right']);
  });

  it.each([new ApiError(403, 'forbidden'), new TypeError('failed to fetch'), { status: 401 }])(
    'does not ask for it because of another fault: %s',
    async (fault) => {
      const { reach, isAsking } = openReach();
      await expect(reach.withToken(() => Promise.reject(fault))).rejects.toBe(fault);
      expect(isAsking()).toBe(false);
    },
  );

  it.each([
    ['#token=secret', 'secret', ''],
    ['?a=1#token=se%63ret%0A', 'secret', '?a=1'],
    ['#token=%20', null, ''],
    ['#token=', null, ''],
    // It was cut off.
    ['#token=secret%4', null, ''],
    ['', null, ''],
    ['#other=secret', null, '#other=secret'],
  ])('takes it from the link %s: %s', async (fragment, token, left) => {
    const { page, reach, kept, reload } = openReach({ fragment });
    reach.followLinks();
    expect(kept()).toBe(token);
    expect(page.window.location.href).toBe(`http://rig.example/${left}`);
    expect(page.window.history.length).toBe(1);
    expect(reload).not.toHaveBeenCalled();
  });

  it('takes it from a link that is followed later, and loads again', async () => {
    const { page, reach, kept, reload, follow } = openReach({ fragment: '#token=first' });
    reach.followLinks();
    await follow('#other');
    expect([kept(), reload.mock.calls.length]).toEqual(['first', 0]);
    await follow('#token=');
    expect([kept(), reload.mock.calls.length, page.window.location.hash]).toEqual(['first', 0, '']);
    for (const [at, token] of ['second', 'third'].entries()) {
      await follow(`#token=${token}`);
      expect([kept(), reload.mock.calls.length, page.window.location.hash]).toEqual([token, at + 1, '']);
    }
  });
});

describe('a page whose server fails', () => {
  it.each<[unknown, string]>([
    [new ApiError(503, 'it is busy'), 'The miner answers with an error: it is busy.'],
    [new TypeError('failed to fetch'), 'The miner cannot be reached.'],
    [new DOMException('too late', 'TimeoutError'), 'The miner cannot be reached.'],
    [new RangeError('no'), 'This page has failed: RangeError: no.'],
  ])('says of %s: %s', (fault, sentence) => {
    const { reach, banner, isAway } = openReach();
    expect([banner(), isAway(), reach.showReached()]).toEqual([undefined, false, false]);
    for (const _ of [1, 2]) {
      reach.showFault(fault, undefined);
      expect([banner(), isAway()]).toEqual([`${sentence} Trying again.`, true]);
      reach.showFault(fault, NOW);
      const when = `The figures are those of ${clockSeconds(NOW)}.`;
      expect([banner(), isAway()]).toEqual([`${sentence} ${when} Trying again.`, true]);
      expect(reach.showReached()).toBe(true);
      expect([banner(), isAway(), reach.showReached()]).toEqual([undefined, false, false]);
    }
  });

  it('names its server', () => {
    const { reach, banner } = openReach({}, 'fleet');
    reach.showFault(new ApiError(500, 'no'), undefined);
    expect(banner()).toBe('The fleet answers with an error: no. Trying again.');
    reach.showFault(new TypeError('no'), undefined);
    expect(banner()).toBe('The fleet cannot be reached. Trying again.');
  });
});
