// The connection of a rig to its fleet and its source of work, as `pickaxe mine --nats` makes them.

import { NatsLink } from '#pickaxe/nats/nats-link.js';
import { FleetSource } from '#pickaxe/source/fleet/fleet-source.js';
import { systemClock } from '#pickaxe/system/clock.js';
import { FleetSubjects } from '#pickaxe/wire/fleet.js';

const PREFIX = 'pickaxe';

/** @param servers their URLs @param name the rig's @param wrap returns what the source uses in place of the link */
export function fleetRigSource(servers, name, wrap = (link) => link) {
  const subjects = new FleetSubjects(PREFIX);
  const settings = { servers, name, inbox: subjects.inbox(name) };
  const connection = new NatsLink(settings, { clock: systemClock, random: Math.random });
  connection.open();
  const link = wrap(connection);
  return { connection, link, subjects, source: new FleetSource({ name: servers[0], link, subjects, rig: name }) };
}
