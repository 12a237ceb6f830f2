/** Faults of nodes, rigs and fleets. */

import type { Random } from '#pickaxe/mock-node/random.js';
import type { DeviceMode } from '../engine.ts';
import type { SettingsFile, SimulatedCoordinator, SimulatedMember } from '../members.ts';
import type { SimulatedNats } from '../nats.ts';
import type { Following, NodeMode, SimulatedNode } from '../node.ts';
import type { SimulatedRig } from '../rigs.ts';
import type { Faults, Simulation } from '../simulation.ts';

export interface Faulty {
  readonly simulation: Simulation;
  readonly nodes: readonly SimulatedNode[];
  readonly rigs: readonly SimulatedRig[];
}

export const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)];

export function nodeFaults({ simulation, nodes }: Omit<Faulty, 'rigs'>): Faults {
  // A fault of a node that nobody mines on shows nothing. So where all faults come alone, the preferred node has them.
  const pickNode = (random: Random) => (simulation.options.alone ? nodes[0] : pick(random, nodes));
  const mode = (kind: NodeMode) => (random: Random) => {
    const node = pickNode(random);
    node.mode = kind;
    if (kind === 'down') node.endStreams();
    simulation.note(`${node.name} is ${kind}`);
    simulation.endLater(random, 60_000, () => {
      if (node.mode !== kind) return;
      node.mode = 'fine';
      if (kind === 'down') node.catchUp();
    });
  };
  const following = (whom: Following, mostMs: number) => (random: Random) => {
    const node = pickNode(random);
    node.following = whom;
    simulation.note(`${node.name} follows ${whom}`);
    simulation.endLater(random, mostMs, () => node.following === whom && node.catchUp());
  };
  const setClock = (random: Random, mostMs: number) => {
    const node = pickNode(random);
    const ms = (random() - 0.5) * mostMs;
    node.setClock(ms);
    simulation.note(`the clock of ${node.name} is ${ms.toFixed(0)} ms ahead`);
  };
  return {
    'a node is down': mode('down'),
    'a node is busy': mode('busy'),
    'a node loses answers': mode('losing answers'),
    'a node refuses solutions': mode('refusing'),
    'answers of a node break off': mode('breaking off'),
    'a node is slow': mode('slow'),
    'a node closes every connection': mode('closing connections'),
    'a node gives no work': mode('without work'),
    'a node takes no solutions': mode('taking no solutions'),
    'a node gives wrong work': mode('giving wrong work'),
    'a node gives stale work': mode('giving stale work'),
    'blocks come late to a node': following('late', 120_000),
    'a node is alone': following('nobody', 120_000),
    'a node is frozen': (random) => {
      const { process } = pickNode(random);
      process.freeze();
      simulation.endLater(random, 20_000, () => process.thaw());
    },
    'a node restarts': (random) => pickNode(random).restart(),
    'the streams of a node are deaf': (random) => {
      const node = pickNode(random);
      node.isDeaf = true;
      simulation.endLater(random, 90_000, () => {
        node.isDeaf = false;
      });
    },
    // No step is longer than a second and a half, which is what miners allow for.
    'the clock of a node is set': (random) => setClock(random, 1_400),
    'the clock of a node is set far': (random) => setClock(random, 40_000),
    'a block is replaced': (random) => pickNode(random).reorganise(Math.floor(random() * 6)),
    'many blocks come at once': (random) => {
      for (let at = 0; at < 100; at++) {
        simulation.after(at * 15, () => {
          const node = pickNode(random);
          if (node.mode !== 'down') node.growBy(Math.floor(random() * 6));
        });
      }
    },
  };
}

export function rigFaults({ rigs, simulation }: Omit<Faulty, 'nodes'>): Faults {
  return {
    'a rig is killed': (random) => {
      const rig = pick(random, rigs);
      if (rig.process.isDead) return;
      rig.kill();
      simulation.endLater(random, 2_000, () => rig.process.isDead && rig.start());
    },
    'a rig is frozen': (random) => {
      const { process } = pick(random, rigs);
      process.freeze();
      simulation.endLater(random, 40_000, () => process.thaw());
    },
  };
}

/** Faults of the machines of rigs, and what their users do. */
export function machineFaults({ rigs, simulation }: Omit<Faulty, 'nodes'>): Faults {
  const device = (mode: DeviceMode, mostMs: number) => (random: Random) => {
    const { engine, process, name } = pick(random, rigs);
    if (process.isDead) return;
    simulation.note(`the device of ${name} is ${mode}`);
    engine.mode = mode;
    simulation.endLater(random, mostMs, () => {
      if (engine.mode === mode) engine.mode = 'fine';
    });
  };
  return {
    'the machine of a rig is suspended': (random) => suspend(random, pick(random, rigs), simulation),
    'a rig is paused': (random) => {
      const rig = pick(random, rigs);
      const reason = pick(random, ['user', 'battery', 'activity'] as const);
      if (rig.process.isDead || rig.pausedBy) return;
      simulation.note(`${rig.name} is paused by ${reason}`);
      rig.pause(reason);
      simulation.endLater(random, 60_000, () => rig.pausedBy === reason && rig.pause(undefined));
    },
    'a device dies': device('dead', 12_000),
    'a device hangs': device('hanging', 60_000),
    'a device reports wrong nonces': device('wrong', 60_000),
    'a device finds nothing': device('blind', 30_000),
  };
}

/**
 * Suspends the machine of a member for up to two minutes. Mostly, its monotonic clock stands still meanwhile, as
 * CLOCK_MONOTONIC does. Its connections are dead afterwards.
 */
export function suspend(random: Random, member: SimulatedMember, simulation: Simulation): void {
  if (member.process.isDead || member.process.isFrozen) return;
  if (random() < 0.7) member.process.suspend();
  else member.process.freeze();
  member.isMachineAsleep = true;
  simulation.endLater(random, 120_000, () => member.thaw());
}

export interface Configured {
  readonly member: SimulatedMember;
  readonly file: SettingsFile;
}

/** @param urls of all nodes that can be configured */
export function settingsFaults(
  configured: readonly Configured[],
  urls: readonly string[],
  { simulation }: Pick<Faulty, 'simulation'>,
): Faults {
  const running = (random: Random) =>
    pick(
      random,
      configured.filter(({ member }) => member.isComposed),
    );
  return {
    'settings change': (random) => {
      const changed = running(random);
      if (!changed) return;
      const { member, file } = changed;
      const mixed = urls.map((url) => ({ url, at: random() })).sort((a, b) => a.at - b.at);
      file.urls = mixed.slice(0, 1 + Math.floor(random() * urls.length)).map(({ url }) => url);
      simulation.note(`${member.name} is configured for ${file.urls.join(', ')}`);
      void member.reload().then(() => {
        const applied = member.config?.node.urls ?? [];
        if (applied.join() !== file.urls.join()) simulation.violate(`${member.name} does not apply its settings`);
      });
    },
    'settings are broken': (random) => {
      const broken = running(random);
      if (!broken) return;
      const { member, file } = broken;
      const before = member.config;
      file.brokenBy = pick(random, ['a mistake', 'no nodes'] as const);
      void member.reload().then(() => {
        if (member.config !== before) simulation.violate(`${member.name} applies settings with ${file.brokenBy}`);
        file.brokenBy = undefined;
      });
    },
  };
}

interface FaultyFleet extends Pick<Faulty, 'simulation'> {
  readonly coordinators: readonly SimulatedCoordinator[];
  readonly nats: SimulatedNats;
}

export function fleetFaults({ coordinators, nats, simulation }: FaultyFleet): Faults {
  return {
    'a coordinator is killed': (random) => {
      const coordinator = pick(random, coordinators);
      coordinator.kill();
      simulation.endLater(random, 8_000, () => coordinator.start());
    },
    'all coordinators are killed': (random) => {
      for (const coordinator of coordinators) coordinator.kill();
      simulation.endLater(random, 4_000, () => {
        for (const coordinator of coordinators) coordinator.start();
      });
    },
    'a coordinator is frozen': (random) => {
      const coordinator = pick(random, coordinators);
      coordinator.freeze();
      simulation.endLater(random, 40_000, () => coordinator.thaw());
    },
    'a coordinator is away': (random) => {
      const coordinator = pick(random, coordinators);
      coordinator.kill();
      simulation.endLater(random, 180_000, () => coordinator.start());
    },
    'one coordinator is away, and the others restart': (random) => {
      const [away, ...others] = coordinators;
      away.kill();
      simulation.endLater(random, 180_000, () => away.start());
      for (const [at, other] of others.entries()) {
        simulation.after(20_000 + at * 10_000 + random() * 5_000, () => other.kill());
        simulation.after(28_000 + at * 10_000, () => other.start());
      }
    },
    'the machine of a coordinator is suspended': (random) => suspend(random, pick(random, coordinators), simulation),
    'a connection is cut': (random) => pick(random, [...nats.links]).cut(random() * 30_000),
    'a connection is held': (random) => {
      pick(random, [...nats.links]).heldUntilMs = simulation.time.nowMs + random() * 15_000;
    },
    'all connections are held': (random) => {
      const untilMs = simulation.time.nowMs + random() * 12_000;
      for (const link of nats.links) link.heldUntilMs = Math.max(link.heldUntilMs, untilMs);
    },
  };
}
