/** Where the page gets the token from: a link, or a form in place of the figures. */

import { byId, setText } from './dom.ts';

/**
 * Spaces and invisible characters, which may be pasted with a token. A token has none, and a header must not have any.
 */
const NO_PART = /[^\x21-\x7e]/g;

/** What the fragment of a link begins with. Browsers send no fragment to the server. */
const IN_LINK = '#token=';

/**
 * @returns the token of the link that opened the page, which the address then shows no more; undefined if it has none
 */
export function tokenOfLink(): string | undefined {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(IN_LINK)) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  try {
    return decodeURIComponent(hash.slice(IN_LINK.length)).replaceAll(NO_PART, '') || undefined;
  } catch {
    // A link that was cut off within %41: the page asks for the token.
    return undefined;
  }
}

/** @param wrong whether the miner has refused the last one */
export function askForToken(wrong: boolean): Promise<string> {
  const form = byId<HTMLFormElement>('token-form');
  const input = byId<HTMLInputElement>('token');
  setText(byId('token-fault'), wrong ? 'The miner does not accept this token.' : '');
  input.setAttribute('aria-invalid', String(wrong));
  show(form, true);
  input.focus();
  input.select();
  return new Promise((resolve) => {
    form.addEventListener(
      'submit',
      (event) => {
        event.preventDefault();
        resolve(input.value.replaceAll(NO_PART, ''));
      },
      { once: true },
    );
  });
}

/** Shows the figures again, once a token was accepted. */
export function endAsking(): void {
  const form = byId<HTMLFormElement>('token-form');
  if (form.hidden) return;
  byId<HTMLInputElement>('token').value = '';
  show(form, false);
  byId('main').focus();
}

function show(form: HTMLFormElement, asked: boolean): void {
  form.hidden = !asked;
  byId('main').hidden = asked;
}
