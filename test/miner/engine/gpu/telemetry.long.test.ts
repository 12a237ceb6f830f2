/**
 * The readings of a card's sensors come from its engine as long as it is open. No GPU is needed: the child pretends to
 * have one.
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { GpuEngine } from '#pickaxe/miner/engine/gpu/gpu-engine.js';
import { telemetryContract } from '../../../interfaces/telemetry-contract.ts';

const BUS = '0000:03:00.0';
const sysfs = mkdtempSync(join(tmpdir(), 'pickaxe-telling-'));
afterAll(() => rmSync(sysfs, { recursive: true }));

const hwmon = join(sysfs, 'bus/pci/devices', BUS, 'hwmon/hwmon0');
mkdirSync(hwmon, { recursive: true });
const files = { name: 'amdgpu', temp1_input: 61_000, temp2_input: 255_000, temp2_label: 'junction', fan1_input: 1_500 };
for (const [name, text] of Object.entries(files)) writeFileSync(join(hwmon, name), `${text}\n`);

const path = fileURLToPath(new URL('./telling-child.mjs', import.meta.url));
telemetryContract(
  'a GPU',
  () =>
    // The pulse is faster if the tolerated time without messages is shorter.
    new GpuEngine({
      name: 'gpu0',
      card: { vendor: 'amd', bus: BUS },
      silenceMs: 4_000,
      child: { path, args: [sysfs] },
    }),
);
