import { counted } from '../../kernel/counted.ts';
import type { Around, ExpectationTypes, Performed, PreconditionTypes } from '../../kernel/effect-type.ts';
import { Fault, Outdated } from '../../kernel/fault.ts';
import type { Kind } from '../../kernel/object.ts';
import { type Clock, type ClusterReader, isPassing } from '../../kernel/ports.ts';
import { listed } from '../survey/index.ts';
import { type PoliciesSettled, pendingNow, valueAt } from './stored-policies.ts';

/** The switch of the renaming says `Disabled`, and the cluster has stored it: a CRD that does not know the field drops it silently. */
interface RenamingHeld {
  readonly type: 'renaming-held';
  readonly kind: Kind;
  readonly name: string;
  readonly field: string;
}

type Wait = Pick<Around, 'stop' | 'report'> & { readonly timeoutMs: number };

/** Milliseconds between two looks: nothing shows the migration's end, and a late policy is renamed about a second later. */
const APART_MS = 2_000;

type Ports = { readonly cluster: Pick<ClusterReader, 'get' | 'list'>; readonly clock: Clock };

/** Waits until no policy is pending, or the renaming is held. Throws Fault `timeout` (naming policies) or `interrupted`. */
export async function waitPolicies({ cluster, clock }: Ports, expected: PoliciesSettled, wait: Wait): Promise<Performed> {
  const until = clock.now().getTime() + wait.timeoutMs;
  let [most, left] = [0, 0];
  for (;;) {
    const isLast = clock.now().getTime() >= until;
    const pending = await pendingNow(cluster, expected).catch((thrown: unknown) => {
      if (isLast || !isPassing(thrown)) throw thrown;
      wait.report(most - left, most, 'policies renamed', `the API server gives no answer: ${thrown.message}`);
      return undefined;
    });
    if (pending) {
      left = pending.length;
      most = Math.max(most, left);
      wait.report(most - left, most, 'policies renamed', left === 0 ? undefined : listed(pending));
      if (left === 0) return {};
      if (isLast) throw tooLate(pending, wait.timeoutMs);
    }
    if (wait.stop.aborted)
      throw new Fault('interrupted', 'stopped while waiting for the policies’ new names', ['run the same command again']);
    await clock.sleep(APART_MS, wait.stop).catch(() => undefined);
  }
}

/** The re-check, a while after the stage's own. Throws Outdated if a policy is pending. */
async function assertSettled({ cluster, clock }: Ports, expected: PoliciesSettled, signal: AbortSignal): Promise<void> {
  await clock.sleep(APART_MS, signal).catch(() => undefined);
  const pending = await pendingNow(cluster, expected);
  if (pending.length > 0) throw new Outdated(`policies wait for their new names: ${listed(pending)}`);
}

/** Throws Fault `blocked` where the hold that was just written is not there: the controllers must not start then. */
export async function assertHeld(cluster: Pick<ClusterReader, 'get'>, { kind, name, field }: RenamingHeld): Promise<void> {
  if (valueAt(await cluster.get(kind, name), field) === 'Disabled') return;
  throw new Fault('blocked', `${kind.kind}/${name} has not kept ${field}: Disabled: the renaming of policies is not held`, [
    `see that the CRD ${kind.plural}.${kind.group} is the target's, and that nothing older writes this object`,
    'then run the same command again; or omit --hold-policy-migration, and remove the references first: kubectl netsvc-upgrade ownerrefs strip',
  ]);
}

function tooLate(pending: readonly string[], timeoutMs: number): Fault {
  return new Fault(
    'timeout',
    `${counted(pending.length, 'policy', 'policies')} without a new name after ${Math.round(timeoutMs / 1000)} s: ${listed(pending)}`,
    [
      'look at the log of the controllers: they rename policies once every agent is rolled out',
      'then run the same command again; or hold the renaming: kubectl netsvc-upgrade apply --hold-policy-migration',
    ],
  );
}

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'policies-settled': PoliciesSettled;
    readonly 'renaming-held': RenamingHeld;
  }
  interface Preconditions {
    readonly 'policies-settled': PoliciesSettled;
  }
}

export const policyExpectations: Pick<ExpectationTypes, 'policies-settled' | 'renaming-held'> = {
  'policies-settled': {
    wait: waitPolicies,
    text: () => 'stored policies to have their new names, or their renaming to be held',
  },
  'renaming-held': {
    wait: async ({ cluster }, expected) => {
      await assertHeld(cluster, expected);
      return {};
    },
    text: ({ field, kind, name }) => `${field}: Disabled of ${kind.kind}/${name}`,
  },
};

export const policyPreconditions: Pick<PreconditionTypes, 'policies-settled'> = {
  'policies-settled': { assert: (ports, expected, { stop }) => assertSettled(ports, expected, stop) },
};
