import type { RealHost, RealLane } from './calculation-graph.ts';

type OfHosts = (address: string) => boolean;

/** Members of the sets of each rule that decides, host addresses alone, in the order of the rules. */
export function realSets(rules: readonly string[], isOfHosts: OfHosts): readonly (readonly string[])[] {
  return rules.flatMap((rule) => setsOf(rule, /Sets$/).map(([, members]) => members.filter(isOfHosts)));
}

/** The same for names of ports: for each rule and side its members `ADDRESS tcp:80`. */
export function realPorts(rules: readonly string[], isOfHosts: OfHosts): readonly (readonly [side: string, members: readonly string[]])[] {
  return rules.flatMap((rule) => {
    const bySide = Map.groupBy(setsOf(rule, /Named$/), ([side]) => side);
    return [...bySide].map(([side, some]) => [side, some.flatMap(([, members]) => members.filter(isOfHosts))] as const);
  });
}

function setsOf(rule: string, key: RegExp): readonly (readonly [side: string, members: readonly string[]])[] {
  const text = / (\{"(?:src|dst|notSrc|notDst)(?:Sets|Named)":.*\})$/.exec(rule)?.[1];
  if (text === undefined || rule.includes('"action":"log"')) return [];
  const sets = JSON.parse(text) as Readonly<Record<string, readonly string[]>>;
  return Object.entries(sets)
    .filter(([side]) => key.test(side))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([side, each]) => each.map((one) => [side, membersOf(one)] as const));
}

/** `{10.0.0.1/32 10.0.0.2,tcp:80}` */
const membersOf = (set: string): readonly string[] =>
  set
    .slice(1, -1)
    .split(' ')
    .map((member) => member.replace(/\/(32|128)$/, '').replace(',', ' '));

const ALLOW = '{"action":"allow"}';
const DENY = '{"action":"deny"}';

/** Where a packet of the host itself ends that no policy decides: `allow`, `deny`, or the rules of its profiles that come before that. */
export function realEnd(host: RealHost, way: 'ingress' | 'egress'): string {
  if (host.effective === '') return 'allow';
  if (!mayPassAll(host[way])) return 'deny';
  const decided: string[] = [];
  for (const profile of host.profiles ?? []) {
    const rules = (way === 'ingress' ? / in=(.*) out=/ : / out=(.*)$/).exec(profile)?.[1]?.split('|') ?? [];
    for (const rule of rules.filter((one) => one !== '')) {
      if (rule === ALLOW || rule === DENY) return [...decided, rule === ALLOW ? 'allow' : 'deny'].join(' ');
      decided.push(rule);
    }
  }
  return [...decided, 'deny'].join(' ');
}

/** Whether each tier in force may pass packets on: by a rule, or at its end. */
function mayPassAll({ rules = [] }: RealLane = { pols: [] }): boolean {
  let passes = false;
  for (const rule of rules) {
    const action = /^endtier \S+ (\S*)$/.exec(rule)?.[1];
    passes ||= action === 'Pass' || rule.includes('"action":"next-tier"') || rule.includes('"action":"pass"');
    if (action === undefined) continue;
    if (!passes) return false;
    passes = false;
  }
  return true;
}
