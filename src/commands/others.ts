import type { CommandName, StageCommand } from '../cli/command-names.ts';
import type { CommandRow } from '../cli/command-row.ts';
import type { RoleRequest } from '../cli/permissions-command.ts';
import { Fault } from '../kernel/fault.ts';

const bin = '<%= config.bin %>';

/** Commands that plan, look, or change what is beside the chain. Each loads what it does when it is run. */
export const otherCommands = {
  plan: {
    summary: 'Show what run would do: every command and patch, in order; changes nothing',
    procedure: 'all',
    text: `Shows what changes per object, also what kubectl's own dry run hides, fields taken from other managers, and leftovers.
Then it shows the pods that restart, every command and patch in order, and the point of no return.
--diff shows each object as a unified diff instead, for a pager or a diff viewer.
-o images prints the images that the nodes will pull, one a line, for a mirror or for pulling them beforehand.
--for-git writes the merged manifests and the renamed policies, so that the next sync of Argo CD or Flux changes nothing.`,
    when: 'After preflight, to read or to have approved what run will do; --out keeps it, and run --plan-file refuses any other.',
    examples: [
      `${bin} plan`,
      `${bin} plan -o wide`,
      `${bin} plan --diff`,
      `${bin} plan -o images`,
      `${bin} plan --for-git ./netsvc`,
      `${bin} plan --out plan.json && ${bin} run --plan-file plan.json`,
    ],
    async run({ flags, asked, seams }) {
      const { runPlanCommand } = await import('../cli/plan/command.ts');
      return runPlanCommand(asked(flags), seams);
    },
  },
  status: {
    summary: 'Show what a run on this cluster did and where it stands; changes nothing',
    procedure: 'none; it reads the record of a run',
    text: 'Reads the run record and the lock from the cluster, so it works from any machine.',
    when: 'To see who runs what and how far it is, or after a run was interrupted.',
    examples: [`${bin} status`, `${bin} status --watch`, `${bin} status -o json`],
    async run({ flags, asked, seams }) {
      return (await import('../cli/status-command.ts')).runStatusCommand(asked(flags), seams);
    },
  },
  report: {
    summary: 'Print the report of a run, later and from any machine; changes nothing',
    procedure: 'none; it reads the record of a run',
    text: `Reads the history that the run stored in the cluster: what was found, done and waited for, and when.
Without RUN-ID, the report of the last run.
The exit code says whether the report could be made; how the run ended is in the report.`,
    when: 'After a run, for those who were not at the terminal.',
    examples: [`${bin} report`, `${bin} report --report-file=run.html`],
    usage: '[RUN-ID] [flags]',
    args: { run: { name: 'run-id', description: 'id of a run, as status shows it' } },
    async run({ flags, args, asked, seams }) {
      return (await import('../cli/ending/command.ts')).runReportCommand(asked(flags), args.run, seams);
    },
  },
  ownerrefs: {
    summary: 'Remove ownerReferences that the upgrade can invalidate, and restore them with the new UIDs',
    procedure: '§4.8',
    text: `list: every object that names a resource of the service as its owner, and whether it is removed before the upgrade.
strip: records the references that the upgrade can invalidate (NS-701 has the rule) in a journal in the cluster, then removes them.
restore: waits for the new API server and for the new names of policies, then puts each reference back
at its old place with its owner's new UID. Add --undo to put them back before the upgrade, if you decide against it.
forget: writes the journal to a file and deletes it, once everything is back. run does all of this by itself.`,
    when: 'Before an upgrade across v3.28 or to the release that renames policies, and after it; run does both at the right time.',
    examples: [
      `${bin} ownerrefs`,
      `${bin} ownerrefs list --owner NetworkSet/frontends -n shop -o wide`,
      `${bin} ownerrefs strip --dry-run=client`,
      `${bin} ownerrefs restore --yes`,
    ],
    usage: '[list|strip|restore|forget] [flags]',
    args: {
      action: { description: 'what to do', options: ['list', 'strip', 'restore', 'forget'], default: 'list' },
    },
    async run({ flags, args, asked, seams }) {
      const { action = '' } = args;
      assertMeant(action, flags);
      if (action === 'list') return (await import('../cli/owner-list-command.ts')).runOwnerList(asked(flags), flags.owner, seams);
      const { only, runStageCommand } = await import('../cli/stage-command.ts');
      return runStageCommand(asked(action === 'forget' ? { ...flags, forget: true } : flags), seams, only(`ownerrefs-${action}`));
    },
  },
  unlock: {
    summary: 'Show who holds the lock, and release it when told so',
    procedure: 'none; it guards the run record',
    text: `A lock is renewed while its run lives, and free a minute after the run is gone.
Release another run's lock only when you know that the run is dead: two runs at once can harm the cluster.`,
    when: 'When a command ends with exit code 6 and status names a run that is gone for good.',
    examples: [`${bin} unlock`, `${bin} unlock --yes`],
    async run({ flags, asked, seams }) {
      return (await import('../cli/unlock-command.ts')).runUnlockCommand(asked(flags), seams);
    },
  },
  permissions: {
    summary: 'Print the roles that a command needs',
    procedure: 'none; what every stage asks for',
    text: `Prints a ClusterRole, and a Role for each namespace, with exactly the permissions that the command needs.
Its first lines say whether the role amounts to cluster-admin, and why. With --variant the role names its objects.`,
    when: 'Before you create the account that upgrades, or one that only looks.',
    examples: [
      `${bin} permissions --for preflight-read-only`,
      `${bin} permissions --for run --profile calico --variant calico`,
      `${bin} permissions --for run --path chart --profile calico`,
      `${bin} permissions --for probe-network --probe-namespace netsvc-probe`,
    ],
    async run({ flags, seams }) {
      const { permissionsText } = await import('../cli/permissions-command.ts');
      seams.terminal.out(await permissionsText(flags as RoleRequest));
      return 'done';
    },
  },
  explain: {
    summary: 'Say what a check means and how to fix it',
    procedure: 'none; pages of the checks',
    text: 'Prints the page of a check. Without an id, lists every check.',
    when: "When a finding's id is not clear, or before you accept it.",
    examples: [`${bin} explain NS-105`, `${bin} explain`],
    usage: '[CHECK-ID]',
    args: { check: { name: 'check-id', description: 'id of a check, such as NS-105' } },
    async run({ args, seams }) {
      seams.terminal.out(await (await import('../cli/explain-check.ts')).explainCheck(args.check));
      return 'done';
    },
  },
  completion: {
    summary: 'Shell completion through kubectl',
    procedure: 'none',
    text: `kubectl (1.26 and later) completes plugins by a program named kubectl_complete-netsvc_upgrade on PATH.
show prints it; install writes it beside this program, or to --dir.
bash, zsh and fish print a script for the program called by its own file name, without kubectl:
let the shell read it at its start.
Namespaces and nodes are asked of the API server for 300 ms at most; NETSVC_UPGRADE_COMPLETION_MS sets another limit.`,
    when: 'Once, after the installation.',
    examples: [`${bin} completion install --dir ~/.krew/bin`, `${bin} completion show`],
    usage: '[show|install|bash|zsh|fish] [flags]',
    args: { action: { description: 'what to do', options: ['show', 'install', 'bash', 'zsh', 'fish'], default: 'show' } },
    async run({ flags, args, seams: { terminal, env } }) {
      const { completionText } = await import('../cli/completion-scripts.ts');
      terminal.out(await completionText(args.action, flags.dir, env));
      return 'done';
    },
  },
  demo: {
    summary: 'Perform the whole chain on an in-memory cluster; touches no real one',
    procedure: 'all',
    text: `Shows in half a minute what run shows: the plan, the question, the rolling update and the last lines. --scenario shows what a run
says in trouble, and ends with the exit code that run has then. No kubeconfig is read and nothing outside this process is changed.`,
    when: 'Before the first upgrade, to see what it looks like.',
    examples: [
      `${bin} demo`,
      `${bin} demo --scenario image-pull`,
      `${bin} demo --yes --scenario interrupted`,
      `${bin} demo --yes --keep-going`,
    ],
    async run({ flags, asked, seams }) {
      const { typed, commands } = asked(flags);
      return (await import('../cli/demo.ts')).runDemo({ flags, typed, commands, seams });
    },
  },
} satisfies Readonly<Record<Exclude<CommandName, StageCommand>, CommandRow>>;

/** A flag of another action would be passed over silently: `strip -l app=web` removes references everywhere, `strip --undo` as well. */
function assertMeant(action: string, flags: { readonly owner?: string; readonly selector?: string; readonly undo?: boolean }): void {
  for (const name of ['owner', 'selector'] as const)
    if (flags[name] !== undefined && action !== 'list')
      throw new Fault('usage', `--${name} is for list alone: ${action} works on the whole cluster`, [
        `see what it concerns first: kubectl netsvc-upgrade ownerrefs list --${name}=${flags[name]}`,
        `then leave --${name} out`,
      ]);
  if (flags.undo && action !== 'restore')
    throw new Fault('usage', `--undo is for restore alone, not for ${action}`, [
      'put back what strip removed: kubectl netsvc-upgrade ownerrefs restore --undo',
    ]);
}
