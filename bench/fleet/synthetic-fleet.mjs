// A fleet that reports as a real one does: each rig once in ten seconds. The figures follow from the rigs' numbers.

const REPORT_MS = 10_000;
const SILENT_MS = 35_000;
const GROUPS = ['hall-a', 'hall-b', 'hall-c', 'container-1', 'container-2', 'attic'];
const MODELS = [
  ['NVIDIA GeForce RTX 4090', 15.2e9, 410],
  ['NVIDIA GeForce RTX 3080', 7.9e9, 290],
  ['AMD Radeon RX 7900 XTX', 9.6e9, 330],
];

/** @returns a number from 0 to 1 that looks random, and is the same for the same input */
function noise(...seeds) {
  let hash = 2166136261;
  for (const seed of seeds) hash = Math.imul(hash ^ (seed + 0x9e3779b9), 16777619);
  hash = Math.imul(hash ^ (hash >>> 15), 2246822519);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

export class SyntheticFleet {
  #reports = [];
  #byName = new Map();
  #nowMs = 0;
  #startMs;
  /** Requests that the rigs got: `[name, command]`. */
  asked = [];
  #paused = new Set();
  /** Rigs that report no more. */
  silenced = new Set();

  /** @param count number of rigs @param startMs wall clock */
  constructor(count, startMs = Date.now()) {
    this.#startMs = startMs;
    for (let at = 0; at < count; at++) {
      const isSilent = at % 97 === 13;
      const reportedMs = isSilent ? -300_000 : -Math.floor(noise(at, 1) * REPORT_MS);
      this.#reports.push({ at, name: nameOf(at), reportedMs, isSilent, report: this.#report(at, 0) });
    }
    for (const each of this.#reports) this.#byName.set(each.name, each);
  }

  get names() {
    return this.#reports.map(({ name }) => name);
  }

  /** Lets time pass: each rig whose next report is due reports. */
  advance(ms) {
    this.#nowMs += ms;
    for (const each of this.#reports) {
      if (each.isSilent || this.silenced.has(each.name)) continue;
      if (this.#nowMs - each.reportedMs < REPORT_MS) continue;
      each.reportedMs += Math.floor((this.#nowMs - each.reportedMs) / REPORT_MS) * REPORT_MS;
      each.report = this.#report(each.at, each.reportedMs);
    }
  }

  status() {
    const rigs = this.#reports
      .map(({ at, name, reportedMs, report }) => {
        const ageMs = this.#nowMs - reportedMs;
        return { name, ageSeconds: ageMs / 1000, silent: ageMs > SILENT_MS, duplicate: at % 331 === 17, ...report };
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const reporting = rigs.filter(({ silent }) => !silent);
    const sum = (all, figure) => all.reduce((total, rig) => total + figure(rig), 0);
    const isFaulty = ({ state, devices }) =>
      ['waiting-for-work', 'no-source', 'no-device'].includes(state) ||
      devices.some((device) => device.state === 'parked' || device.state === 'reopening');
    const mining = reporting.filter(({ state }) => state === 'mining');
    const counts = Object.fromEntries(
      ['found', 'accepted', 'rejected', 'stale', 'unknown'].map((count) => [count, sum(rigs, (rig) => rig[count])]),
    );
    return {
      timeMillis: this.#startMs + this.#nowMs,
      listeningSeconds: 86_400 + this.#nowMs / 1000,
      disconnected: null,
      rigsMining: mining.length,
      rigsPaused: reporting.filter(({ state }) => state === 'paused').length,
      rigsSilent: rigs.length - reporting.length,
      rigsFaulty: reporting.filter(isFaulty).length,
      hashesPerSecond: sum(reporting, (rig) => rig.hashesPerSecond),
      provenHashesPerSecond: sum(reporting, (rig) => rig.provenHashesPerSecond ?? 0),
      ...counts,
      pending: 0,
      repeats: { ratio: 2e-8, rigs: mining.length, meanHashesPerSecond: 3e10, jobSeconds: 3, nonces: 2 ** 64 },
      coordinators: ['north', 'south'].map((name, at) => {
        const own = reporting.filter(({ coordinator }) => coordinator === name);
        return {
          name,
          version: '0.1.0',
          ageSeconds: 0.4,
          silent: false,
          duplicate: false,
          lost: null,
          chain: 3 + at,
          height: 5_000_123 + at,
          workAgeSeconds: (this.#nowMs / 1000 + 11 * at) % 30,
          rigs: own.length,
          hashesPerSecond: sum(own, (rig) => rig.hashesPerSecond),
        };
      }),
      rigs,
      ignored: { malformed: 0, tooFast: 0, tooManyMembers: 0 },
    };
  }

  /** Does what the request asks for, and reports at once. */
  ask = async (name, { command }) => {
    this.asked.push([name, command]);
    const rig = this.#byName.get(name);
    if (!rig || rig.isSilent) throw new Error('it does not answer');
    if (command === 'pause') this.#paused.add(name);
    if (command === 'resume') this.#paused.delete(name);
    rig.reportedMs = this.#nowMs;
    rig.report = this.#report(rig.at, this.#nowMs);
    return { done: true, message: `${command} done` };
  };

  #report(at, nowMs) {
    const [model, hashesPerSecond, watts] = MODELS[at % MODELS.length];
    const isPaused = at % 53 === 7 || this.#paused.has(nameOf(at));
    const hasFailed = at % 71 === 5;
    const devices = Array.from({ length: 1 + (at % 8) }, (_, index) => {
      const isParked = hasFailed && index === 0;
      const mines = !isPaused && !isParked;
      return {
        name: `gpu${index}`,
        kind: 'gpu',
        model,
        state: isParked ? 'parked' : isPaused ? 'paused' : 'ready',
        reason: isParked ? 'it failed five times in a row' : isPaused ? 'by an operator' : null,
        hashesPerSecond: mines ? hashesPerSecond * (0.97 + 0.06 * noise(at, index, nowMs)) : 0,
        provenHashesPerSecond: mines ? hashesPerSecond * (0.96 + 0.08 * noise(at, index, nowMs, 2)) : null,
        celsius: mines ? 52 + Math.round(28 * noise(at, index, 3)) : 31,
        watts: mines ? Math.round(watts * (0.95 + 0.1 * noise(at, index, nowMs, 4))) : 18,
        hardwareErrors: at % 29 === 3 ? index : 0,
        reopens: hasFailed ? 5 : 0,
      };
    });
    const sum = (figure) => devices.reduce((total, device) => total + figure(device), 0);
    const accepted = Math.floor(40 * noise(at, 5)) + Math.floor(nowMs / 60_000);
    const stale = at % 11 === 0 ? 1 : 0;
    return {
      version: '0.1.0',
      group: at % 17 === 0 ? null : GROUPS[at % GROUPS.length],
      uptimeSeconds: 3_600 * (1 + (at % 400)) + nowMs / 1000,
      state: isPaused ? 'paused' : 'mining',
      stateReason: isPaused ? 'by an operator' : null,
      coordinator: at % 2 === 0 ? 'north' : 'south',
      hashesPerSecond: sum((device) => device.hashesPerSecond),
      provenHashesPerSecond: isPaused ? null : sum((device) => device.provenHashesPerSecond ?? 0),
      hashes: 1e15 * noise(at, 6) + nowMs * 1e7,
      found: accepted + stale,
      accepted,
      rejected: 0,
      stale,
      unknown: 0,
      hardwareErrors: sum((device) => device.hardwareErrors),
      control: at % 41 !== 9,
      devices,
    };
  }
}

const nameOf = (at) => `rig-${String(at + 1).padStart(4, '0')}`;
