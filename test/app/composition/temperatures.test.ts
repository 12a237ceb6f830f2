import { expect, it } from 'vitest';
import { limitsOf } from '#pickaxe/app/composition/choose-engines.js';
import { DEFAULTS } from '#pickaxe/app/config/settings.js';

const limits = (changes: Partial<typeof DEFAULTS.devices>) => {
  const devices = { ...DEFAULTS.devices, ...changes };
  return [limitsOf(devices, 'cpu'), limitsOf(devices, 'gpu')];
};

it('the CPU and GPUs have limits of their own, and resume 10 °C below them unless a setting says otherwise', () => {
  const cpu = { stopCelsius: 105, resumeCelsius: 95 };
  const gpu = { stopCelsius: 90, resumeCelsius: 80 };
  expect(limits({})).toEqual([cpu, gpu]);
  expect(limits({ cpuTempLimit: 85 })).toEqual([{ stopCelsius: 85, resumeCelsius: 75 }, gpu]);
  expect(limits({ cpuTempResume: 60 })).toEqual([{ stopCelsius: 105, resumeCelsius: 60 }, gpu]);
  expect(limits({ cpuTempLimit: 'none' })).toEqual([undefined, gpu]);
  expect(limits({ tempLimit: 'none' })).toEqual([cpu, undefined]);
});

it('a GPU may have limits of its own', () => {
  const devices = {
    ...DEFAULTS.devices,
    tempLimit: [{ value: 85 }, { gpu: 'gpu0', value: 80 }, { gpu: 'gpu1', value: 'none' as const }],
    tempResume: [{ gpu: 'gpu0', value: 60 }],
  };
  expect(limitsOf(devices, 'gpu', 'gpu0')).toEqual({ stopCelsius: 80, resumeCelsius: 60 });
  expect(limitsOf(devices, 'gpu', 'gpu1')).toBeUndefined();
  expect(limitsOf(devices, 'gpu', 'gpu2')).toEqual({ stopCelsius: 85, resumeCelsius: 75 });
  expect(limitsOf(devices, 'cpu', 'cpu')).toEqual({ stopCelsius: 105, resumeCelsius: 95 });
});
