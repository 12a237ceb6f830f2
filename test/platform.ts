import { onTestFinished } from 'vitest';

/** Until the test ends, `process.platform` names another system. */
export function pretendPlatform(platform: string): void {
  const own = Object.getOwnPropertyDescriptor(process, 'platform')!;
  onTestFinished(() => void Object.defineProperty(process, 'platform', own));
  Object.defineProperty(process, 'platform', { ...own, value: platform });
}
