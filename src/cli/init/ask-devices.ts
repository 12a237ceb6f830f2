/** Asks what to mine with. */

import { checkbox } from '@inquirer/prompts';
import { DeviceError } from '../../engine/engine.ts';
import { type Gpu, listGpus } from '../../engine/gpu/list-gpus.ts';
import { thisMachine } from '../../system/machine.ts';
import type { Answers } from './answers.ts';
import { say } from './say.ts';

export async function askDevices(): Promise<Pick<Answers, 'devices'>> {
  const gpus = await list();
  const usable = gpus.filter(({ usable }) => usable);
  say(...gpus.filter(({ usable }) => !usable).map(({ name, model, why }) => `${name}, ${model}, is not used: ${why}`));
  if (usable.length === 0) {
    say(`the CPU mines: ${thisMachine().cpu}`);
    return {};
  }
  const devices = await checkbox({
    message: 'Devices to mine with',
    required: true,
    choices: [
      { name: `cpu   ${thisMachine().cpu}`, value: 'cpu', checked: true },
      ...usable.map(({ name, model }) => ({ name: `${name.padEnd(5)} ${model}`, value: name, checked: true })),
    ],
  });
  // All devices are the default, which also counts for devices that are added later.
  return devices.length === usable.length + 1 ? {} : { devices };
}

async function list(): Promise<readonly Gpu[]> {
  try {
    return await listGpus();
  } catch (fault) {
    if (!(fault instanceof DeviceError)) throw fault;
    say(`no GPU: ${fault.message}`);
    return [];
  }
}
