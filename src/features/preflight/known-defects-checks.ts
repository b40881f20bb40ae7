import { type Command, command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, Unread, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import type { Defect } from '../../kernel/defect.ts';
import { imageRelease, isOlder, sameMinor } from '../../kernel/release.ts';
import { rolloutTarget, serviceWorkloads } from '../rollout/index.ts';
import { failed, listed, type PreflightCheck, sourceRelease, table, withInstallation } from '../survey/index.ts';
import { type DefectWorld, isInRange, seenOn } from './defect-conditions.ts';

interface Hit {
  readonly defect: Defect;
  readonly release: string;
  readonly seen: readonly string[];
}

export const knownDefectsChecks: readonly PreflightCheck[] = table({ severity: 'warning', ref: 'domain §12' }, [
  /** The upgrade leaves the installed release without passing through a defect that a later patch of its line has fixed. */
  {
    id: 'NS-112',
    title: 'no known defect of the installed release',
    category: 'installation',
    judge: withInstallation((installation, facts, context): Verdict => {
      const source = sourceRelease(installation, facts, context);
      if (!context.profile.defects || source === undefined) return notApplicable('nothing is known of defects of the installed release');
      const isPassed = ({ fixedIn }: Defect) => fixedIn === undefined || isOlder(fixedIn, context.options.release);
      const found = foundOf('source', source, { facts, installation, context }, isPassed);
      return (
        defective(found, command`kubectl netsvc-upgrade explain NS-112`, (fix) => `upgrade to ${fix} first`) ??
        ok(`no known defect of ${source} matters on the way`)
      );
    }),
  },
  /** The release to install, and the agents' image where it is pinned to another, are free of defects that matter here. */
  {
    id: 'NS-609',
    title: 'no known defect of the target release',
    category: 'manifest',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { defects } = context.profile;
      if (!defects) return notApplicable('the profile knows no defects of releases');
      const world = { facts, installation, context };
      const agent = agentRelease(world);
      const found = [...foundOf('target', context.options.release, world), ...foundOf('agent', agent, world)];
      const fixes = found.flatMap((one) => (one instanceof Unread ? [] : [fixFor(one)]));
      const fix = fixes.length > 0 && fixes.every((one) => one !== undefined) ? newest(fixes) : undefined;
      const next = fix ? command`kubectl netsvc-upgrade preflight --release ${fix}` : command`kubectl netsvc-upgrade explain NS-609`;
      return (
        defective(found, next, (fix) => `--release ${fix}${unknownSums(fix, context)}`) ??
        ok(`no known defect of ${context.options.release} hits this cluster`)
      );
    }),
  },
]);

type Found = Hit | Unread;

/** Defects that hit the cluster, and for those of which that cannot be told why not. */
function foundOf(
  of: Defect['of'],
  release: string,
  world: DefectWorld,
  matters: (defect: Defect) => boolean = () => true,
): readonly Found[] {
  return (world.context.profile.defects ?? [])
    .filter((defect) => defect.of === of && isInRange(release, defect.releases) && matters(defect))
    .flatMap((defect) => {
      const seen = defect.when.map((condition) => seenOrUnread(condition, world));
      // One condition that does not hold is enough, whatever the others are.
      if (seen.includes(undefined)) return [];
      const unread = seen.find((one) => one instanceof Unread);
      return [unread ?? { defect, release, seen: seen.flatMap((one) => (one instanceof Unread ? [] : (one ?? []))) }];
    });
}

function seenOrUnread(condition: Defect['when'][number], world: DefectWorld): readonly string[] | Unread | undefined {
  try {
    return seenOn(condition, world);
  } catch (thrown) {
    if (thrown instanceof Unread) return thrown;
    throw thrown;
  }
}

/** Of the image that the agents will run: edits may keep another tag. An unread target has its own finding (NS-601). */
function agentRelease({ facts, installation, context }: DefectWorld): string {
  const agent = serviceWorkloads(installation, context.profile)?.agent;
  const documents = 'value' in facts.target ? facts.target.value.documents : [];
  const image = agent && rolloutTarget(agent, { documents })?.image;
  return imageRelease(image ?? '') ?? context.options.release;
}

/** Undefined where none hits. Throws Unread where that cannot be told of one, and no other hits. */
function defective(found: readonly Found[], next: Command, fixOf: (release: string) => string): Verdict | undefined {
  const hits = found.flatMap((one) => (one instanceof Unread ? [] : [one]));
  const unread = found.find((one) => one instanceof Unread);
  const [first] = hits;
  if (!first && unread) throw unread;
  if (!first) return undefined;
  const because =
    hits.length === 1
      ? `${first.release} has a defect that hits this cluster: ${first.defect.happens}`
      : `${counted(hits.length, 'known defect')} of ${[...new Set(hits.map(({ release }) => release))].join(', ')} hit this cluster: ${listed(hits.map(({ defect }) => defect.id))}`;
  const severity = hits.some(({ defect }) => defect.severity === 'error') ? 'error' : 'warning';
  // No evidence: what is accepted by name is a defect.
  const rest = unread ? [`Other defects could not be evaluated: ${unread.message}.`] : [];
  return failed(because, [...new Set([...hits.map((hit) => helpFor(hit, fixOf)), ...rest])].join(' '), {
    evidence: hits.map(evidenceFor),
    next,
    severity,
  });
}

/** The first release without it, of the same line where that was fixed as well. */
function fixFor({ defect: { fixedIn, releases }, release }: Hit): string | undefined {
  return releases.backports?.find((one) => sameMinor(one, release)) ?? fixedIn;
}

/** How a release can be had whose sums do not come with this program. */
function unknownSums(release: string, { profile }: Context): string {
  if (profile.manifestUrl === undefined || !isOlder(profile.defaultRelease, release)) return '';
  return ', with its files in a folder (--manifest-url DIR) or their sums (--artifact-digest FILE): this program does not have them';
}

function helpFor(hit: Hit, fixOf: (release: string) => string): string {
  const [fixedIn, { advice }] = [fixFor(hit), hit.defect];
  const fixed = fixedIn && `Fixed in ${fixedIn}: ${fixOf(fixedIn)}.`;
  return [fixed, advice].filter((part) => part !== undefined).join(' ');
}

function evidenceFor({ defect, seen }: Hit): Evidence {
  const where = seen.length > 0 ? ` Seen on: ${listed(seen)}.` : '';
  return { text: defect.id, detail: `${defect.happens}.${where} See ${defect.sources.join(', ')}` };
}

function newest(releases: readonly (string | undefined)[]): string | undefined {
  return releases.reduce((a, b) => (a === undefined || (b !== undefined && isOlder(a, b)) ? b : a));
}
