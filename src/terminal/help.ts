/** Key `?`: the keys. */

export const KEYS = {
  h: 'hashrate of each device: 10 s, 60 s, 15 min, highest, and how much of it is proven',
  p: 'pause all devices',
  r: 'resume',
  s: 'results: shares, blocks, luck, effort, best difficulty',
  c: 'connection: nodes or pools, current work, New Cuts',
  w: 'workers that hash for this rig: sessions, estimated hashrates, shares',
  e: 'health of each device: failures, hardware errors, temperature, power',
  l: 'link to the web page with its token, and a QR code of it',
  '?': 'these keys',
  q: 'quit, after pending submissions',
} as const;

export type KeyName = keyof typeof KEYS;

export function help(): string[] {
  return Object.entries(KEYS).map(([key, what]) => `${key}  ${what}`);
}
