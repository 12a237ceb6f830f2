/** An answer to a client's request, and what follows once it is sent. */
export type Reply = ({ readonly result: unknown } | { readonly code: number; readonly words: string }) & {
  readonly afterwards?: () => void;
  /** Whether the request was a share that met its target, also where it came too late. */
  readonly metTarget?: boolean;
};
