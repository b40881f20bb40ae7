import { command } from '../../kernel/command.ts';
import { counted } from '../../kernel/counted.ts';
import {
  type Around,
  announced,
  type EffectTypes,
  type EnginePorts,
  type ExpectationTypes,
  type Performed,
  type PreconditionTypes,
} from '../../kernel/effect-type.ts';
import { Fault, MovedOn, Outdated } from '../../kernel/fault.ts';
import { sizeOf } from '../../kernel/hidden.ts';
import { sameValue } from '../../kernel/json.ts';
import type { Kind, KubeObject } from '../../kernel/object.ts';
import { type Clock, type ClusterReader, isPassing } from '../../kernel/ports.ts';
import { AGAIN, text } from '../../kernel/step.ts';
import { type CliCall, cliList } from '../service-cli/index.ts';
import { listed } from '../survey/index.ts';
import { type PoliciesSettled, pendingNow, valueAt } from './stored-policies.ts';

/** The switch of the renaming says `Disabled`, and the cluster has stored it: a CRD that does not know the field drops it silently. */
interface RenamingHeld {
  readonly type: 'renaming-held';
  readonly kind: Kind;
  readonly name: string;
  readonly field: string;
}

/** The policies of these names are in the key-value store as they were read. */
interface PoliciesAsRead {
  readonly type: 'policies-as-read';
  readonly cli: CliCall;
  readonly names: readonly string[];
  readonly found: readonly KubeObject[];
}

/** A copy of stored policies on this machine, 0600, and the command that creates them again. */
interface CopyPolicy {
  readonly type: 'copy-policy';
  readonly file: string;
  readonly content: string;
  readonly restoredBy: string;
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
    if (wait.stop.aborted) throw new Fault('interrupted', 'stopped while waiting for the policies’ new names', [AGAIN]);
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
    text`then run the same command again; or omit --until controllers, and remove the references first: ${command`kubectl netsvc-upgrade ownerrefs strip`}`,
  ]);
}

function tooLate(pending: readonly string[], timeoutMs: number): Fault {
  return new Fault(
    'timeout',
    `${counted(pending.length, 'policy', 'policies')} without a new name after ${Math.round(timeoutMs / 1000)} s: ${listed(pending)}`,
    [
      'look at the log of the controllers: they rename policies once every agent is rolled out',
      text`then run the same command again; or hold the renaming: ${command`kubectl netsvc-upgrade apply --until controllers`}`,
    ],
  );
}

/** Throws MovedOn where somebody changed, added or deleted one meanwhile. */
async function assertAsRead(ports: Pick<EnginePorts, 'tools'>, { cli, names, found }: PoliciesAsRead): Promise<void> {
  const now = (await cliList(ports, cli, 'globalnetworkpolicies')).filter(({ metadata: { name } }) => names.includes(name));
  if (!sameValue(now, found)) throw new MovedOn(`the policy ${names[0]} changed meanwhile`, { done: false });
}

declare module '../../kernel/action.ts' {
  interface Effects {
    readonly 'copy-policy': CopyPolicy;
  }
  interface Expectations {
    readonly 'policies-settled': PoliciesSettled;
    readonly 'renaming-held': RenamingHeld;
  }
  interface Preconditions {
    readonly 'policies-settled': PoliciesSettled;
    readonly 'policies-as-read': PoliciesAsRead;
  }
}

export const policyEffects: Pick<EffectTypes, 'copy-policy'> = {
  'copy-policy': {
    does: 'files',
    isFixed: true,
    async perform({ machine }, { file, content, restoredBy }) {
      await machine.writeNew(file, content);
      return { detail: file, told: `copied to ${file}; to create it again: ${restoredBy}` };
    },
    dryRun: announced,
    text: ({ file }) => `write ${file} (0600)`,
    mask: (effect) => ({ ...effect, content: sizeOf(effect.content) }),
    // Its folder carries the time of the command.
    digest: ({ type, content }) => ({ type, content }),
  },
};

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

export const policyPreconditions: Pick<PreconditionTypes, 'policies-settled' | 'policies-as-read'> = {
  'policies-settled': { assert: (ports, expected, { stop }) => assertSettled(ports, expected, stop) },
  'policies-as-read': { assert: assertAsRead },
};
