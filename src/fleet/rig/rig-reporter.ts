/** Makes a rig's reports from its events and its status. */

import { version } from '../../base/system/version.ts';
import { oneLine } from '../../base/text/plain-text.ts';
import type { MinerEvent } from '../../miner/events/events.ts';
import type { DeviceStatus, RigStatus } from '../../rig/status/status.ts';
import { MOST_DEVICES, MOST_TEXT, type ReportedDevice, type RigReport } from '../rig-report.ts';
import { MOST_NAME } from '../subjects.ts';

/** Minimum number of proofs from which a proven hashrate is reported. From 30 proofs, it is accurate to about ±35 %. */
const LEAST_PROOFS = 30;

export interface RigIdentity {
  /** 16 hex digits, chosen at random when the rig starts. */
  readonly instance: string;
  readonly group?: string | undefined;
  /** Whether the rig's owner lets operators control it. */
  readonly control: boolean;
  /** The name of the coordinator in this process, whose work the devices mine; undefined without one. */
  readonly ownCoordinator?: string | undefined;
  /**
   * The name of the rig's source. If the source is a fleet, the status lists the fleet and each of its coordinators as
   * sources.
   */
  readonly sourceName?: string | undefined;
}

export class RigReporter {
  readonly #identity: RigIdentity;
  readonly #counts = { found: 0, accepted: 0, rejected: 0, stale: 0, unknown: 0 };

  constructor(identity: RigIdentity) {
    this.#identity = identity;
  }

  /** Counts only solutions of the rig's own devices. Workers of a relay may report their solutions themselves. */
  readonly listen = (event: MinerEvent): void => {
    if ((event.type !== 'solution' && event.type !== 'verdict') || event.isRelay) return;
    if (event.type === 'solution') this.#counts.found++;
    else if (event.outcome !== 'delivered') this.#counts[event.outcome]++;
  };

  /** @returns the report; undefined for a rig without devices, which has nothing to report */
  report(status: RigStatus): RigReport | undefined {
    const { instance, group, control } = this.#identity;
    const devices = Object.entries(status.devices);
    if (devices.length === 0) return undefined;
    return {
      instance,
      version: oneLine(version, MOST_TEXT),
      group: group ?? null,
      uptimeSeconds: status.uptimeSeconds,
      state: status.state,
      stateReason: textOf(status.stateReason),
      coordinator: this.#coordinator(status),
      hashesPerSecond: status.hashesPerSecond,
      provenHashesPerSecond: devices.some(([, device]) => isProven(device)) ? status.provenHashesPerSecond : null,
      hashes: status.hashes,
      ...this.#counts,
      hardwareErrors: status.hardwareErrors,
      control,
      devices: devices.slice(0, MOST_DEVICES).map(([name, device]) => reported(name, device)),
    };
  }

  /**
   * @returns the name of the coordinator whose work is mined; null if there is none. The status of a fleet's rig lists
   *   each coordinator as a source, under the coordinator's name
   */
  #coordinator({ sourceKind, sources }: RigStatus): string | null {
    const { ownCoordinator = null, sourceName } = this.#identity;
    if (sourceKind !== 'fleet') return ownCoordinator;
    const inUse = Object.entries(sources).find(([name, { state }]) => state === 'connected' && name !== sourceName);
    const [name] = inUse ?? [];
    return name === undefined || name === '' || name.length > MOST_NAME ? null : name;
  }
}

function reported(name: string, device: DeviceStatus): ReportedDevice {
  const { temperatureCelsius, hotspotCelsius, powerWatts } = device.sensors;
  return {
    name: name.slice(0, MOST_NAME),
    kind: device.kind,
    model: textOf(device.model),
    state: device.state,
    reason: textOf(device.reason),
    hashesPerSecond: device.hashesPerSecond,
    provenHashesPerSecond: isProven(device) ? device.provenHashesPerSecond : null,
    celsius: temperatureCelsius ?? hotspotCelsius,
    watts: powerWatts,
    hardwareErrors: device.hardwareErrors,
    reopens: device.reopens,
  };
}

function isProven({ proven }: DeviceStatus): boolean {
  return proven !== null && proven.proofs >= LEAST_PROOFS;
}

function textOf(text: string | null): string | null {
  return text === null ? null : oneLine(text, MOST_TEXT);
}
