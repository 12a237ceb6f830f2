/** Whether the server of the page is in reach, and the token that it may require. */

import { ApiError, type Requests } from './api.ts';
import { byId, setText } from './dom.ts';
import { clockSeconds } from './format.ts';

/**
 * Characters that are not part of a token: spaces and invisible ones may be pasted with it, and are invalid in a
 * header.
 */
const NO_PART = /[^\x21-\x7e]/g;

/** Start of the fragment of a link. Browsers do not send fragments to the server. */
const IN_LINK = '#token=';

export class Reach {
  readonly #requests: Requests;
  readonly #server: string;

  /** @param server the word for the server of the page in sentences for people: `miner` */
  constructor(requests: Requests, server: string) {
    this.#requests = requests;
    this.#server = server;
  }

  /** Prompts for the token until the server accepts it. */
  async withToken<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        const answer = await ask();
        endAsking();
        return answer;
      } catch (fault) {
        if (!(fault instanceof ApiError) || fault.status !== 401) throw fault;
        this.showReached();
        const wrong = this.#requests.hasToken ? `The ${this.#server} does not accept this token.` : '';
        this.#requests.useToken(await askForToken(wrong));
      }
    }
  }

  /** @returns whether the server was out of reach before */
  showReached(): boolean {
    const wasAway = document.body.classList.contains('away');
    document.body.classList.remove('away');
    byId('banner').hidden = true;
    return wasAway;
  }

  /** @param timeMillis the time of the figures that are shown; undefined before the first figures */
  showFault(fault: unknown, timeMillis: number | undefined): void {
    document.body.classList.add('away');
    const when = timeMillis === undefined ? '' : ` The figures are those of ${clockSeconds(timeMillis)}.`;
    setText(byId('banner'), `${this.#whatIsWrong(fault)}${when} Trying again.`);
    byId('banner').hidden = false;
  }

  /** Uses the token of the link that opened the page, and the tokens of links that are followed later. */
  followLinks(): void {
    this.#useLink();
    // Reloads, because requests may be waiting for a token.
    window.addEventListener('hashchange', () => this.#useLink() && location.reload());
  }

  #whatIsWrong(fault: unknown): string {
    if (fault instanceof ApiError) return `The ${this.#server} answers with an error: ${fault.message}.`;
    if (fault instanceof TypeError || fault instanceof DOMException) return `The ${this.#server} cannot be reached.`;
    return `This page has failed: ${fault}.`;
  }

  /** If the page is open already, following a link only changes the fragment. */
  #useLink(): boolean {
    const token = tokenOfLink();
    if (token !== undefined) this.#requests.useToken(token);
    return token !== undefined;
  }
}

/** @returns the token of the link that opened the page, which is removed from the address; undefined without one */
function tokenOfLink(): string | undefined {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(IN_LINK)) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  try {
    return decodeURIComponent(hash.slice(IN_LINK.length)).replaceAll(NO_PART, '') || undefined;
  } catch {
    // The link was cut off within an escape such as %41, so the page prompts for the token.
    return undefined;
  }
}

/** @param wrong a sentence about the last token, which was refused; empty at the first prompt */
function askForToken(wrong: string): Promise<string> {
  const form = byId<HTMLFormElement>('token-form');
  const input = byId<HTMLInputElement>('token');
  setText(byId('token-fault'), wrong);
  input.setAttribute('aria-invalid', String(wrong !== ''));
  showForm(form, true);
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

/** Shows the figures again after a token was accepted. */
function endAsking(): void {
  const form = byId<HTMLFormElement>('token-form');
  if (form.hidden) return;
  byId<HTMLInputElement>('token').value = '';
  showForm(form, false);
  byId('main').focus();
}

function showForm(form: HTMLFormElement, asked: boolean): void {
  form.hidden = !asked;
  byId('main').hidden = asked;
}
