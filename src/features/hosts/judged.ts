import type { Context } from '../../kernel/context.ts';
import { textAt } from '../../kernel/json.ts';
import type { PlannedHost } from '../../kernel/plan.ts';
import { servedObject } from '../../kube/stored-metadata.ts';
import {
  type AfterRemoval,
  type AutomaticSigns,
  automaticName,
  type ChangedPolicy,
  type ChangeVerdict,
  type HostEndpoint,
  isAllInterfaces,
  isLabelledOwn,
  isTakenForOwn,
  type LabelProblem,
  type LaneVerdict,
  laneText,
  type Moment,
  type NodeVerdict,
  sideChangeText,
} from '../policy-rules/index.ts';
import { detailOf, FIRST, listed } from '../survey/index.ts';
import { gone, refusedBack } from './allowed.ts';
import type { HepFacts, HepJudged, HostVerdict, RuleChange } from './facts.ts';
import { obstaclesOn } from './obstacles.ts';
import { obstaclesBack, oldOnesFirst, undoNeedsCli } from './undo.ts';

/** Endpoints go from the controllers through Typha, where there is one, to the agents. */
const CARRIERS: ReadonlySet<string> = new Set(['agent', 'typha', 'controllers']);

/** The facts as the checks of the migration see them. */
export function hepJudged(facts: HepFacts, context: Context): HepJudged {
  const isDone = isMigrated(facts);
  return {
    ...foundBy(facts, context),
    verdicts: verdictsOf(facts),
    obstacles: obstaclesOn(facts, context),
    needsCli: !isDone,
    idle: isDone,
    judgesEnd: facts.judgesEnd,
    refusedBack: [],
    gone: undefined,
  };
}

/** The same where the migration is taken back. */
export function undoJudged(facts: HepFacts, context: Context): HepJudged {
  return {
    ...foundBy(facts, context),
    verdicts: atNodes(facts),
    obstacles: oldOnesFirst(facts, context) ? [] : obstaclesBack(facts, context),
    needsCli: undoNeedsCli(facts, context),
    idle: true,
    judgesEnd: false,
    refusedBack: refusedBack(facts, context),
    gone: gone(facts).map(({ endpoint, remover }) => ({
      name: endpoint.metadata.name,
      node: textAt(endpoint.spec, 'node') ?? '',
      remover,
      asItWas: JSON.stringify(servedObject(endpoint, context.profile.apiGroup)),
    })),
  };
}

type Found = Omit<HepJudged, 'verdicts' | 'obstacles' | 'needsCli' | 'idle' | 'judgesEnd' | 'refusedBack' | 'gone'>;

/** What is so either way. */
function foundBy(facts: HepFacts, context: Context): Found {
  const { cli, verdicts, ruleChanges, elsewhere, rollouts, nodes } = facts;
  const { labels: signs } = context.profile;
  const known = 'value' in verdicts ? verdicts.value : [];
  return {
    enabled: facts.settings.autoCreate,
    nodes: nodes.length,
    ruleChanges: 'unread' in ruleChanges ? ruleChanges : { value: ruleChanges.value.map(ruleChange) },
    labelProblems: known.flatMap(({ kubernetesNode, labels }) => labels.problems.map((problem) => labelProblem(kubernetesNode, problem))),
    unclear: unclearOf(known, elsewhere, signs),
    elsewhere: elsewhere
      .filter((one) => isAllInterfaces(one) && !isLabelledOwn(one, signs))
      .map(({ name, node }) => `${name} (${node || 'no node'})`),
    namedPorts: known.flatMap(({ lostPorts }) => lostPorts),
    rollouts,
    components: facts.installation.components.filter(({ component }) => CARRIERS.has(component)),
    cli,
  };
}

/** True if automatic endpoints are on and stand on every node that gets one, and no old one is left. */
export function isMigrated({ settings, verdicts }: HepFacts): boolean {
  if (!settings.autoCreate || 'unread' in verdicts) return false;
  return verdicts.value.every(({ old, covered, uncovered }) => old.length === 0 && (covered || uncovered !== undefined));
}

/** Of hosts that are yet to be migrated, and once more of those that this command has migrated. */
function verdictsOf(facts: HepFacts): HepJudged['verdicts'] {
  const [known, { after }] = [atNodes(facts), facts];
  if ('unread' in known || 'unread' in after) return known;
  return { value: [...known.value, ...after.value.flatMap(verdictsAfter)] };
}

function atNodes({ verdicts }: HepFacts): HepJudged['verdicts'] {
  return 'unread' in verdicts ? verdicts : { value: verdicts.value.flatMap(hostVerdicts) };
}

function verdictsAfter({ node, changes }: AfterRemoval): readonly HostVerdict[] {
  return [...Map.groupBy(changes, ({ verdict }) => verdict)].map(([verdict, some]) => ({
    node,
    verdict,
    removed: true,
    ...detailOf((limit) => `its old endpoint is gone: ${changesText(some, SINCE, limit)}`),
  }));
}

/** One for each kind of change of the node, now or later: accepting one accepts no other. */
function hostVerdicts(node: NodeVerdict): readonly HostVerdict[] {
  const met = new Set(changesOf(node).map(({ verdict }) => verdict));
  return [...met].map((verdict) => hostVerdict(node, verdict));
}

/** The text names hundreds of policies for each of thousands of nodes, and is mostly never read: it is built on demand. */
function hostVerdict<V extends ChangeVerdict>(node: NodeVerdict, verdict: V) {
  const brief = isLong(node, verdict) ? { brief: momentsText(node, verdict, FIRST) } : {};
  return {
    node: node.node,
    verdict,
    ...brief,
    ...(node.inForce && node.atEnable.changes.some((change) => change.verdict === verdict) ? { isNow: true as const } : {}),
    get detail(): string {
      return momentsText(node, verdict);
    },
  };
}

/** A policy of a namespace is named `namespace/name`. */
function ruleChange({ name, atEnable, atDelete }: ChangedPolicy): RuleChange {
  const text = (limit = Number.POSITIVE_INFINITY) => {
    const [soon, later] = [atEnable, atDelete].map((some) => some.map((one) => sideChangeText(one, limit)).join('; '));
    const moments = [
      ...(soon ? [`as soon as enabled: ${soon}`] : []),
      ...(later && later !== soon ? [`once the old endpoints are deleted: ${later}`] : []),
    ];
    return moments.join('; ');
  };
  return { policy: name, ...detailOf(text) };
}

/** The verdict of a node as plans and reports have it: the worst. */
export function plannedHost(node: NodeVerdict): PlannedHost {
  const { verdict } = node;
  if (verdict === 'same') return { node: node.node, verdict };
  return {
    node: node.node,
    verdict,
    get detail(): string {
      return momentsText(node, verdict);
    },
  };
}

const changesOf = ({ atEnable, atDelete }: NodeVerdict) => [...atEnable.changes, ...atDelete.changes];

function isLong(node: NodeVerdict, verdict: ChangeVerdict): boolean {
  return changesOf(node).some(
    (change) =>
      change.verdict === verdict &&
      [change.before, change.after].some(
        ({ policies, rules = [] }) =>
          Math.max(policies.length, rules.length) > FIRST || rules.some(({ comes, goes }) => Math.max(comes.length, goes.length) > FIRST),
      ),
  );
}

/** What changes at each of the two moments; what stays from the first on is listed once. */
function momentsText({ inForce, atEnable, atDelete, old }: NodeVerdict, verdict: ChangeVerdict, limit?: number): string {
  const isMeant = (change: LaneVerdict) => change.verdict === verdict;
  const text = ({ changes }: Moment, words: Words) => changesText(changes.filter(isMeant), words, limit);
  const first: Words = inForce ? SINCE : ['now', 'afterwards'];
  const soon = text(atEnable, first);
  const later = text(atDelete, first) === soon ? '' : text(atDelete, [first[0], 'afterwards']);
  return [
    ...(soon === '' ? [] : [`${inForce ? 'since automatic ones are enabled' : 'as soon as enabled'}: ${soon}`]),
    ...(later === '' ? [] : [`once ${endpointsText(old, limit)} deleted: ${later}`]),
  ].join('; ');
}

/** A host without an old endpoint changes with those of other hosts, whose ports and addresses its rules name. */
function endpointsText(old: readonly HostEndpoint[], limit = Number.POSITIVE_INFINITY): string {
  const names = old.map(({ name }) => name);
  if (names.length === 0) return 'the old host endpoints of other nodes are';
  return names.length === 1 ? `host endpoint ${names.join('')} is` : `host endpoints ${listed(names, limit)} are`;
}

/** What the two sides of a change are called. */
type Words = readonly [before: string, after: string];

const SINCE: Words = ['before', 'now'];

/** Lanes that change alike are told together. */
function changesText(changes: readonly LaneVerdict[], [was, is]: Words, limit?: number): string {
  const alike = Map.groupBy(changes, ({ before, after }) => `${was} ${laneText(before, limit)}; ${is} ${laneText(after, limit)}`);
  return [...alike].map(([text, some]) => `${some.map(({ lane }) => lane).join(', ')}: ${text}`).join('; ');
}

const WORDS: Readonly<Record<LabelProblem['problem'], (problem: LabelProblem) => string>> = {
  conflict: ({ key, value, from, other }) => `${from} has ${key}=${value}, there is ${key}=${other} already`,
  invalid: ({ key, value, from }) => `${from} has ${key}=${value}, which Kubernetes does not allow`,
  reserved: ({ key, value, from }) => `${from} has ${key}=${value}, whose prefix is Kubernetes’ own`,
};

function labelProblem(node: string, problem: LabelProblem): HepJudged['labelProblems'][number] {
  return { node, text: WORDS[problem.problem](problem), severity: problem.problem === 'reserved' ? 'warning' : 'error' };
}

/** An endpoint blocks the node whose automatic one has its name, whichever host it is for. */
function unclearOf(known: readonly NodeVerdict[], elsewhere: readonly HostEndpoint[], signs: AutomaticSigns): HepJudged['unclear'] {
  const uncovered = known.filter((one) => one.uncovered === 'name-taken');
  const waiting = new Map(uncovered.map(({ node }) => [automaticName(node, signs), node]));
  const ofHosts = elsewhere.filter((one) => isTakenForOwn(one, signs) || waiting.has(one.name));
  return [...known.flatMap(({ unclear }) => unclear), ...ofHosts].map((one) => {
    const own = `node ${one.node || 'none'}`;
    if (isTakenForOwn(one, signs))
      return {
        name: one.name,
        detail: `${own}; the controllers delete it, at the latest when automatic ones are enabled`,
        fate: 'deleted',
      };
    const node = waiting.get(one.name);
    const detail = `${own}${node === undefined || node === one.node ? '' : `; node ${node} gets none, for it has its name`}`;
    return { name: one.name, detail, fate: node === undefined ? 'stays' : 'blocks' };
  });
}
