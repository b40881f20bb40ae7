import type { Action } from '../core/action.ts';
import type { Context } from '../core/context.ts';
import { stage } from '../core/stage.ts';
import { sameRelease } from '../detect/images.ts';
import { type CliFacts, folderOf, type LocalCli, readCliFacts } from './cli-facts.ts';

/** Old CLIs out, the new one in: an older one must not be used after the upgrade (§1/4, §4.4/4, §4.5/4). */
export const cliStage = stage<CliFacts>({
  id: 'cli',
  title: 'Replace the service’s own CLI',
  ref: '§4.4/4',
  paths: ['chart', 'operator', 'manifest', 'kvstore'],
  readOnly: false,
  checks: [],
  survey: readCliFacts,
  plan(facts, context) {
    const old = facts.clis.filter((one) => !isNew(one, context));
    const install = installActions(facts, context);
    const replaced = install.flatMap(({ effect }) => (effect.type === 'install-cli' && effect.replaces ? [effect.replaces] : []));
    const actions = [
      ...old.filter(({ file }) => replaced.includes(file)).map((one, index) => keepCopy(one, index, context)),
      ...install,
      ...old.filter(({ file }) => !replaced.includes(file)).map((one, index) => removal(one, index, context)),
      ...facts.pods.map((pod) => podAction(pod, context)),
      ...reminders(facts, old, context),
    ];
    if (actions.length === 0)
      return { skip: `${context.profile.cli.program} is of ${context.options.release} already, and no older one was found` };
    return { actions };
  },
});

function isNew({ release }: LocalCli, { options }: Context): boolean {
  return release !== undefined && sameRelease(release, options.release);
}

const ask = (id: string, title: string, instruction: string): Action => ({
  id,
  title,
  ref: '§4.4/4',
  undo: 'full',
  effect: { type: 'ask', instruction },
});

function installActions({ clis, fresh, binDir }: CliFacts, context: Context): readonly Action[] {
  const { cli } = context.profile;
  const { release } = context.options;
  const there = clis.find((one) => isNew(one, context) && (binDir === undefined || folderOf(one.file) === binDir));
  if (there) return [];
  if ('missing' in fresh) {
    return [
      ask(
        'install',
        `install ${cli.program} ${release}`,
        `${cli.program} ${release} is not installed: ${fresh.missing}. Put it on PATH as ${cli.program} (0755), then run: kubectl netsvc-upgrade verify`,
      ),
    ];
  }
  if (binDir === undefined) {
    return [
      ask(
        'install',
        `install ${cli.program} ${release}`,
        `${cli.program} ${release} is downloaded as ${fresh.file} (sha256 ${fresh.sha256}); name a folder on PATH: kubectl netsvc-upgrade cli --bin-dir DIR`,
      ),
    ];
  }
  const to = `${binDir}/${cli.program}`;
  const replaces = clis.find(({ file }) => file === to)?.file;
  const effect = { type: 'install-cli', from: fresh.file, sha256: fresh.sha256, to, ...(replaces ? { replaces } : {}) } as const;
  return [{ id: 'install', title: `install ${cli.program} ${release} as ${to}`, ref: '§4.4/4', undo: 'partial', effect }];
}

function keptAs({ file, release }: LocalCli, index: number, context: Context): string {
  const name = file.slice(folderOf(file).length).replaceAll(/[/\\]/g, '');
  return `${context.workFolder}/old-cli/${name}-${release ?? 'unknown'}-${stamp(context)}-${index + 1}`;
}

function stamp({ startedAt }: Context): string {
  return startedAt.toISOString().replaceAll(/[-:]|\.\d+/g, '');
}

function keepCopy(one: LocalCli, index: number, context: Context): Action {
  const effect = { type: 'remove-file', file: one.file, keepAs: keptAs(one, index, context) } as const;
  return { id: `keep-${index + 1}`, title: `move the old ${one.file} aside`, ref: '§4.4/4', undo: 'full', effect };
}

/** What a package manager put there is never deleted behind its back. */
function removal(one: LocalCli, index: number, context: Context): Action {
  const what = `${one.file} (${one.release ?? 'release unknown'})`;
  if (one.owner)
    return ask(
      `remove-${index + 1}`,
      `remove ${what}`,
      `older CLI ${what} belongs to ${one.owner.manager}: remove it with: ${one.owner.removeWith}`,
    );
  if (!one.writable) return ask(`remove-${index + 1}`, `remove ${what}`, `older CLI ${what} may not be removed by you: have it removed`);
  const effect = { type: 'remove-file', file: one.file, keepAs: keptAs(one, index + 100, context) } as const;
  return { id: `remove-${index + 1}`, title: `remove the old ${what}`, ref: '§4.4/4', undo: 'full', effect };
}

function podAction({ pod, namespace, name, image }: CliFacts['pods'][number], context: Context): Action {
  const instruction = `${pod} runs an older CLI (${image}): delete it with: kubectl delete pod -n ${namespace} ${name} — and start it anew from the manifest of ${context.options.release} if it is needed`;
  return ask(`pod-${namespace}-${name}`, `replace the CLI in ${pod}`, instruction);
}

function reminders({ configFile, fresh, pods }: CliFacts, old: readonly LocalCli[], { profile }: Context): readonly Action[] {
  const { program, configFile: file } = profile.cli;
  const changes = old.length > 0 || pods.length > 0 || !('missing' in fresh);
  if (!changes) return [];
  const configure = configFile
    ? `${file} decides which datastore ${program} talks to: see that it names this cluster`
    : `${program} reaches the API datastore with DATASTORE_TYPE=kubernetes and your KUBECONFIG`;
  return [
    ask('configure', `configure ${program}`, configure),
    ask(
      'elsewhere',
      'replace it on other machines',
      `replace ${program} on every other machine as well: an older one must not be used any more`,
    ),
  ];
}
