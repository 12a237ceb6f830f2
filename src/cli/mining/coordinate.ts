/** `pickaxe coordinate`: gives the work of nodes or pools to the rigs of a fleet, over NATS. */

import type { Command } from 'commander';
import type { Loaded } from '../../app/config/load.ts';
import type { Line } from '../io.ts';
import { MINING, settingsOf, withSettings } from '../usage/options.ts';
import { declareMining } from './mine.ts';

export function declare(coordinate: Command, line: Line): void {
  withSettings(coordinate, 'node', 'pool', 'miner', 'nats', 'blocks', ...MINING, 'test-network');
  const load = async (refuses: boolean) =>
    ownDevicesOnly(await settingsOf(coordinate, refuses ? 'coordinate' : undefined, { coordinates: true }));
  declareMining(coordinate, { load, coordinates: true }, line);
  const devices = coordinate.options.find(({ long }) => long === '--devices');
  if (devices) devices.description = devices.description.replace('default: all', 'default: none');
  coordinate.addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  # give the work of a node to the rigs of a fleet
  pickaxe coordinate --nats nats://10.0.0.2:4222 -o http://10.0.0.3:1848 --network mainnet01 -u KEY
  # on a server that asks for credentials, with a name of its own, and a web page at http://127.0.0.1:8080
  pickaxe coordinate --nats tls://nats.example:4222 --nats-credentials c1.nk --rig-name c1 --http 8080
  # with ASICs beside the fleet
  pickaxe coordinate --nats nats://10.0.0.2:4222 --stratum-listen 0.0.0.0:1917

The rigs of the fleet run: pickaxe mine --nats URL. This machine's own devices mine only if --devices names them.`;

/** A coordinator often shares a machine with a node, which needs the CPU. So by default, no device mines. */
function ownDevicesOnly({ config, ...loaded }: Loaded): Loaded {
  if (loaded.origins.has('devices.use')) return { config, ...loaded };
  return { config: { ...config, devices: { ...config.devices, use: [] } }, ...loaded };
}
