import type { GuardedPatch, PatchAll } from '../kernel/action.ts';
import { counted } from '../kernel/counted.ts';
import { spaced } from '../kernel/each-of.ts';
import type { Around, EnginePorts } from '../kernel/effect-type.ts';
import { Fault, MovedOn, messageOf, Outdated } from '../kernel/fault.ts';
import { kindsOf } from '../kernel/kinds.ts';
import { type Kind, type ObjectRef, refText } from '../kernel/object.ts';
import { ApiFailure, TOO_MUCH } from '../kernel/ports.ts';
import { THEN_AGAIN } from '../kernel/step.ts';

/** Answers about this one object: missing right, admission webhook, a kind without patch. Others may still be patched. */
const REFUSED = new Set([400, 403, 405]);
/** This many refused objects are named, the rest are counted. */
const NAMED = 5;

/** A failed `test` has no causes; a 422 with causes is the server's evaluation of the result, and trying again is in vain. */
function isInvalid({ status, causes }: ApiFailure): boolean {
  return status === 422 && causes.length > 0;
}

function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ApiFailure && ((REFUSED.has(thrown.status) && thrown.reason !== `HTTP ${thrown.status}`) || isInvalid(thrown));
}

/** One Fault for all of them; `of` is how many patches there were. */
function refusal(refused: readonly string[], of: number): Fault {
  const named = refused.slice(0, NAMED).join('; ');
  const more = refused.length > NAMED ? `; and ${refused.length - NAMED} more` : '';
  return new Fault('failed', `the server refuses ${refused.length} of ${counted(of, 'patch', 'patches')}: ${named}${more}`, [
    'let this account patch these objects, or fix what its admission webhooks object to; the others are done',
    THEN_AGAIN,
  ]);
}

/** Answers that say: this object is no longer as it was read. */
export const MOVED_ON: ReadonlySet<number> = new Set([404, 409, 422]);
/** Answers, or none, after which the same patch is sent again: its tests ensure that nothing is done twice. */
const AGAIN = new Set([0, 500, 502, 503, 504]);
const TRIES = 3;
const PAUSE_MS = 1_000;
/** In flight at most, unless the user says otherwise: the API server queues more, it does not answer faster, and others wait longer. */
const WIDEST = 16;

export type PatchingParts = Pick<Around, 'limits' | 'mustHold' | 'stop' | 'report'>;

/**
 * Performs guarded patches in parallel; resolves to how many. A misfit (`Outdated`: planned again) or a refusal (named at the end) does not
 * stop the others; any other failure does, once requests in flight have ended.
 */
export async function patchAll(
  ports: Pick<EnginePorts, 'cluster' | 'clock'>,
  { patches, what }: Pick<PatchAll, 'patches' | 'what'>,
  parts: PatchingParts,
): Promise<string> {
  const patching = new Patching(ports, patches.length, what, parts);
  const queue = patches[Symbol.iterator]();
  const worker = async () => {
    for (const patch of queue) if (!(await patching.perform(patch))) return;
  };
  const { parallel = WIDEST } = parts.limits;
  await Promise.all(Array.from({ length: Math.min(parallel, patches.length) }, worker));
  return patching.outcome();
}

class Patching {
  readonly #ports: Pick<EnginePorts, 'cluster' | 'clock'>;
  readonly #of: number;
  readonly #what: string;
  readonly #parts: PatchingParts;
  readonly #turn: () => Promise<void>;
  readonly #kindOf: (ref: ObjectRef) => Promise<Kind>;
  readonly #movedOn: string[] = [];
  readonly #refused: string[] = [];
  readonly #startedAt: number;
  #done = 0;
  #failure: unknown;

  constructor(ports: Pick<EnginePorts, 'cluster' | 'clock'>, of: number, what: string, parts: PatchingParts) {
    this.#ports = ports;
    this.#of = of;
    this.#what = what;
    this.#parts = parts;
    this.#turn = spaced(ports.clock, parts.limits.qps);
    this.#kindOf = kindsOf(ports.cluster);
    this.#startedAt = this.#now();
  }

  /** False if no more patches are to be sent. */
  async perform(patch: GuardedPatch): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#turn();
      if (this.#failure !== undefined || this.#parts.stop.aborted) return false;
      const thrown = await this.#send(patch);
      if (thrown === undefined) return true;
      if (!(await this.#goesOn(patch, thrown, attempt))) return this.#failure === undefined;
    }
  }

  outcome(): string {
    if (this.#failure !== undefined) throw this.#failure;
    const [first] = this.#movedOn;
    const [of, hasWritten] = [counted(this.#of, 'object'), this.#done > 0];
    if (first) throw new MovedOn(`${this.#movedOn.length} of ${of} changed meanwhile: ${first}`, undefined, hasWritten);
    const isWhole = this.#done + this.#refused.length === this.#of;
    if (!isWhole) throw new Outdated(`stopped after ${this.#done} of ${of}`, undefined, hasWritten);
    if (this.#refused.length > 0) throw refusal(this.#refused, this.#of);
    return of;
  }

  /** Resolves to what was thrown, if anything was. */
  async #send({ target, patch, uid }: GuardedPatch): Promise<unknown> {
    try {
      const kind = await this.#kindOf(target);
      this.#parts.mustHold();
      await this.#ports.cluster.patch(kind, { ...target, uid }, patch, 'kubectl');
      this.#done += 1;
      this.#parts.report(this.#done, this.#of, this.#what, this.#speed());
      return undefined;
    } catch (thrown) {
      return thrown;
    }
  }

  /** True if the same patch is to be sent once more. */
  async #goesOn({ target }: GuardedPatch, thrown: unknown, attempt: number): Promise<boolean> {
    // Refused for want of time, and the user has asked to stop: nothing is wrong with it.
    if (this.#parts.stop.aborted && thrown instanceof ApiFailure && thrown.status === TOO_MUCH) return false;
    if (isRefusal(thrown)) this.#refused.push(`${refText(target)}: ${messageOf(thrown)}`);
    else if (thrown instanceof ApiFailure && MOVED_ON.has(thrown.status)) this.#movedOn.push(`${refText(target)}: ${messageOf(thrown)}`);
    else if (thrown instanceof ApiFailure && AGAIN.has(thrown.status) && attempt < TRIES) {
      await this.#ports.clock.sleep(PAUSE_MS * attempt);
      return true;
    } else this.#failure ??= thrown;
    return false;
  }

  /** `250/s, 12 s left`; nothing before there is a second to go by. */
  #speed(): string | undefined {
    const seconds = (this.#now() - this.#startedAt) / 1000;
    if (seconds < 1) return undefined;
    const rate = this.#done / seconds;
    return `${Math.round(rate)}/s, ${Math.ceil((this.#of - this.#done) / rate)} s left`;
  }

  #now(): number {
    return this.#ports.clock.now().getTime();
  }
}
