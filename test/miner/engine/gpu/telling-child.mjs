// A GPU's child process without a GPU: it opens nothing, and sends the readings of a pretended card. Its argument is
// the path of the pretended sysfs.

import { startPulse } from '#pickaxe/miner/engine/gpu/child/child.js';
import { openSensors } from '#pickaxe/miner/engine/gpu/gpu-sensors.js';

const [, , sysfs] = process.argv;

process.on('disconnect', () => process.exit(0));
process.on('message', async ({ type, card, pulseMs }) => {
  if (type !== 'open') return;
  const sensors = await openSensors(card, { sysfs });
  startPulse(pulseMs, sensors, (telemetry) => process.send({ type: 'pulse', ...(telemetry && { telemetry }) }));
  const variant = { shader: 'wgsl', workgroupSize: 64, trips: 16 };
  const tuning = {
    variant,
    hashesPerSecond: 1e6,
    batchMs: 8,
    variants: [{ variant, hashesPerSecond: 1e6 }],
    batches: [],
  };
  process.send({
    type: 'opened',
    model: 'a card',
    driver: 'a driver',
    tuning,
    why: 'pretended',
    sensors: sensors.what,
  });
});
