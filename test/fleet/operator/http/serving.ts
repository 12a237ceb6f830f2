/** A fleet that does what a test tells it, served with its API and page. */

import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import type { AskRig } from '#pickaxe/fleet/operator/ask-rigs.js';
import type { FleetRig, FleetStatus } from '#pickaxe/fleet/operator/fleet-status.js';
import { serveFleet } from '#pickaxe/fleet/operator/http/fleet-server.js';
import type { Http, ServerOptions } from '#pickaxe/rig/http/http-server.js';
import { SyntheticFleet } from '../../../../bench/fleet/synthetic-fleet.mjs';
import { asker } from '../../../rig/http/serving.ts';
import { FakeClock } from '../../../rig/status/fakes.ts';

/** A moment by the wall clock. */
const START_MS = 1_700_000_000_000;

export class ServedFleet {
  readonly clock = new FakeClock();
  readonly fleet: SyntheticFleet;
  readonly logged: string[] = [];
  /** Changes what the fleet says of itself. */
  edit: (status: FleetStatus) => FleetStatus = (status) => status;
  /** How often the status was computed. */
  computed = 0;
  #http: Http | undefined;
  #url = '';

  constructor(rigs: number) {
    this.fleet = new SyntheticFleet(rigs, START_MS);
  }

  get url(): string {
    return this.#url;
  }

  get ask() {
    return asker(Number(new URL(this.#url).port));
  }

  /** Serves until the test has ended. */
  async serve(options: Partial<ServerOptions> = {}, ask: AskRig = this.fleet.ask): Promise<this> {
    const status = () => {
      this.computed++;
      return this.edit(this.fleet.status() as FleetStatus);
    };
    const log = pino({}, { write: (line) => void this.logged.push(JSON.parse(line).msg) });
    const settings = { host: '127.0.0.1', port: 0, control: false, ...options };
    const context = { log, clock: this.clock, instance: '0123456789abcdef' };
    const http = await serveFleet({ status, ask }, settings, context);
    this.#http = http;
    onTestFinished(() => this.close());
    this.#url = http.url;
    return this;
  }

  async close(): Promise<void> {
    await this.#http?.close();
    this.#http = undefined;
  }

  /** Lets time pass, in which rigs report. */
  advance(ms: number): void {
    this.clock.advance(ms);
    this.fleet.advance(ms);
  }

  /** Replaces figures of a rig. */
  change(name: string, part: Partial<FleetRig>): void {
    const { edit } = this;
    this.edit = (status) => {
      const before = edit(status);
      return { ...before, rigs: before.rigs.map((rig) => (rig.name === name ? { ...rig, ...part } : rig)) };
    };
  }
}
