/** Makes the sidecars that the settings ask for. Each has a file in `sidecars/`. */

import type { ServedPage } from '../terminal/page-link.ts';
import type { LiveConfig } from './live-config.ts';
import type { Sidecar } from './run-miner.ts';
import { notices } from './sidecars/notices.ts';
import { activity, alarm, battery, restartOnChange, schedule } from './sidecars/pausing.ts';
import { terminal } from './sidecars/terminal.ts';

/** What sidecars know besides the settings. */
interface Beside {
  readonly usesStdin: boolean;
  /** The HTTP server says where it serves the page, and the terminal shows it. */
  readonly page: { served?: ServedPage };
}

/**
 * Sidecars start in this order and end in the reverse order. A factory returns undefined when the settings do not ask
 * for its sidecar. Sidecars that need a library are imported only when they are used.
 */
const FACTORIES: readonly ((live: LiveConfig, beside: Beside) => Promise<Sidecar | undefined>)[] = [
  async (live) => (live.files.length > 0 ? (await import('./sidecars/reload.ts')).reload(live) : undefined),
  notices,
  (live) => restartOnChange(live, ({ alarm }) => alarm, alarm),
  (live) => restartOnChange(live, ({ pause }) => pause.onBattery, battery),
  (live) => restartOnChange(live, ({ pause }) => pause.onActivity, activity),
  (live) => restartOnChange(live, ({ pause }) => pause.schedule, schedule),
  async ({ config }, { usesStdin, page }) => terminal(config, usesStdin, () => page.served),
  async () => (process.env.NOTIFY_SOCKET ? (await import('./systemd.ts')).systemd() : undefined),
  async ({ config: { http } }, { page }) => {
    if (http.listen === undefined) return undefined;
    const { httpSidecar } = await import('./sidecars/http.ts');
    return httpSidecar(http, (served) => {
      page.served = served;
    });
  },
];

/**
 * @param usesStdin whether stdin is used for something else than keys
 * @throws UsageError when a sidecar cannot run here
 */
export async function sidecarsOf(live: LiveConfig, usesStdin = false): Promise<Sidecar[]> {
  const sidecars: Sidecar[] = [];
  const beside: Beside = { usesStdin, page: {} };
  for (const make of FACTORIES) {
    const sidecar = await make(live, beside);
    if (sidecar) sidecars.push(sidecar);
  }
  return sidecars;
}
