/** `--dry-run`: prints what `mine` would use, opens each device, and sends nothing to nodes, pools or a fleet. */

import type { Logger } from 'pino';
import { z } from 'zod';
import { formatHttpAddress, type HttpAddress } from '../../base/text/addresses.ts';
import { DeviceError, type Engine } from '../../miner/engine/engine.ts';
import type { WorkSource } from '../../miner/source/source.ts';
import { minerIdentity } from '../../node/client/miner-identity.ts';
import { CoreShape, deviceFault } from '../../rig/status/shapes.ts';
import { progressTo } from '../../rig/terminal/log.ts';
import type { Config } from '../config/settings.ts';
import { EXIT } from '../process/exit.ts';
import { limitsOf } from './choose-engines.ts';
import type { FleetMember } from './fleet-link.ts';
import type { RigParts } from './run-miner.ts';

const Limits = z.object({ stopCelsius: z.number(), resumeCelsius: z.number() });
type Limits = Readonly<z.infer<typeof Limits>>;

const Device = z.object({
  name: z.string(),
  usable: z.boolean(),
  model: z.string().exactOptional().describe('if usable'),
  kernel: z.string().exactOptional().describe('if usable'),
  threads: z.int().exactOptional().describe('of a CPU'),
  cores: z.array(CoreShape).exactOptional().describe('of a hybrid CPU'),
  why: z.string().describe('why this kernel and these threads, or why unusable'),
  fault: deviceFault.exactOptional().describe('if unusable'),
  temperatureLimits: Limits.exactOptional().describe('if it has any'),
});
type Device = Readonly<z.infer<typeof Device>>;

/** What `--dry-run --json` prints. */
export const DryRunPlan = z
  .object({
    node: z.string().exactOptional().describe('on a node: its URL, and who earns'),
    account: z.string().exactOptional().describe('on a node: its URL, and who earns'),
    predicate: z.string().exactOptional().describe('on a node: its URL, and who earns'),
    publicKeys: z.array(z.string()).exactOptional().describe('on a node: its URL, and who earns'),
    pool: z.string().exactOptional().describe('on a pool: its URL, and the user'),
    user: z.string().exactOptional().describe('on a pool: its URL, and the user'),
    fleet: z.string().exactOptional().describe('for a fleet: its servers, and this rig’s name in it'),
    rigName: z.string().exactOptional().describe('for a fleet: its servers, and this rig’s name in it'),
    publishes: z
      .object({ fleet: z.string(), subject: z.string() })
      .exactOptional()
      .describe('of a coordinator: the servers, and the subject of its work'),
    temperatureLimits: z
      .object({ cpu: Limits.exactOptional(), gpu: Limits.exactOptional() })
      .describe('for the CPU, and for GPUs without limits of their own'),
    devices: z.array(Device),
    stratum: z
      .object({
        listen: z.string(),
        shareSeconds: z.number(),
        tls: z.boolean(),
        ledger: z.string().exactOptional().describe('a file, if any'),
      })
      .exactOptional()
      .describe('the stratum server, if any'),
  })
  .describe('what `mine` would do');
type DryRunPlan = Readonly<z.infer<typeof DryRunPlan>>;

/**
 * Opens and closes each device, and prints the parts that `mine` would use.
 * @param member this rig or coordinator as a member of a fleet; undefined outside of a fleet
 * @returns the exit code
 */
export async function dryRun(rig: RigParts, config: Config, member: FleetMember | undefined): Promise<number> {
  const { engines, log } = rig;
  const { run, stratum } = config;
  const [cpu, gpu] = (['cpu', 'gpu'] as const).map((kind) => limitsOf(config.devices, kind));
  const devices: Device[] = [];
  for (const engine of engines) devices.push({ ...(await tryOut(engine, log)), ...heatOf(engine, config) });
  const plan: DryRunPlan = {
    ...whereAndWho(rig.source, config, member),
    temperatureLimits: { ...(cpu && { cpu }), ...(gpu && { gpu }) },
    devices,
    ...(stratum.listen && { stratum: serverOf(stratum.listen, stratum) }),
  };
  process.stdout.write(run.json ? `${JSON.stringify(plan)}\n` : `${linesOf(plan).join('\n')}\n`);
  if (devices.some(({ fault }) => fault === 'wrong-hashes')) return EXIT.wrongHashes;
  const isServed = devices.some(({ usable }) => usable) || (rig.relays ?? []).length > 0;
  return isServed ? EXIT.done : EXIT.noDevice;
}

function serverOf(listen: HttpAddress, { shareSeconds, tlsCert, ledger }: Config['stratum']) {
  const file = ledger !== undefined && { ledger };
  return { listen: formatHttpAddress(listen), shareSeconds, tls: tlsCert !== undefined, ...file };
}

function whereAndWho(
  { name: source, kind }: WorkSource,
  { pool, miner, nats }: Config,
  member: FleetMember | undefined,
): Partial<DryRunPlan> {
  if (kind === 'fleet') return { fleet: source, ...(member && { rigName: member.name }) };
  const fleet = (nats.urls ?? []).join(', ');
  const coordinator = member && { publishes: { fleet, subject: member.subjects.work(member.name) } };
  if (pool.urls !== undefined) return { pool: source, user: pool.user ?? '', ...coordinator };
  const { publicKeys = [], ...identity } = minerIdentity(miner) ?? {};
  return { node: source, ...identity, publicKeys: [...publicKeys], ...coordinator };
}

async function tryOut(engine: Engine, log: Logger): Promise<Device> {
  const { name } = engine;
  try {
    const { model, kernel, threads, cores, why, detail = why } = await engine.open(progressTo(log, name));
    const count = threads !== undefined && { threads };
    return { name, usable: true, model, kernel, ...count, ...(cores && { cores: [...cores] }), why: detail };
  } catch (error) {
    if (!(error instanceof DeviceError)) throw error;
    return { name, usable: false, why: error.message, fault: error.fault };
  } finally {
    await engine.close();
  }
}

function heatOf({ kind, name }: Engine, { devices }: Config): Pick<Device, 'temperatureLimits'> {
  const temperatureLimits = limitsOf(devices, kind, name);
  return temperatureLimits ? { temperatureLimits } : {};
}

function linesOf({ temperatureLimits: { cpu, gpu }, devices, stratum, ...plan }: DryRunPlan): string[] {
  return [
    ...sourceLines(plan),
    ...devices.map(({ name, usable, model, why }) => `${name.padEnd(7)} ${usable ? model : 'cannot be used'}: ${why}`),
    ...(devices.length > 0 ? [`heat    ${heatParts(cpu, gpu, devices).join('; ')}`] : []),
    ...(stratum
      ? [`stratum ${stratum.listen}${stratum.tls ? ' with TLS' : ''}, a share each ${stratum.shareSeconds} s`]
      : []),
  ];
}

function sourceLines({ publishes, fleet, rigName, pool, user, ...onNode }: Partial<DryRunPlan>): string[] {
  const { node, account, predicate, publicKeys = [] } = onNode;
  const rigs = publishes
    ? [`fleet   publishes work as ${publishes.subject} at ${publishes.fleet} (not connected)`]
    : [];
  if (fleet !== undefined) return [`fleet   ${fleet} (not connected), as ${rigName}`];
  if (pool !== undefined) return [`pool    ${pool} (not asked)`, `user    ${user}`, ...rigs];
  return [`node    ${node} (not asked)`, `miner   ${account}, ${predicate} of ${publicKeys.join(', ')}`, ...rigs];
}

function heatParts(cpu: Limits | undefined, gpu: Limits | undefined, devices: readonly Device[]): string[] {
  const own = devices.filter(({ name, temperatureLimits }) => name !== 'cpu' && heat(temperatureLimits) !== heat(gpu));
  return [
    `CPU: ${heat(cpu)}`,
    `GPUs: ${heat(gpu)}`,
    ...own.map(({ name, temperatureLimits }) => `${name}: ${heat(temperatureLimits)}`),
  ];
}

function heat(limits: Limits | undefined): string {
  return limits ? `pause at ${limits.stopCelsius} °C, resume at ${limits.resumeCelsius} °C` : 'no limit';
}
