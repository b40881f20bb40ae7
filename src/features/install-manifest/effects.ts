import { command } from '../../kernel/argv.ts';
import { counted } from '../../kernel/counted.ts';
import type { Around, ExpectationTypes, Performed } from '../../kernel/effect-type.ts';
import { Fault } from '../../kernel/fault.ts';
import { K } from '../../kernel/kinds.ts';
import type { KubeObject } from '../../kernel/object.ts';
import { type Clock, type ClusterReader, isPassing } from '../../kernel/ports.ts';
import { AGAIN, look, THEN_AGAIN, text } from '../../kernel/step.ts';
import { conditionOf } from '../../kube/pod-facts.ts';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'crds-established': CrdsEstablished;
  }
}

export const manifestExpectations: Pick<ExpectationTypes, 'crds-established'> = {
  'crds-established': {
    wait: waitCrds,
    text: ({ names }) => `${counted(names.length, 'CRD')} to be established`,
  },
};

/** The server has taken these definitions over: it serves what they define. */
interface CrdsEstablished {
  readonly type: 'crds-established';
  readonly names: readonly string[];
}

type Wait = Pick<Around, 'stop' | 'report'> & { readonly timeoutMs: number };

/** The server needs some hundredths of a second. */
const APART_MS = 250;

/** Waits until the server serves what was defined. Throws Fault `timeout` (naming what it does not, and why) or `interrupted`. */
export async function waitCrds(
  { cluster, clock }: { readonly cluster: Pick<ClusterReader, 'get'>; readonly clock: Clock },
  { names }: CrdsEstablished,
  { timeoutMs, stop, report }: Wait,
): Promise<Performed> {
  const until = clock.now().getTime() + timeoutMs;
  // One by one, and only what is open: a list would return every definition of the cluster, with its schema.
  let open: readonly Lag[] = names.map((name) => ({ name, why: 'not seen yet' }));
  for (;;) {
    open = (await Promise.all(open.map(({ name }) => lagOf(cluster, name)))).filter((one) => one !== undefined);
    report(names.length - open.length, names.length, 'CRDs established', open[0] && textOf(open[0]));
    if (open.length === 0) return {};
    if (stop.aborted) throw new Fault('interrupted', 'stopped while waiting for the CRDs', [AGAIN]);
    if (clock.now().getTime() >= until) throw tooLate(open, timeoutMs);
    await clock.sleep(APART_MS, stop).catch(() => undefined);
  }
}

interface Lag {
  readonly name: string;
  readonly why: string;
}

async function lagOf(cluster: Pick<ClusterReader, 'get'>, name: string): Promise<Lag | undefined> {
  try {
    const crd = await cluster.get(K.CustomResourceDefinition, name);
    const why = crd ? notEstablished(crd) : 'does not exist';
    return why === undefined ? undefined : { name, why };
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    return { name, why: `the API server gives no answer: ${thrown.message}` };
  }
}

/** Names that are taken are why it is not established, and say more. */
function notEstablished(crd: KubeObject): string | undefined {
  const established = conditionOf(crd, 'Established');
  if (established?.status === 'True') return undefined;
  const names = conditionOf(crd, 'NamesAccepted');
  return (names?.status === 'False' ? names : established)?.message ?? 'not established yet';
}

function tooLate(open: readonly Lag[], timeoutMs: number): Fault {
  return new Fault('timeout', `CRDs not established after ${Math.round(timeoutMs / 1000)} s: ${open.map(textOf).join('; ')}`, [
    look(text`see why with: ${command`kubectl describe crd ${open.map(({ name }) => name)}`}`),
    THEN_AGAIN,
  ]);
}

function textOf({ name, why }: Lag): string {
  return `${name}: ${why}`;
}
