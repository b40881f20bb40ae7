import type { Action, Cure } from '../../kernel/action.ts';
import { command } from '../../kernel/argv.ts';
import { type Check, type Evidence, notApplicable, ok, read, type Verdict } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import { counted } from '../../kernel/counted.ts';
import { K } from '../../kernel/kinds.ts';
import { parseImage, parseRelease, releaseTag } from '../../kernel/release.ts';
import { stage } from '../../kernel/stage.ts';
import { allow, type Needs, needs } from '../rights/index.ts';
import { type CliFile, failed, failIfAny, type PreflightCheck } from '../survey/index.ts';
import { fileIn } from './cli-list.ts';
import { configActions, fileNameOf, folderOf } from './config.ts';
import { type CliFacts, isPlugin, type LocalCli, mayBeReplaced, type NewCli, readCliFacts } from './facts.ts';
import { configuration, installByHand, podStep, removeByHand, sumText, untilUpgraded } from './instructions.ts';

function isCurrent({ release }: CliFile, target: string): boolean {
  const [own, wanted] = [parseRelease(release ?? ''), parseRelease(target)];
  return own !== undefined && wanted !== undefined && releaseTag(own) === releaseTag(wanted);
}

export const noOldCli: PreflightCheck = {
  id: 'NS-802',
  title: 'no older CLI on PATH',
  category: 'tools',
  severity: 'warning',
  ref: '§1/4',
  judge: (facts, { profile, goal }): Verdict => {
    const files = read(facts.clis);
    const old = files.filter((file) => !isCurrent(file, goal.release));
    const passed = files.length === 0 ? `no ${profile.cli.program} on PATH` : `${profile.cli.program} ${goal.release} on PATH`;
    const evidence = old.map(({ file, release }): Evidence => ({ text: file, detail: release ?? 'does not tell its release' }));
    return failIfAny(evidence, passed, (names) => ({
      because: `${counted(old.length, 'older CLI')} on PATH: ${names}`,
      hint: 'The stage cli of the upgrade replaces it. Do not use the older CLI afterwards: the new release may misread what it writes.',
      next: command`kubectl netsvc-upgrade cli --dry-run=server`,
    }));
  },
};

export const oldCliChecks: readonly PreflightCheck[] = [
  {
    id: 'NS-803',
    title: 'no older CLI in the cluster',
    category: 'tools',
    severity: 'warning',
    ref: '§1/4',
    judge: (facts, { profile, goal }) => {
      const names = profile.cli.images.map((image) => parseImage(image).name);
      const old = read(facts.pods).flatMap((pod) => {
        if (pod.ended) return [];
        const image = pod.containers.find((container) => names.includes(parseImage(container.image).name))?.image;
        if (image === undefined || image.endsWith(`:${goal.release}`)) return [];
        return [{ pod, image }];
      });
      const evidence = old.map(({ pod: { namespace, name }, image }) => ({ text: `Pod/${namespace}/${name}`, detail: image }));
      return failIfAny(evidence, `no older ${profile.cli.program} in the cluster`, (text) => ({
        because: `${counted(old.length, 'pod')} with another release of ${profile.cli.program}: ${text}`,
        hint: `Store its manifest, delete the pod before the upgrade, and create it again with ${goal.release} afterwards.`,
        next: command`kubectl get pod ${old[0]?.pod.name ?? ''} -n ${old[0]?.pod.namespace ?? ''} -o yaml`,
      }));
    },
  },
];

const cliChecks: readonly Check<Pick<CliFacts, 'fresh'>>[] = [
  {
    id: 'NS-309',
    title: 'checksum of the new CLI known',
    category: 'tools',
    severity: 'error',
    ref: '§4.4/4',
    judge: ({ fresh }) => {
      if ('missing' in fresh) return notApplicable(fresh.missing);
      if (fresh.sum !== undefined) return ok(`the sum of the new CLI is known from ${fresh.sum.from}`);
      const file = fresh.url.slice(fresh.url.lastIndexOf('/') + 1);
      return failed(
        `no checksum is known for ${fresh.url}: the download could not be checked`,
        `Give the sum that the release publishes: --artifact-digest ${file}=SHA256. Or put a SHA256SUMS file beside it.`,
        { next: command`kubectl netsvc-upgrade explain NS-309`, evidence: [{ text: file, detail: fresh.url }], byName: true },
      );
    },
  },
];

const storeCertificates: Needs = (_, { kvstore = true }) =>
  kvstore ? allow(['get'], K.Secret, 'certificates of the key-value store (--cli-config)', { required: false }) : [];

/** Old CLIs out, the new one in: an older one must not be used after the upgrade (§1/4, §4.4/4, §4.5/4). */
export const cliStage = stage<CliFacts>({
  id: 'cli',
  title: 'Replace the old CLI',
  ref: '§4.4/4',
  readOnly: false,
  needs: [needs.detection, storeCertificates],
  traffic: 'untouched',
  checks: cliChecks,
  survey: readCliFacts,
  plan(facts, context) {
    const { clis, pods } = facts;
    const { program } = context.profile.cli;
    const install = installations(facts, context);
    const replaced = new Set(install.flatMap(({ effect }) => (effect.type === 'install-cli' ? [effect.replaces] : [])));
    // An old one is removed only if a new one exists or this plan installs it: a machine without any helps nobody.
    const isServed = clis.some(({ age }) => age === 'current') || install.some(({ effect }) => effect.type === 'install-cli');
    const removable = isServed ? clis.filter((one) => mayBeReplaced(one) && !replaced.has(one.file)) : [];
    const byHand = clis.filter((one) => (one.age === 'older' || one.age === 'unknown') && !mayBeReplaced(one));
    const actions = [
      ...install,
      ...removable.map((one, index) => removal(one, index, context)),
      ...byHand.map((one, index) => removeByHand(one, index)),
      ...configActions(facts.wanted, context),
      ...('value' in pods ? pods.value : []).map((pod) => podStep(pod, context)),
    ];
    const notes = 'unread' in pods ? [`pods with an older ${program} could not be looked for: ${pods.unread}`] : [];
    if (actions.length > 0) {
      const early = untilUpgraded(facts, keptOf(facts.installed, facts, actions), context);
      return { actions: [...early, ...actions, ...configuration(facts, context)], notes };
    }
    return { skip: [`no older ${program} was found, and ${context.goal.release} is there`, ...notes].join('; ') };
  },
});

/** Where the CLIs of this release go that the plan moves away. */
function keptOf(release: string | undefined, { clis }: CliFacts, actions: readonly Action[]): readonly string[] {
  const goes = new Map(
    actions.flatMap(({ effect }) => {
      if (effect.type === 'remove-file') return [[effect.file, effect.keepAs] as const];
      return effect.type === 'install-cli' && effect.keepAs !== undefined ? [[effect.to, effect.keepAs] as const] : [];
    }),
  );
  return clis.flatMap((one) => (one.release === release ? (goes.get(one.file) ?? []) : []));
}

function keptAs({ file, release }: LocalCli, suffix: string, context: Context): string {
  const stamp = context.startedAt.toISOString().replaceAll(/[-:]|\.\d+/g, '');
  return `${context.workFolder}/old-cli/${fileNameOf(file)}-${release}-${stamp}-${suffix}`;
}

/** The preflight's finding on that file. */
function oldCliIsGone(subject: string): Cure {
  return { check: noOldCli.id, subject };
}

function removal(one: LocalCli, index: number, context: Context): Action {
  const { file, release } = one;
  const keepAs = keptAs(one, `removed-${index + 1}`, context);
  return {
    id: `remove-${index + 1}`,
    title: `move the old ${file} (${release}) aside`,
    ref: '§4.4/4',
    undo: 'full',
    effect: { type: 'remove-file', file, keepAs },
    cures: [oldCliIsGone(file)],
  };
}

/** The CLI under its own name where it is not there yet, and again in place of each old kubectl plugin that goes. */
function installations(facts: CliFacts, context: Context): readonly Action[] {
  const { clis, fresh, binDir, os } = facts;
  const { cli } = context.profile;
  const anywhere = context.options.binDir === undefined;
  const there = clis.some(({ age, file }) => age === 'current' && (anywhere || folderOf(file) === binDir));
  const to = binDir === undefined ? undefined : fileIn(binDir, cli.program, os);
  const taken = clis.find(({ file }) => file === to);
  const free = taken === undefined || mayBeReplaced(taken);
  if (!there && ('missing' in fresh || to === undefined || !free)) return [installByHand(facts, context, free ? undefined : taken?.file)];
  if ('missing' in fresh) return [];
  const plugins = clis.filter((one) => mayBeReplaced(one) && isPlugin(one, cli.kubectlPlugin)).map(({ file }) => file);
  return [
    ...(there || to === undefined ? [] : [installation(0, to, fresh, clis, context)]),
    ...plugins.map((place, index) => installation(index + 1, place, fresh, clis, context)),
  ];
}

function installation(index: number, to: string, fresh: NewCli, clis: readonly LocalCli[], context: Context): Action {
  const { release } = context.goal;
  const sha256 = fresh.sum ? { sha256: fresh.sum.sha256 } : {};
  const old = clis.find(({ file }) => file === to);
  const replaces = old ? { replaces: to, keepAs: keptAs(old, `replaced-${index + 1}`, context) } : {};
  return {
    id: index === 0 ? 'install' : `install-plugin-${index}`,
    title: `download ${context.profile.cli.program} ${release} (${sumText(fresh)}) and install it as ${to}`,
    ref: '§4.4/4',
    undo: 'partial',
    effect: { type: 'install-cli', release, path: fresh.path, url: fresh.url, ...sha256, to, ...replaces },
    ...(old ? { cures: [oldCliIsGone(to)] } : {}),
  };
}
