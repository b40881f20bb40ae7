import type { ExpectationTypes, Performed } from '../../kernel/effect-type.ts';
import { type EndPart, type OperatorMemory, operatorVerdict } from './operator-verdict.ts';
import { readOperatorView } from './read-operator.ts';
import { readSettledFacts } from './settled-facts.ts';
import { isUntouched, settledVerdict } from './settled-rule.ts';
import { type EndExpected, type OperatorExpected, type Ports, type SettledExpected, type Wait, waitEnd } from './wait-end.ts';

/** Milliseconds between two looks; the second rule lists workloads of the whole cluster. */
const PAUSE_MS = { end: 2_000, settled: 5_000 };

/** By `operatorVerdict`. */
export function waitOperator(ports: Ports, expected: OperatorExpected, wait: Wait): Promise<Performed> {
  const { cluster, clock } = ports;
  const look = async (now: number, before: OperatorMemory) =>
    operatorVerdict(await readOperatorView(cluster, expected, now, clock.now().getTime()), before, expected.part);
  const { points } = NAMES[expected.part ?? 'all'];
  return waitEnd(ports, expected, { points, of: signsOf(expected), look, pauseMs: PAUSE_MS.end }, wait);
}

/** By `settledVerdict`. */
export async function waitSettled(ports: Ports, expected: SettledExpected, wait: Wait): Promise<Performed> {
  const { cluster, clock } = ports;
  let wasTouched = true;
  const look = async () => {
    const facts = await readSettledFacts(cluster, expected, clock.now().getTime());
    wasTouched = !isUntouched(facts);
    return settledVerdict(facts);
  };
  await waitEnd(ports, expected, { points: 4, of: signsOf(expected), look, pauseMs: PAUSE_MS.settled }, wait);
  return wasTouched || expected.firstOf ? {} : { told: UNTOUCHED };
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
