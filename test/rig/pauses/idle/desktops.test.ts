import { describe, expect, it, test } from 'vitest';
import { gnomeIdleMs, macIdleMs, watchDesktop, watchMac, x11IdleMs } from '#pickaxe/rig/pauses/idle.js';

const fails = async (program: string): Promise<string> => {
  throw new Error(`${program}: not there`);
};

test('GNOME’s answer is a typed number', () => {
  expect(gnomeIdleMs('t 12345\n')).toBe(12_345);
  expect(gnomeIdleMs('')).toBeUndefined();
  expect(gnomeIdleMs('s "t 12345"')).toBeUndefined();
});

test('xprintidle’s answer is a number', () => {
  expect(x11IdleMs('2817\n')).toBe(2_817);
  expect(x11IdleMs("couldn't open display\n")).toBeUndefined();
});

test('macOS’s answer has nanoseconds among other properties', () => {
  const answer = `+-o IOHIDSystem  <class IOHIDSystem, id 0x100000333, registered, matched, active, busy 0>
    {
      "IOClass" = "IOHIDSystem"
      "HIDIdleTime" = 4206910625
      "HIDParameters" = {"HIDClickTime"=500000000,"ActuateDetents"=1}
    }
`;
  expect(macIdleMs(answer)).toBeCloseTo(4_206.91, 1);
  expect(macIdleMs('')).toBeUndefined();
});

describe('the desktop that is watched', () => {
  const bus = { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/run/user/1000/bus' };
  const both = async (program: string) => (program === 'busctl' ? 't 1000\n' : '2000\n');
  const noGnome = async (program: string) => (program === 'busctl' ? fails(program) : '2000\n');

  it('is GNOME if it answers on the session’s bus', async () => {
    const watch = await watchDesktop({ ...bus, DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' }, both);
    expect(watch?.name).toContain('GNOME');
    expect(await watch?.idleMs(0)).toBe(1_000);
  });
  it('is otherwise X11', async () => {
    const watch = await watchDesktop({ ...bus, DISPLAY: ':0' }, noGnome);
    expect(watch?.name).toContain('xprintidle');
    expect(await watch?.idleMs(0)).toBe(2_000);
  });
  it('is not an X server under Wayland, where it sees only a part of the input', async () => {
    expect(await watchDesktop({ ...bus, DISPLAY: ':0', WAYLAND_DISPLAY: 'wayland-0' }, noGnome)).toBeUndefined();
  });
  it('does not exist outside of a session, or when nothing answers', async () => {
    expect(await watchDesktop({}, both)).toBeUndefined();
    expect(await watchDesktop({ ...bus, DISPLAY: ':0' }, fails)).toBeUndefined();
    expect(await watchMac(fails)).toBeUndefined();
  });
  it('may stop answering without an error', async () => {
    let there = true;
    const watch = await watchDesktop({ DISPLAY: ':0' }, (program) => (there ? both(program) : fails(program)));
    there = false;
    expect(await watch?.idleMs(0)).toBeUndefined();
  });
});
