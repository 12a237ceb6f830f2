/** The whole page of a fleet in the test's process, with an operator's HTTP server that answers it. */

import { vi } from 'vitest';
import type { AskRig } from '#pickaxe/fleet/operator/ask-rigs.js';
import type { FleetChanges } from '#pickaxe/fleet/operator/fleet-answers.js';
import type { ServerOptions } from '#pickaxe/rig/http/http-server.js';
import { layOut, openWindow, runModule } from '../../rig/page/window.ts';
import { turns, turnsUntil } from '../../turns.ts';
import { ServedFleet } from '../operator/http/serving.ts';

const POLL_MS = 2_000;

interface Settings extends Partial<ServerOptions> {
  readonly rigs?: number;
  readonly fragment?: string;
  readonly ask?: AskRig;
  /** Called before the page runs. */
  readonly prepare?: (served: ServedFleet) => unknown;
}

export async function openPage({ rigs = 20, fragment = '', ask, prepare, ...options }: Settings = {}) {
  const served = new ServedFleet(rigs);
  prepare?.(served);
  await served.serve({ control: true, ...options }, ask);
  const requests: string[] = [];
  const link = {
    /** Whether requests fail, as without a network. */
    isCut: false,
    /** Replaces the status and the text of an answer. */
    edit: (_path: string, status: number, text: string): [status: number, text: string] => [status, text],
  };
  let pending = 0;
  const page = openWindow('fleet', {
    fragment,
    fetch: async (path, request) => {
      requests.push(path.replace('/api/v1/fleet', ''));
      pending++;
      try {
        if (link.isCut) throw new TypeError('fetch failed');
        const { status, text } = await served.ask(path, request);
        const [newStatus, newText] = link.edit(path, status, text);
        return new Response(newText, { status: newStatus });
      } finally {
        pending--;
      }
    },
  });
  const { byId, texts, document } = page;
  layOut(byId('rig-scroller'), { clientHeight: 380 });
  byId('rig-table').style.setProperty('--row', '38px');
  const reload = vi.spyOn(page.window.location, 'reload').mockReturnValue(undefined);
  await runModule('dist/fleet/page/fleet-page.js');
  const settled = async () => {
    await turns();
    await turnsUntil(() => pending === 0);
    await turns();
  };
  await settled();
  return {
    ...page,
    served,
    requests,
    link,
    reload,
    settled,
    /** Lets the fleet go on, and the page ask for the changes. */
    async goOn(ms = POLL_MS): Promise<void> {
      served.advance(ms);
      await vi.advanceTimersByTimeAsync(POLL_MS);
      await settled();
    },
    text: (id: string) => byId(id).textContent,
    hash: () => page.window.location.hash,
    names: () => texts('#rig-table tbody th'),
    row(name: string) {
      const found = [...document.querySelectorAll('#rig-table tbody tr')].find(
        (each) => each.querySelector('th')?.textContent === name,
      );
      if (!found) throw new Error(`${name} is not in the document`);
      return found;
    },
    /** Replaces parts of each answer with changes. */
    editChanges(edit: (changes: FleetChanges) => object): void {
      link.edit = (path, status, text) => {
        if (!path.includes('/changes')) return [status, text];
        const changes = JSON.parse(text);
        return [status, JSON.stringify({ ...changes, ...edit(changes) })];
      };
    },
  };
}

export type OpenPage = Awaited<ReturnType<typeof openPage>>;
