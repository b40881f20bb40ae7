import { command } from '../../kernel/argv.ts';
import { notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import { agoText, counted } from '../../kernel/counted.ts';
import { hasFullManifest } from '../../kernel/installation.ts';
import { jsonAt } from '../../kernel/json.ts';
import { crosses, parseImage } from '../../kernel/release.ts';
import { imagesIn } from '../../manifest/images.ts';
import { type ImageSource, imageSource } from '../install-operator/index.ts';
import { findWorkload } from '../rollout/index.ts';
import {
  failed,
  listed,
  type PreflightCheck,
  type PreflightFacts,
  readTarget,
  sourceRelease,
  table,
  withInstallation,
} from '../survey/index.ts';

/** What stands before an image's last path segment: `docker.io/calico`; Docker Hub's short form is spelt out. */
export function registryOf(image: string): string {
  const { repository } = parseImage(image);
  if (/^(localhost|[^/]*[.:][^/]*)(\/|$)/.test(repository)) return repository;
  return repository === '' ? 'docker.io' : `docker.io/${repository}`;
}

function within(registry: string, prefix: string): boolean {
  const full = registryOf(`${prefix}/x`);
  return registry === full || registry.startsWith(`${full}/`);
}

/** Components that have always had a registry of their own. */
const ELSEWHERE = new Set(['flannel', 'operator']);

export const targetSettingsChecks: readonly PreflightCheck[] = table({ category: 'manifest', severity: 'warning' }, [
  {
    id: 'NS-606',
    title: 'images can be pulled from their registry',
    ref: 'domain §12/28',
    judge: withInstallation((installation, facts, context): Verdict => {
      const move = context.profile.registryMove;
      const source = sourceRelease(installation, facts, context);
      if (!move || !crosses(source, context.goal.release, move.since)) return notApplicable('images stay in their registry');
      const own = installation.components.filter(({ component }) => !ELSEWHERE.has(component));
      const now = own.map(({ image }) => image);
      // A run that has changed a template and not all of its pods leaves nodes that have pulled none of it.
      const pulled = own.filter(({ workload }) => !own.some((one) => one.workload.endsWith(` of ${workload}`))).map(({ image }) => image);
      const others = now.map(registryOf).filter((registry) => !within(registry, move.to));
      const operated = facts.operated && 'value' in facts.operated.installation ? facts.operated.installation.value : undefined;
      const then = operated && imageSource(operated, context);
      if (then && !within(then.folder, move.to)) return afterProbe(judgeNamed(then, now), facts, false);
      if (others.length === 0) return ok(`images already come from ${move.to}`);
      const mirrors = new Set(others.filter((registry) => !within(registry, move.from)));
      const verdict = hasFullManifest(installation)
        ? judgeImages(imagesThen(facts, { now, pulled }, mirrors, move.to), mirrors, move.to, comeFrom(others, now.length))
        : judgeOperated(mirrors, move.to, comeFrom(others, now.length));
      return afterProbe(verdict, facts, hasFullManifest(installation));
    }),
  },
  {
    id: 'NS-607',
    title: 'interface MTU unchanged',
    ref: 'domain §4.4',
    judge: withInstallation((_installation, facts): Verdict => {
      const live = read(facts.agentConfig);
      if (!live) return notApplicable('this installation has no ConfigMap of the agents');
      const { name, namespace = '' } = live.metadata;
      const next = findWorkload(readTarget(facts).documents, { name, namespace }, 'ConfigMap');
      const [before, after] = [jsonAt(live, 'data', MTU), jsonAt(next, 'data', MTU)];
      if (before === undefined || after === undefined || before === after) return ok(`${MTU} stays ${String(before ?? 'unset')}`);
      return failed(
        `${MTU} is ${String(before)} now and ${String(after)}${after === '0' ? ' (found out by each agent)' : ''} in the target: new pods may get another MTU than running ones`,
        'Decide which it is to be: the plan shows what will be kept; restart pods afterwards if the value changes.',
        { evidence: [{ text: `ConfigMap/${namespace}/${name}` }], next: command`kubectl netsvc-upgrade plan -o wide` },
      );
    }),
  },
]);

/** The images of the target once your changes are carried into it: from the new registry, which they do not come from now, and from your own. */
function imagesThen(
  facts: PreflightFacts,
  { now, pulled }: Readonly<Record<'now' | 'pulled', readonly string[]>>,
  mirrors: ReadonlySet<string>,
  to: string,
) {
  const images = [...new Set(imagesIn(readTarget(facts).documents))];
  const registriesOf = (image: string, all = now) => all.filter((one) => nameIn(one) === nameIn(image)).map(registryOf);
  // Without the merge the target has its own registries: an image that is from yours now will be then.
  const isMerged = 'value' in facts.preview;
  const isKept = (image: string) =>
    mirrors.has(registryOf(image)) || (!isMerged && registriesOf(image).some((registry) => mirrors.has(registry)));
  const comesAlready = (image: string) => {
    const registries = registriesOf(image, pulled);
    return registries.length > 0 && registries.every((registry) => within(registry, to));
  };
  const kept = images.filter(isKept);
  const moved = images.filter((image) => within(registryOf(image), to) && !isKept(image) && !comesAlready(image));
  return { kept, moved };
}

const nameIn = (image: string): string => parseImage(image).name;

/** `of`: how many images are installed. */
function comeFrom(registries: readonly string[], of: number): string {
  return `${registries.length < of ? 'some' : 'the'} installed images come from ${listed([...new Set(registries)])}`;
}

/** A probe has asked the nodes already. An operator's manifest names no images: there the probe's own list counts. */
function afterProbe(verdict: Verdict, { now, pulled }: PreflightFacts, namesImages: boolean): Verdict {
  const known = 'value' in pulled ? pulled.value : undefined;
  if (verdict.status !== 'failed' || known === undefined) return verdict;
  const isPulled = !namesImages || (verdict.evidence ?? []).every(({ text }) => known.images.includes(text));
  if (!isPulled) return verdict;
  const what = `${counted(known.images.length, 'image')} of the target`;
  return ok(`${counted(known.nodes, 'node')} pulled ${what} ${agoText(known.at, new Date(now))} (preflight --probe-nodes)`);
}

/** Nodes that cannot pull an image stop the run half-way: they are asked before it begins. */
const ASKING = { next: command`kubectl netsvc-upgrade preflight --probe-nodes all`, leads: 'before' } as const;
const PULLABLE = 'Make sure that nodes can pull them (network, allow list, pull secret)';
/** Of the command below. */
const ASKS = 'The command below has every node pull them: it starts a short pod on each and deletes it.';
const COPY = "Images that you gave another registry keep it: copy the new release's images there.";

function judgeImages({ moved, kept }: ReturnType<typeof imagesThen>, mirrors: ReadonlySet<string>, to: string, installed: string): Verdict {
  const evidence = (images: readonly string[]) => ({ evidence: images.map((text) => ({ text })), ...ASKING });
  // Without the merge they still have the target's names.
  const mirrored = kept.filter((image) => mirrors.has(registryOf(image)));
  if (moved.length > 0)
    return failed(
      `the upgrade pulls ${counted(moved.length, 'image')} from ${to}${mirrored.length > 0 ? ` and ${mirrored.length} from ${listed([...mirrors])}` : ''}; ${installed}`,
      `${PULLABLE}, or give them your registry in a copy of the manifest (--upgrade-file).${kept.length > 0 ? ` ${COPY}` : ''} ${ASKS}`,
      evidence([...moved, ...mirrored]),
    );
  if (kept.length === 0) return ok('every image of the upgrade is pulled from a registry in use');
  return failed(
    `the upgrade pulls ${counted(kept.length, 'image')} from ${listed([...mirrors])}, where installed images come from now`,
    `${COPY} ${ASKS}`,
    evidence(kept),
  );
}

/** An operator pulls what its own manifest does not name. */
function judgeOperated(mirrors: ReadonlySet<string>, to: string, installed: string): Verdict {
  const named = { evidence: [{ text: to }], ...ASKING };
  if (mirrors.size > 0)
    return failed(
      `images of the service come from ${listed([...mirrors])} now, and by your Installation the upgrade pulls its images from ${to}`,
      `Name your registry in the Installation (spec.registry, imagePath and imagePrefix), and copy the new release's images there. Or make sure that nodes can pull from ${to}. ${ASKS}`,
      { ...named, evidence: [...mirrors].map((text) => ({ text })) },
    );
  return failed(
    `the upgrade pulls its images from ${to}; ${installed}`,
    `${PULLABLE}, or name your registry in the Installation (spec.registry). ${ASKS}`,
    named,
  );
}

/** The operator pulls from where its Installation says, whatever runs now. */
function judgeNamed({ folder, prefix }: ImageSource, now: readonly string[]): Verdict {
  const elsewhere = now.filter((image) => registryOf(image) !== registryOf(`${folder}/x`) || !nameIn(image).startsWith(prefix));
  const names = prefix === '' ? '' : `, with names that begin with ${prefix}`;
  return failed(
    `the upgrade pulls its images from ${folder}${names}, as your Installation says; ${elsewhere.length === 0 ? 'the installed images come from there too' : comeFrom(elsewhere.map(registryOf), now.length)}`,
    `Copy the new release's images there. ${ASKS}`,
    { evidence: [...new Set(elsewhere.length === 0 ? [folder] : elsewhere)].map((text) => ({ text })), ...ASKING },
  );
}

const MTU = 'veth_mtu';
