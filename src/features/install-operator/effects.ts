import type { ExpectationTypes, Performed } from '../../kernel/effect-type.ts';
import { type EndPart, type OperatorMemory, operatorVerdict } from './operator-verdict.ts';
import { readOperatorView } from './read-operator.ts';
import { type List, listing, readSettledFacts } from './settled-facts.ts';
import { isUntouched, settledVerdict } from './settled-rule.ts';
import { type EndExpected, type OperatorExpected, type Ports, type SettledExpected, type Wait, waitEnd } from './wait-end.ts';
import { NotYet, Watched } from './watched.ts';

const POLL_MS = 2_000;

/** By `operatorVerdict`, which is asked every two seconds. */
export function waitOperator(ports: Ports, expected: OperatorExpected, wait: Wait): Promise<Performed> {
  const { cluster, clock } = ports;
  const look = async (now: number, before: OperatorMemory) =>
    operatorVerdict(await readOperatorView(cluster, expected, now, clock.now().getTime()), before, expected.part);
  const pause = () => clock.sleep(POLL_MS, wait.stop).catch(() => undefined);
  return waitEnd(ports, expected, { points: NAMES[expected.part ?? 'all'].points, of: signsOf(expected), look, pause }, wait);
}

/** By `settledVerdict`, whenever a watch has heard of something. */
export async function waitSettled(ports: Ports, expected: SettledExpected, wait: Wait): Promise<Performed> {
  const { cluster, clock } = ports;
  const end = new AbortController();
  const watched = new Watched(cluster, clock, AbortSignal.any([end.signal, wait.stop]));
  const facts = (list: List) => readSettledFacts(list, expected, clock.now().getTime());
  const seenNow = async () => {
    for (;;) {
      const seen = await facts(watched.list).catch((thrown: unknown) => {
        if (thrown instanceof NotYet && !wait.stop.aborted) return undefined;
        throw thrown;
      });
      if (seen) return seen;
      await watched.change();
    }
  };
  let told: string | undefined;
  const look = async () => settledVerdict(await seenNow());
  // A watch may have heard nothing for a while: the end is what the cluster itself says now.
  const confirm = async () => {
    const last = await facts(listing(cluster));
    told = isUntouched(last) ? UNTOUCHED : undefined;
    return settledVerdict(last);
  };
  try {
    await waitEnd(ports, expected, { points: 4, of: signsOf(expected), look, confirm, pause: () => watched.change() }, wait);
    return told === undefined ? {} : { told };
  } finally {
    end.abort();
  }
}

const UNTOUCHED = 'all components were of this release before the operator started: nothing shows whether it acted';

declare module '../../kernel/action.ts' {
  interface Expectations {
    readonly 'operator-end': OperatorExpected;
    readonly 'operator-settled': SettledExpected;
  }
}

const textOf = ({ target: { release }, firstOf, part }: EndExpected): string =>
  firstOf
    ? `the operator to upgrade the first pod of DaemonSet/${firstOf.namespace}/${firstOf.name} to ${release}`
    : `the operator to have ${NAMES[part ?? 'all'].what} at ${release}`;

const NAMES: Readonly<Record<EndPart, { readonly what: string; readonly signs: string; readonly points: number }>> = {
  all: { what: 'every component', signs: 'signs that the operator is done', points: 5 },
  agents: { what: 'every agent', signs: 'signs that every agent is replaced', points: 2 },
  typha: { what: 'Typha', signs: 'signs that Typha is replaced', points: 2 },
  api: { what: 'the v3 API', signs: 'signs that the v3 API has moved', points: 2 },
  others: { what: 'every other component', signs: 'signs that all but Typha and the controllers is replaced', points: 3 },
};

const signsOf = ({ part }: EndExpected): string => NAMES[part ?? 'all'].signs;

export const operatorExpectations: Pick<ExpectationTypes, EndExpected['type']> = {
  'operator-end': { wait: waitOperator, text: textOf },
  'operator-settled': { wait: waitSettled, text: textOf },
};
