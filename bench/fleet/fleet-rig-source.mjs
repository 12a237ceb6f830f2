// The connection of a rig to its fleet and its source of work, as `pickaxe mine --nats` makes them.

import { systemClock } from '#pickaxe/base/system/clock.js';
import { NatsLink } from '#pickaxe/fleet/nats/nats-link.js';
import { FleetSource } from '#pickaxe/fleet/rig/fleet-source.js';
import { FleetSubjects } from '#pickaxe/fleet/subjects.js';

const PREFIX = 'pickaxe';

/** @param servers their URLs @param rig its name */
export function fleetRigSource(servers, rig) {
  const subjects = new FleetSubjects(PREFIX);
  const settings = { servers, name: rig, inbox: subjects.inbox(rig) };
  const link = new NatsLink(settings, { clock: systemClock, random: Math.random });
  link.open();
  return new FleetSource({ name: servers[0], link, subjects, rig });
}
