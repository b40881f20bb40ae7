import type { ArmedFault, FaultKind } from './proxy-faults.ts';
import type { LoggedRequest, SeenRequest } from './proxy-log.ts';

/** Which request is to be spoilt, and whether clients are cut off. */
export class FaultSwitch {
  readonly #cutAll: () => void;
  #armed: ArmedFault | undefined;
  #matched = 0;
  #struck: LoggedRequest | undefined;
  #cut = false;

  /** `cutAll` breaks every connection that is open. */
  constructor(cutAll: () => void) {
    this.#cutAll = cutAll;
  }

  /** True while no client is let in. */
  get isCut(): boolean {
    return this.#cut;
  }

  arm(fault: ArmedFault): void {
    this.disarm();
    this.#armed = fault;
  }

  disarm(): LoggedRequest | undefined {
    const struck = this.#struck;
    this.#armed = undefined;
    this.#struck = undefined;
    this.#matched = 0;
    this.#cut = false;
    return struck;
  }

  /** The fault of this request, if it is the one; it strikes only once. */
  strike(request: SeenRequest & LoggedRequest): FaultKind | undefined {
    const armed = this.#armed;
    if (!armed || this.#struck || !armed.matches(request)) return undefined;
    this.#matched += 1;
    if (this.#matched < armed.nth) return undefined;
    this.#struck = request;
    return armed.kind;
  }

  /** Ends the client, and with it everything that it started: nobody gets through any more. */
  kill(): void {
    this.#cut = true;
    this.#armed?.kill?.();
    this.#cutAll();
  }
}
