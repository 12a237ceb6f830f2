import { type Clock, systemClock } from '#pickaxe/base/system/clock.js';

/** The system's clock, with a list of the repeated timers that were set with it and still run. */
export function watchedClock(): { readonly clock: Clock; readonly intervalsMs: () => number[] } {
  const running = new Map<object, number>();
  const clock: Clock = {
    ...systemClock,
    setInterval: (act, ms) => {
      const timer = systemClock.setInterval(act, ms);
      running.set(timer, ms);
      const { cancel } = timer;
      return Object.assign(timer, {
        cancel: () => {
          running.delete(timer);
          cancel();
        },
      });
    },
  };
  return { clock, intervalsMs: () => [...running.values()] };
}
