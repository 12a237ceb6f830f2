import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { FleetRig } from '#pickaxe/fleet/operator/fleet-status.js';
import { RIG_STATES } from '#pickaxe/rig/status/status.js';
import { fleetRig, reportedDevice } from '../messages.ts';
import { ServedFleet } from './serving.ts';

/** @returns the value of each series by its name and labels */
function samplesOf(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

async function metrics(served: ServedFleet, query = ''): Promise<Map<string, number>> {
  const { status, text, headers } = await served.ask(`/metrics${query}`);
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('text/plain');
  return samplesOf(text);
}

it('metrics of a fleet have its sums', async () => {
  const served = await new ServedFleet(300).serve();
  const { json: now } = await served.ask('/api/v1/fleet');
  const samples = await metrics(served);
  const expected = {
    pickaxe_fleet_connected: 1,
    'pickaxe_fleet_rigs{state="mining"}': now.rigsMining,
    'pickaxe_fleet_rigs{state="paused"}': now.rigsPaused,
    'pickaxe_fleet_rigs{state="silent"}': now.rigsSilent,
    'pickaxe_fleet_rigs{state="no-device"}': 0,
    pickaxe_fleet_rigs_faulty: now.rigsFaulty,
    'pickaxe_fleet_solutions{verdict="accepted"}': now.accepted,
    'pickaxe_coordinator_up{coordinator="north"}': 1,
    'pickaxe_coordinator_rigs{coordinator="south"}': now.coordinators[1].rigs,
    'pickaxe_fleet_ignored_messages_total{reason="too-fast"}': 0,
    'pickaxe_http_refused_total{reason="wrong-token"}': 0,
  };
  for (const [name, value] of Object.entries(expected)) expect([name, samples.get(name)]).toEqual([name, value]);
  expect(samples.get('pickaxe_fleet_hashrate_hashes_per_second')).toBeCloseTo(now.hashesPerSecond, -3);
  const ofGroups = [...samples].filter(([name]) => name.startsWith('pickaxe_fleet_group_rigs{'));
  expect(ofGroups.reduce((sum, [, rigs]) => sum + rigs, 0)).toBe(300);
  expect(ofGroups.map(([name]) => name)).toContain('pickaxe_fleet_group_rigs{group="(none)"}');
});

it('a thousand rigs are no more series than ten, unless each is asked for', async () => {
  const few = await metrics(await new ServedFleet(60).serve());
  const served = await new ServedFleet(1_000).serve();
  const many = await metrics(served);
  const own = (samples: ReadonlyMap<string, number>) =>
    [...samples.keys()].filter((name) => name.startsWith('pickaxe_'));
  expect(own(many)).toEqual(own(few));
  const each = await metrics(served, '?rigs=each');
  const ofRigs = [...each.keys()].filter((name) => name.startsWith('pickaxe_fleet_rig_'));
  // Silent rigs have no hashrate.
  expect(ofRigs.length).toBe(4 * 1_000 - 11);
  expect(each.get('pickaxe_fleet_rig_up{rig="rig-0001"}')).toBe(1);
  expect(each.get('pickaxe_fleet_rig_up{rig="rig-0014"}')).toBe(0);
  expect(own(await metrics(served))).toEqual(own(many));
  expect((await served.ask('/metrics?rigs=all')).status).toBe(400);
});

it('a coordinator is up if neither it nor its source is lost', async () => {
  const served = new ServedFleet(1);
  served.edit = (status) => {
    const [one] = status.coordinators;
    const coordinators = [
      { ...one, name: 'up', silent: false, lost: null },
      { ...one, name: 'silent', silent: true, lost: null },
      { ...one, name: 'lost', silent: false, lost: 'its node is down' },
    ];
    return { ...status, coordinators };
  };
  await served.serve();
  const samples = await metrics(served);
  const isUp = (name: string) => samples.get(`pickaxe_coordinator_up{coordinator="${name}"}`);
  expect(['up', 'silent', 'lost'].map(isUp)).toEqual([1, 0, 0]);
});

it('64 groups are each named, and no others', async () => {
  const served = new ServedFleet(64);
  served.edit = (status) => ({
    ...status,
    rigs: status.rigs.map((rig, at): FleetRig => ({ ...rig, group: `g${at}` })),
  });
  await served.serve();
  const groups = [...(await metrics(served)).keys()].filter((key) => key.startsWith('pickaxe_fleet_group_rigs{'));
  expect(groups).toHaveLength(64);
  expect(groups.join()).not.toContain('(others)');
});

it('of groups of one size, the first ones by name are named', async () => {
  const served = new ServedFleet(66);
  served.edit = (status) => ({
    ...status,
    rigs: status.rigs.map((rig, at): FleetRig => ({ ...rig, group: `g${165 - at}` })),
  });
  await served.serve();
  const groups = [...(await metrics(served)).keys()].filter((key) => key.startsWith('pickaxe_fleet_group_rigs{'));
  const named = Array.from({ length: 64 }, (_, at) => `pickaxe_fleet_group_rigs{group="g${100 + at}"}`);
  expect(groups.sort()).toEqual(['pickaxe_fleet_group_rigs{group="(others)"}', ...named]);
});

it('rigs and coordinators cannot make more series than the bound, whatever they call themselves', async () => {
  const served = new ServedFleet(500);
  served.edit = (status) => ({
    ...status,
    rigs: status.rigs.map(
      (rig, at): FleetRig => ({ ...rig, group: at < 200 ? 'large' : `g${at}"}\n# HELP x y\u001b[31m` }),
    ),
    coordinators: Array.from({ length: 200 }, (_, at) => ({ ...status.coordinators[0], name: `c${at}` })),
  });
  await served.serve();
  const samples = await metrics(served);
  const of = (name: string) => [...samples].filter(([key]) => key.startsWith(`${name}{`));
  expect(of('pickaxe_fleet_group_rigs')).toHaveLength(65);
  expect(samples.get('pickaxe_fleet_group_rigs{group="large"}')).toBe(200);
  expect(samples.get('pickaxe_fleet_group_rigs{group="(others)"}')).toBe(500 - 200 - 63);
  expect(of('pickaxe_coordinator_up')).toHaveLength(64);
});

it('the highest temperature is that of the hottest device of all rigs that report', async () => {
  const served = new ServedFleet(4);
  const rigs: FleetRig[] = [
    fleetRig('cool', { devices: [reportedDevice({ celsius: 50 })] }),
    fleetRig('hot', { devices: [reportedDevice({ celsius: 90 }), reportedDevice({ celsius: 20 })] }),
    fleetRig('mild', { devices: [reportedDevice({ celsius: 60 }), reportedDevice({ celsius: null })] }),
    fleetRig('silent', { silent: true, devices: [reportedDevice({ celsius: 99 })] }),
  ];
  let shown = rigs;
  served.edit = (status) => ({ ...status, rigs: shown });
  await served.serve();
  const name = 'pickaxe_fleet_highest_temperature_celsius';
  expect((await metrics(served)).get(name)).toBe(90);
  // The server may keep a status for a moment.
  served.advance(60_000);
  shown = rigs.filter(({ silent }) => silent);
  expect((await metrics(served)).has(name)).toBe(false);
});

it('sums leave out what silent rigs and devices without a sensor have said, and count what the others have', async () => {
  const served = new ServedFleet(1);
  const devices = [reportedDevice({ watts: 300, reopens: 1 }), reportedDevice({ watts: null })];
  const rigs: FleetRig[] = [
    fleetRig('mining', { devices, hardwareErrors: 6, hashesPerSecond: 5 }),
    fleetRig('paused', { state: 'paused', devices: [reportedDevice({ watts: 20 })], hashesPerSecond: 0 }),
    fleetRig('silent', { silent: true, devices, hashesPerSecond: 7 }),
    fleetRig('twice', { duplicate: true, group: 'g', devices: [], hashesPerSecond: 11 }),
  ];
  served.edit = (status) => ({ ...status, rigs });
  await served.serve();
  const samples = await metrics(served);
  const own = [...samples].filter(([name]) => /^pickaxe_fleet_(rigs|group|faults|power)/.test(name));
  expect(own).toEqual([
    ...RIG_STATES.map((state) => [
      `pickaxe_fleet_rigs{state="${state}"}`,
      { mining: 2, paused: 1 }[state as string] ?? 0,
    ]),
    ['pickaxe_fleet_rigs{state="silent"}', 1],
    ['pickaxe_fleet_rigs_faulty', samples.get('pickaxe_fleet_rigs_faulty')],
    ['pickaxe_fleet_rigs_duplicate', 1],
    ['pickaxe_fleet_faults', 7],
    ['pickaxe_fleet_power_watts', 320],
    ['pickaxe_fleet_group_rigs{group="(none)"}', 3],
    ['pickaxe_fleet_group_rigs{group="g"}', 1],
    ['pickaxe_fleet_group_rigs_mining{group="(none)"}', 1],
    ['pickaxe_fleet_group_rigs_mining{group="g"}', 1],
    ['pickaxe_fleet_group_hashrate_hashes_per_second{group="(none)"}', 5],
    ['pickaxe_fleet_group_hashrate_hashes_per_second{group="g"}', 11],
  ]);
});

it('a rig that has gone is in no later answer', async () => {
  const served = new ServedFleet(4);
  let shown = ['stays', 'goes'];
  served.edit = (status) => ({ ...status, rigs: shown.map((name) => fleetRig(name)) });
  await served.serve();
  const up = async () => {
    const samples = await metrics(served, '?rigs=each');
    return ['stays', 'goes'].map((name) => samples.get(`pickaxe_fleet_rig_up{rig="${name}"}`));
  };
  expect(await up()).toEqual([1, 1]);
  served.advance(60_000);
  shown = ['stays'];
  expect(await up()).toEqual([1, undefined]);
});

it('figures of each rig do not stay in memory once they are answered', async () => {
  const asked = vi.spyOn(Registry.prototype, 'metrics');
  onTestFinished(() => asked.mockRestore());
  const served = await new ServedFleet(100).serve();
  const kept = async () => {
    const registries = await Promise.all(
      asked.mock.contexts.map((registry) => (registry as Registry).getMetricsAsJSON()),
    );
    return registries.flat().flatMap(({ values }) => values.filter(({ labels }) => 'rig' in labels));
  };
  for (let time = 1; time <= 2; time++) {
    const samples = await metrics(served, '?rigs=each');
    expect([...samples.keys()].filter((name) => name.includes('{rig="')).length).toBeGreaterThan(100);
    expect(asked.mock.contexts).toHaveLength(2 * time);
    expect(await kept()).toEqual([]);
  }
});
