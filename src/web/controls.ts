/** Pause and resume, where the miner allows it. */

import type { Status } from '../report/http/schemas.ts';
import { byId, setAttribute } from './dom.ts';

export type Action = 'pause' | 'resume';

/** What pressing a button does. `device` is a name; without it, the button is for all devices. */
type Act = (action: Action, device?: string) => Promise<void>;

export class Controls {
  readonly #act: Act;

  constructor(act: Act) {
    this.#act = act;
    for (const action of ['pause', 'resume'] as const) {
      const button = byId<HTMLButtonElement>(`${action}-all`);
      button.addEventListener('click', () => this.act(action, button));
    }
  }

  show({ control, devices }: Status): void {
    const all = Object.values(devices).filter(({ state }) => state !== 'parked');
    byId('controls').hidden = !control || all.length === 0;
    const resting = all.filter(({ state }) => state === 'paused').length;
    setAttribute(byId('pause-all'), 'aria-disabled', String(resting === all.length));
    setAttribute(byId('resume-all'), 'aria-disabled', String(resting === 0));
  }

  /** Buttons that have nothing to do stay where they are and keep the focus, unlike disabled ones. */
  async act(action: Action, button: HTMLButtonElement, device?: string): Promise<void> {
    if (button.getAttribute('aria-disabled') === 'true' || button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    await this.#act(action, device);
    button.removeAttribute('aria-busy');
  }
}
