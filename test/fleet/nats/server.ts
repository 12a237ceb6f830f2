/**
 * Real NATS servers on this machine. If the program is missing, tests that need it are skipped and say so, except in
 * CI, where they fail.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer, type PortKind, type ServerProcess, startServer } from '#pickaxe/fleet/nats/server-program.js';
import { atFileEnd } from '../../file-end.ts';

export const program = await findServer();
if (!program && process.env.CI) throw new Error('CI must try fleets: install nats-server');

export const noServer = program === undefined;
/** Part of test titles. */
export const whyNoServer = program ? '' : ' (skipped: there is no nats-server; apt-get install nats-server)';

/** @returns the configuration of a server @param ports those that it had before; -1 for any free one */
type Config = (ports: Readonly<Record<PortKind, number>>) => string;

/** Listens for clients, and lets everybody in. */
export const OPEN: Config = ({ client }) => `listen: "127.0.0.1:${client}"\n`;

export class TestServer {
  readonly #folder: string;
  #config: Config;
  readonly #listens: readonly PortKind[];
  #ports: Readonly<Record<PortKind, number>> = { client: -1, route: -1, leafnode: -1 };
  #running: ServerProcess | undefined;

  private constructor(folder: string, config: Config, listens: readonly PortKind[]) {
    this.#folder = folder;
    this.#config = config;
    this.#listens = listens;
  }

  static async start(config: Config = OPEN, listens: readonly PortKind[] = ['client']): Promise<TestServer> {
    const server = new TestServer(await mkdtemp(join(tmpdir(), 'pickaxe-nats-')), config, listens);
    atFileEnd(() => server.stop());
    await server.restart();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.#ports.client}`;
  }

  get ports(): Readonly<Record<PortKind, number>> {
    return this.#ports;
  }

  get log(): string {
    return this.#running?.log.join('\n') ?? '';
  }

  /** Starts it again on the same ports, after `kill`. */
  async restart(config: Config = this.#config): Promise<void> {
    if (!program) throw new Error('there is no nats-server');
    this.#config = config;
    this.#running = await startServer({
      program,
      config: config(this.#ports),
      folder: this.#folder,
      listens: this.#listens,
    });
    this.#ports = { ...this.#ports, ...this.#running.ports };
  }

  /** Kills the process, which can do nothing about it. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** The server's process stands still: its connections stay open, and it answers nothing. */
  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  /** Lets the server read another configuration while it runs. */
  async reconfigure(config: Config): Promise<void> {
    if (!this.#running) throw new Error('the server does not run');
    this.#config = config;
    await writeFile(this.#running.configFile, config(this.#ports));
    this.#signal('SIGHUP');
  }

  async stop(): Promise<void> {
    await this.#end('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  #signal(signal: NodeJS.Signals): void {
    this.#running?.process.kill(signal);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.#signal(signal);
    await this.#running?.ended;
    this.#running = undefined;
  }
}

/**
 * Starts servers that are a cluster. Each knows all others when it is restarted.
 * @param more further lines of each configuration
 */
export async function startCluster(count = 3, more = ''): Promise<readonly TestServer[]> {
  const cluster: TestServer[] = [];
  for (let number = 0; number < count; number++) {
    const config: Config = ({ client, route }) => {
      const others = cluster.filter((each) => each !== cluster[number]);
      const routes = others.map(({ ports }) => `"nats://127.0.0.1:${ports.route}"`);
      return [
        `server_name: "s${number}"`,
        `listen: "127.0.0.1:${client}"`,
        `cluster { name: "test", listen: "127.0.0.1:${route}", routes: [${routes.join(', ')}] }`,
        more,
      ].join('\n');
    };
    cluster.push(await TestServer.start(config, ['client', 'route']));
  }
  return cluster;
}

/** @returns a configuration of a leaf node of another server, which must listen for leaf nodes */
export function leafOf(hub: TestServer): Config {
  return ({ client }) =>
    `listen: "127.0.0.1:${client}"\nleafnodes { remotes: [{ url: "nats://127.0.0.1:${hub.ports.leafnode}" }] }\n`;
}

/** Listens for clients and leaf nodes. */
export const HUB: Config = ({ client, leafnode }) =>
  `listen: "127.0.0.1:${client}"\nleafnodes { listen: "127.0.0.1:${leafnode}" }\n`;
