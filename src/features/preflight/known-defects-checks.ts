import { command } from '../../kernel/argv.ts';
import { type Evidence, notApplicable, ok, type Verdict } from '../../kernel/check.ts';
import { counted } from '../../kernel/counted.ts';
import type { Defect } from '../../kernel/defect.ts';
import { imageRelease, isOlder, sameMinor } from '../../kernel/release.ts';
import { allContainersOf, serviceWorkloads } from '../rollout/index.ts';
import { failed, listed, PROGRAM, type PreflightCheck, sourceRelease, withInstallation } from '../survey/index.ts';
import { type DefectWorld, isInRange, seenOn } from './defect-conditions.ts';

interface Hit {
  readonly defect: Defect;
  readonly release: string;
  readonly seen: readonly string[];
}

export const knownDefectsChecks: readonly PreflightCheck[] = [
  /** The upgrade leaves the installed release without passing through a defect that a later patch of its line has fixed. */
  {
    id: 'NS-112',
    title: 'no known defect of the installed release',
    category: 'installation',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, context): Verdict => {
      const source = sourceRelease(installation, facts, context);
      if (!context.profile.defects || source === undefined) return notApplicable('nothing is known of defects of the installed release');
      const hits = hitsOf('source', source, { facts, installation, context }).filter(
        ({ defect: { fixedIn } }) => fixedIn === undefined || isOlder(fixedIn, context.options.release),
      );
      return hits.length === 0 ? ok(`no known defect of ${source} matters on the way`) : defective(hits, `${PROGRAM} explain NS-112`, '');
    }),
  },
  /** The release to install, and the agents' image where it is pinned to another, are free of defects that matter here. */
  {
    id: 'NS-609',
    title: 'no known defect of the target release',
    category: 'manifest',
    severity: 'warning',
    ref: 'domain §12',
    judge: withInstallation((installation, facts, context): Verdict => {
      const { defects } = context.profile;
      if (!defects) return notApplicable('the profile knows no defects of releases');
      const world = { facts, installation, context };
      const agent = agentRelease(world);
      const hits = [...hitsOf('target', context.options.release, world), ...hitsOf('agent', agent, world)];
      if (hits.length === 0) return ok(`no known defect of ${context.options.release} hits this cluster`);
      const fixes = hits.map(fixFor);
      const fix = fixes.every((one) => one !== undefined) ? newest(fixes) : undefined;
      return defective(hits, fix ? command`kubectl netsvc-upgrade preflight --release ${fix}` : `${PROGRAM} explain NS-609`, '--release ');
    }),
  },
];

function hitsOf(of: Defect['of'], release: string, world: DefectWorld): readonly Hit[] {
  return (world.context.profile.defects ?? [])
    .filter((defect) => defect.of === of && isInRange(release, defect.releases))
    .flatMap((defect) => {
      const seen: string[] = [];
      for (const condition of defect.when) {
        const found = seenOn(condition, world);
        if (!found) return [];
        seen.push(...found);
      }
      return [{ defect, release, seen }];
    });
}

/** Of the image that the agents will run: edits may keep another tag. An unread target has its own finding (NS-601). */
function agentRelease({ facts, installation, context }: DefectWorld): string {
  const agent = serviceWorkloads(installation, context.profile)?.agent;
  const documents = 'value' in facts.target ? facts.target.value.documents : [];
  const workload = agent && documents.find(({ kind, metadata }) => kind === agent.kind && metadata.name === agent.name);
  const image = workload && allContainersOf(workload).find(({ name }) => name === agent.container)?.image;
  return imageRelease(image ?? '') ?? context.options.release;
}

function defective(hits: readonly Hit[], next: string, flag: string): Verdict {
  const [first] = hits;
  const because =
    hits.length === 1 && first
      ? `${first.release} has a defect that hits this cluster: ${first.defect.happens}`
      : `${counted(hits.length, 'known defect')} of ${[...new Set(hits.map(({ release }) => release))].join(', ')} hit this cluster: ${listed(hits.map(({ defect }) => defect.id))}`;
  const severity = hits.some(({ defect }) => defect.severity === 'error') ? 'error' : 'warning';
  return failed(because, [...new Set(hits.map((hit) => helpFor(hit, flag)))].join(' '), {
    evidence: hits.map(evidenceFor),
    next,
    severity,
  });
}

/** The first release without it, of the same line where that was fixed as well. */
function fixFor({ defect: { fixedIn, releases }, release }: Hit): string | undefined {
  return releases.backports?.find((one) => sameMinor(one, release)) ?? fixedIn;
}

function helpFor(hit: Hit, flag: string): string {
  const [fixedIn, { advice }] = [fixFor(hit), hit.defect];
  const fixed = fixedIn && (flag ? `Fixed in ${fixedIn}: ${flag}${fixedIn}.` : `Fixed in ${fixedIn}: upgrade to ${fixedIn} first.`);
  return [fixed, advice].filter((part) => part !== undefined).join(' ');
}

function evidenceFor({ defect, seen }: Hit): Evidence {
  const where = seen.length > 0 ? ` Seen on: ${listed(seen)}.` : '';
  return { text: defect.id, detail: `${defect.happens}.${where} See ${defect.sources.join(', ')}` };
}

function newest(releases: readonly (string | undefined)[]): string | undefined {
  return releases.reduce((a, b) => (a === undefined || (b !== undefined && isOlder(a, b)) ? b : a));
}
