/** Calls NVIDIA's management library (NVML) through koffi, which is imported only when it is needed. */

import { promisify } from 'node:util';

/** The types of parameters and their names in C. `out` and `inout` are pointers to what the function fills in. */
const TYPES = {
  text: 'str',
  number: 'unsigned int',
  handle: 'void *',
  'out number': 'unsigned int *',
  'out handle': 'void **',
  'inout bytes': 'uint8_t *',
} as const;
type Type = keyof typeof TYPES;

/**
 * Calls a function on one of libuv's threads, so that a slow driver does not block JavaScript.
 * @returns an nvmlReturn_t
 */
export type Call = (...args: unknown[]) => Promise<number>;

export class NvmlLibrary {
  readonly #koffi: typeof import('koffi');
  readonly #library: import('koffi').LibraryHandle;

  private constructor(koffi: typeof import('koffi'), library: import('koffi').LibraryHandle) {
    this.#koffi = koffi;
    this.#library = library;
  }

  /**
   * @param path the library's name or path for the system's loader
   * @throws Error that says what is missing.
   */
  static async load(path: string): Promise<NvmlLibrary> {
    const koffi = await import('koffi').catch((error: Error) => {
      const remedy = 'install pickaxe with its optional packages (not with --omit=optional)';
      throw new Error(
        `koffi, the package that calls NVIDIA’s management library, does not load (${firstLine(error)}): ${remedy}`,
      );
    });
    try {
      return new NvmlLibrary(koffi, koffi.load(path));
    } catch (error) {
      const remedy = 'it comes with NVIDIA’s driver; a container gets it with NVIDIA_DRIVER_CAPABILITIES=utility';
      throw new Error(`NVIDIA’s management library does not load (${firstLine(error as Error)}): ${remedy}`);
    }
  }

  /** @returns undefined when this version of the library has no such function */
  optional(name: string, ...parameters: Type[]): Call | undefined {
    const types = parameters.map((each) => {
      if (each.startsWith('out')) return this.#koffi.out(TYPES[each]);
      return each.startsWith('inout') ? this.#koffi.inout(TYPES[each]) : TYPES[each];
    });
    try {
      return promisify(this.#library.func(name, 'int', types).async) as Call;
    } catch {
      return undefined;
    }
  }

  /** @throws Error when this version of the library has no such function. */
  required(name: string, ...parameters: Type[]): Call {
    const call = this.optional(name, ...parameters);
    if (!call) throw new Error(`NVIDIA’s management library has no ${name}: update NVIDIA’s driver`);
    return call;
  }

  /** @returns the library's text for an nvmlReturn_t */
  reason(code: number): string {
    try {
      return this.#library.func('nvmlErrorString', 'str', ['int'])(code) ?? `error ${code}`;
    } catch {
      return `error ${code}`;
    }
  }
}

const firstLine = (error: Error) => error.message.split('\n')[0];
