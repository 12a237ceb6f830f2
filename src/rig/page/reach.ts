/** Shows whether the page's server can be reached, and prompts for a token if the server requires one. */

import { ApiError, type Requests } from './api.ts';
import { byId, setText } from './dom.ts';
import { clockSeconds } from './format.ts';

/**
 * Matches characters that are removed from a token. Spaces and invisible characters may be pasted together with a
 * token, and most of them are invalid in a header.
 */
const NO_PART = /[^\x21-\x7e]/g;

/** Start of a link's fragment that contains a token. Browsers do not send the fragment of a link to the server. */
const IN_LINK = '#token=';

export class Reach {
  readonly #requests: Requests;
  readonly #server: string;

  /** @param server what the page's server is called in sentences for people, such as `miner` */
  constructor(requests: Requests, server: string) {
    this.#requests = requests;
    this.#server = server;
  }

  /** Calls `ask`. As long as the server refuses the token, prompts for a token and calls `ask` again. */
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

  /** Shows that the server can be reached. @returns whether the page showed a fault until now */
  showReached(): boolean {
    const wasAway = document.body.classList.contains('away');
    document.body.classList.remove('away');
    byId('banner').hidden = true;
    return wasAway;
  }

  /** @param timeMillis time of the shown figures, in ms since the UNIX epoch; undefined before the first figures */
  showFault(fault: unknown, timeMillis: number | undefined): void {
    document.body.classList.add('away');
    const when = timeMillis === undefined ? '' : ` The figures are those of ${clockSeconds(timeMillis)}.`;
    setText(byId('banner'), `${this.#whatIsWrong(fault)}${when} Trying again.`);
    byId('banner').hidden = false;
  }

  /** Uses the token of the link that opened the page, and the tokens of links that are followed later. */
  followLinks(): void {
    this.#useLink();
    // Following a link to the open page changes only the fragment. The page is then reloaded, because requests may be
    // waiting for a token.
    window.addEventListener('hashchange', () => this.#useLink() && location.reload());
  }

  #whatIsWrong(fault: unknown): string {
    if (fault instanceof ApiError) return `The ${this.#server} answers with an error: ${fault.message}.`;
    if (fault instanceof TypeError || fault instanceof DOMException) return `The ${this.#server} cannot be reached.`;
    return `This page has failed: ${fault}.`;
  }

  /** Uses the token in the fragment of the page's address. @returns whether the fragment contains a token */
  #useLink(): boolean {
    const token = tokenOfLink();
    if (token !== undefined) this.#requests.useToken(token);
    return token !== undefined;
  }
}

/** Removes the token from the fragment of the page's address. @returns the token; undefined if there is none */
function tokenOfLink(): string | undefined {
  const { hash, pathname, search } = location;
  if (!hash.startsWith(IN_LINK)) return undefined;
  history.replaceState(null, '', `${pathname}${search}`);
  try {
    return decodeURIComponent(hash.slice(IN_LINK.length)).replaceAll(NO_PART, '') || undefined;
  } catch {
    // The link was cut off within an escape such as %41, so its token is incomplete.
    return undefined;
  }
}

/** @param wrong a sentence about the previous token if the server refused it; otherwise empty */
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

/** Hides the prompt for the token, and shows the figures again. */
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
