import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, type Unread, type Verdict } from '../../kernel/check.ts';
import { type Context, goingTo } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Defect } from '../../kernel/defect.ts';
import { byAge, imageRelease, isOlder, parseRelease } from '../../kernel/release.ts';
import { joined, plainText, type Said } from '../../kernel/step.ts';
import { rolloutTarget, serviceWorkloads } from '../rollout/index.ts';
import { failed, listed, type PreflightCheck, sourceRelease, table, unknownEnd, withInstallation } from '../survey/index.ts';
import { evidenceFor, type Hit, hitsOf, holding, unreadIn } from './defect-hits.ts';
import { fixAfter, hasDefect } from './defect-lines.ts';
import type { DefectWorld } from './defect-world.ts';

/** What holds of the rows of the table, whatever the release. */
interface Known {
  readonly hits: readonly Hit<Defect>[];
  readonly unread: Unread | undefined;
}

/** The release to install, and the agents' image where it is pinned to another, are free of defects that matter here. */
export const knownDefectsChecks: readonly PreflightCheck[] = table({ severity: 'warning', ref: 'domain §12' }, [
  {
    id: 'NS-609',
    title: 'no known defect of the target release',
    category: 'manifest',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { defects } = context.profile;
      if (!defects) return notApplicable('the profile knows no defects of releases');
      const world = { facts, installation, context };
      const { release } = context.goal;
      const hit = ofRelease(defects, release, world);
      if (hit.hits.length === 0 && hit.unread) throw hit.unread;
      if (hit.hits.length === 0) return ok([`no known defect of ${release} hits this cluster`, ...untold(world)].join('; '));
      return verdictOf(hit, compared(defects, hit.hits, world), world);
    }),
  },
]);

function ofRelease(defects: readonly Defect[], release: string, world: DefectWorld): Known {
  const found = holding(
    defects.filter(({ of, lines }) => hasDefect(of === 'agent' ? agentRelease(release, world) : release, lines)),
    world,
  );
  return { hits: hitsOf(found), unread: unreadIn(found) };
}

/** Of the image that the agents will run: edits may keep another tag. An unread target has its own finding (NS-601). */
function agentRelease(release: string, world: DefectWorld): string {
  const image = imageRelease(agentImage(world) ?? '');
  // With another target an image that is not pinned would be that target's.
  return image === undefined || image === world.context.goal.release ? release : image;
}

function agentImage({ facts, installation, context }: DefectWorld): string | undefined {
  const agent = serviceWorkloads(installation, context.profile)?.agent;
  const documents = 'value' in facts.target ? facts.target.value.documents : [];
  return agent && rolloutTarget(agent, { documents })?.image;
}

/** An image by a digest or a moving tag may be of any release. */
function untold(world: DefectWorld): readonly string[] {
  const image = agentImage(world);
  if (image === undefined || imageRelease(image) !== undefined) return [];
  return [`the image of the agents, ${image}, does not say its release, and was evaluated as ${world.context.goal.release}`];
}

interface Target {
  readonly release: string;
  readonly defects: number;
  readonly isKnown: boolean;
}

/** Other targets that this upgrade can have, oldest first: the default one, and those with a fix of what hits. */
function compared(defects: readonly Defect[], hits: readonly Hit<Defect>[], world: DefectWorld): readonly Target[] {
  const { context, installation, facts } = world;
  const { profile, goal } = context;
  const source = sourceRelease(installation, facts, context);
  const fixes = hits.flatMap(
    ({ row: { of, lines } }) => fixAfter(of === 'agent' ? agentRelease(goal.release, world) : goal.release, lines) ?? [],
  );
  const others = [...new Set([profile.defaultRelease, ...fixes])].filter((one) => one !== goal.release && isAccepted(one, source, world));
  return others.toSorted(byAge).map((release) => {
    const { hits: found } = ofRelease(defects, release, world);
    return { release, defects: found.length, isKnown: hasSums(release, context) };
  });
}

/** No way leads back, and this program does not know how an operator of an older target ends. */
function isAccepted(release: string, source: string | undefined, { installation, context }: DefectWorld): boolean {
  if (unknownEnd(installation, goingTo(context, release))) return false;
  return source === undefined || !parseRelease(source) || !isOlder(release, source);
}

/** Whether the sums of a release come with this program. */
function hasSums(release: string, { profile }: Context): boolean {
  return profile.manifestUrl === undefined || !isOlder(profile.defaultRelease, release);
}

const NO_SUMS =
  'with its files in a folder (--manifest-url DIR), or with their sums: preflight with this --release prints them, to compare';

function verdictOf({ hits, unread }: Known, others: readonly Target[], world: DefectWorld): Verdict {
  const { release } = world.context.goal;
  const of = (hit: Hit<Defect>) => (hit.row.of === 'agent' ? agentRelease(release, world) : release);
  const [only] = hits;
  const because =
    hits.length === 1 && only
      ? `${of(only)} has a defect that hits this cluster: ${only.row.happens}`
      : `${counted(hits.length, 'known defect')} of ${[...new Set(hits.map(of))].join(', ')} hit this cluster: ${listed(hits.map(({ row }) => row.id))}`;
  const severity = hits.some(({ row }) => row.severity === 'error') ? 'error' : 'warning';
  const better = others
    .filter((one) => one.isKnown && one.defects < hits.length)
    .toSorted((a, b) => a.defects - b.defects || byAge(b.release, a.release))[0];
  const hints = [
    ...hits.map((hit) => helpFor(hit, of(hit), world.context)),
    ...comparison(release, hits.length, others),
    ...(unread ? [`Other defects could not be evaluated: ${unread.message}.`] : []),
    ...untold(world).map((text) => `Note: ${text}.`),
  ];
  const told = new Map(hints.map((hint) => [plainText(hint), hint]));
  return failed(
    because,
    joined(
      [...told].flatMap(([plain, hint]) => (plain === '' ? [] : [hint])),
      ' ',
    ),
    {
      // What is accepted by name is a defect.
      evidence: hits.map(evidenceFor),
      next: better ? command`kubectl netsvc-upgrade preflight --release ${better.release}` : command`kubectl netsvc-upgrade explain NS-609`,
      severity,
    },
  );
}

function helpFor({ row: { lines, advice } }: Hit<Defect>, release: string, context: Context): Said {
  const fix = fixAfter(release, lines);
  const fixed = fix && `Fixed in ${fix}: --release ${fix}${hasSums(fix, context) ? '' : `, ${NO_SUMS}`}.`;
  return joined(
    [fixed, advice].filter((part) => part !== undefined),
    ' ',
  );
}

/** `v3.32.2 has 1 defect that hits this cluster, v3.32.1 has 2.` */
function comparison(release: string, own: number, others: readonly Target[]): readonly string[] {
  if (others.length === 0) return [];
  const [first, ...rest] = [...others, { release, defects: own, isKnown: true }].map((one, index) => {
    const sums = one.isKnown ? '' : ' (its sums are not known here)';
    return `${one.release}${sums} has ${index === 0 ? `${counted(one.defects, 'defect')} that ${one.defects === 1 ? 'hits' : 'hit'} this cluster` : one.defects}`;
  });
  return [`${[first, ...rest].join(', ')}.`];
}
