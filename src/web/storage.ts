/** Keeps values in the browser, where it is allowed to. Otherwise the user is asked again. */

type Kind = 'localStorage' | 'sessionStorage';

export function recall(kind: Kind, name: string): string | null {
  try {
    return window[kind].getItem(name);
  } catch {
    return null;
  }
}

export function keep(kind: Kind, name: string, value: string): void {
  try {
    window[kind].setItem(name, value);
  } catch {
    // Forbidden, or full.
  }
}
