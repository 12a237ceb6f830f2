/** Temperature limits that an operator of the fleet sets. They can only be lower than the rig's own. */

import type { DeviceKind } from '../engine/device.ts';

interface Limits {
  readonly stopCelsius: number;
  readonly resumeCelsius: number;
}

export type LimitsOf = (kind: DeviceKind, name: string) => Limits | undefined;

/** A device resumes this many °C below a limit of the fleet where the rig has no limits of its own. */
const COOL_BY_C = 10;

export class FleetLimits {
  /** In °C, by the kind of the device. */
  readonly #celsius: { cpu: number | null; gpu: number | null } = { cpu: null, gpu: null };

  /** @param celsius null takes the limit back */
  set(kind: DeviceKind, celsius: number | null): void {
    this.#celsius[kind] = celsius;
  }

  /** @param own the rig's own limits @returns the lower ones, to be asked for at each reading */
  within(own: LimitsOf): LimitsOf {
    return (kind, name) => {
      const ownLimits = own(kind, name);
      const celsius = this.#celsius[kind];
      if (celsius === null || (ownLimits && ownLimits.stopCelsius <= celsius)) return ownLimits;
      const coolBy = ownLimits ? ownLimits.stopCelsius - ownLimits.resumeCelsius : COOL_BY_C;
      return { stopCelsius: celsius, resumeCelsius: celsius - coolBy };
    };
  }
}
