import type { StageCommand } from '../cli/command-names.ts';
import type { CommandRow } from '../cli/command-row.ts';

const bin = '<%= config.bin %>';

/** Commands that perform the chain or one stage of it. */
export const stageCommands = {
  run: {
    summary: 'Upgrade: perform all stages, or some of them; resumes an interrupted run',
    procedure: 'all',
    text: `Performs the stages in order, each planned from the live cluster. If it is interrupted, run the same command again
and it resumes. Running it on an upgraded cluster changes nothing.`,
    when: 'Once preflight is clean and the plan is agreed. Stages with nothing to do are skipped.',
    examples: [`${bin} run`, `${bin} run --yes --through wait`, `${bin} run --include hep`, `${bin} run --plan-file plan.json --yes`],
  },
  preflight: {
    summary: 'Find out what is installed and whether it can be upgraded; changes nothing',
    procedure: '§1, §7, §9',
    text: `Reads the cluster and this machine, and checks whether this installation can be upgraded. It changes nothing.
The exception is --probe-images: it starts pods that pull the target's images on every node, and deletes them again.
A failed check ends with exit code 3. explain says what a check means; --accept waives one.`,
    when: 'Before anything else, as often as you like, and again right before the maintenance window.',
    examples: [
      `${bin} preflight`,
      `${bin} preflight --context=prod -o json`,
      `${bin} preflight --probe-images`,
      `${bin} preflight --read-only`,
      `${bin} preflight --accept NS-110=DaemonSet/kube-system/netsvc-node`,
    ],
  },
  backup: {
    summary: 'Write everything of the service that the upgrade can touch to files',
    procedure: '§7',
    text: `Writes CRDs, custom resources and the objects of the target manifest to a folder with checksums.
Secrets are left out unless --with-secrets is given. run takes a backup before its first write.`,
    when: 'Alone, when a copy is wanted long before the upgrade; run takes one by itself.',
    examples: [`${bin} backup --backup-dir=./before-v3.32`],
  },
  crds: {
    summary: 'Install the new custom resource definitions before the new operator starts',
    procedure: '§4.2, §4.3',
    text: `Applies the CRDs of the target release on the operator and chart paths.
On the manifest paths the full manifest holds them: nothing to do, exit code 0.`,
    when: 'Before apply on the operator and chart paths.',
    examples: [`${bin} crds --dry-run=server`, `${bin} crds --yes`],
  },
  alp: {
    summary: 'Update the mesh’s sidecar template, then restart what still carries an older sidecar',
    procedure: '§4.6',
    text: `Puts the target's template for the installed mesh into the injector, with your edits kept:
by kubectl apply where the release's file is a whole ConfigMap, by kubectl patch where it is only the data of one, which cannot be applied.
Then restarts only workloads whose pods have an older sidecar, batch by batch, and waits for each. A restart of the others
would change nothing for them (--all restarts them, too).
Pods without a controller, Jobs, paused Deployments and workloads whose disruption budget is spent are manual steps.
Within --max-failed, workloads whose new pods fail are named and not restarted again; beyond it the command stops.
A second run continues with what is still old.`,
    when: 'After apply and wait, where NS-702 says that application layer policy is in use.',
    examples: [
      `${bin} alp --dry-run=client`,
      `${bin} alp --batch=5 --max-failed=1`,
      `${bin} alp --only-template`,
      `${bin} alp -n shop -l app=web`,
      `${bin} alp --undo`,
    ],
  },
  policy: {
    summary: 'Show what only the temporary policy allows, and delete it when you name it',
    procedure: '§4.4/7, §4.5/6',
    text: `The policy of an upgrade from before v3.14 allows all traffic. Says on which hosts everything would be dropped
without it, and asks for a review of the traffic logs. It is deleted only with --delete NAME. A copy is written first, to --backup-dir or
the work folder, and kept in the run record; the end says where the copy is, and the command that creates the policy again.`,
    when: 'Last, when you have reviewed the traffic of the temporary policy.',
    examples: [`${bin} policy`, `${bin} policy --delete=allow-all-upgrade`],
  },
  hep: {
    summary: 'Migrate to automatic host endpoints, with a verdict for every node first',
    procedure: '§4.7',
    text: `Says for every node what applies to its host now and what will: as soon as automatic endpoints are enabled,
and once its old endpoint is gone. It stops at hosts that would be opened, get their first policies or get other policies,
until you accept each by name.
Then it copies the labels of old all-interfaces endpoints to their nodes and enables automatic endpoints.
When each node has its own with these labels, it deletes the old ones node by node, the first one alone.`,
    when: 'After wait, when the controllers are to create the host endpoints; in the chain with run --include hep.',
    examples: [`${bin} hep --dry-run=client -o wide`, `${bin} hep --accept NS-712=node-01`, `${bin} hep --undo`],
  },
  apply: {
    summary: 'Apply the target release with your own edits kept',
    procedure: '§4.2–§4.5',
    text: `Applies the install manifest, the operator manifest or the chart of the target release, in waves.
Edits that were made to the installed manifest are carried over; the plan shows each of them.`,
    when: 'After preflight and a look at the plan; it starts the rolling update.',
    examples: [`${bin} apply --dry-run=server`, `${bin} apply --upgrade-file=upgrade.yaml`],
  },
  wait: {
    usesRecord: true,
    summary: 'Follow the rolling update, node by node; changes nothing',
    procedure: '§4.4/3, §4.5/3',
    text: `Watches until every pod runs the target release and is ready, and says why one is late.
Ready, with profile calico: all containers of the pod. With netsvc: READY 2/2 of an agent, 1/2 in key-value mode, 1/1 of the controllers.
Pods of kube-system that are not the service's are not waited for: those in trouble are named (NS-312).
Can be interrupted and started again at any time. With --probe-network it starts short-lived Jobs, once confirmed: new pods on an upgraded and an
old node must resolve a name and reach each other, or the wait stops.`,
    when: 'During the rolling update, beside apply or after it, from any machine.',
    examples: [
      `${bin} wait --timeout=30m`,
      `${bin} wait --probe-network --probe-image registry.example.com/busybox:1.37 --probe-namespace netsvc-probe`,
    ],
  },
  cli: {
    summary: 'Replace old command-line tools of the service by the new one',
    procedure: '§1/4, §4.4/4, §4.5/4',
    text: `Moves old copies of the CLI aside, installs the one of the target release, and says by which two variables it reaches the datastore.
No configuration file is written unless --cli-config names one that is not there.`,
    when: "After the rolling update, on each machine where the service's CLI is used.",
    examples: [`${bin} cli --bin-dir=/usr/local/bin`],
  },
  verify: {
    usesRecord: true,
    summary: 'Check the result: versions, pods, leftovers; changes nothing',
    procedure: '§4.4/5, §9',
    text: `Reads the cluster after the upgrade and checks the result.`,
    when: 'At the end, and whenever you want to know whether the upgrade is complete.',
    examples: [`${bin} verify --report-file=verify.html`],
  },
} satisfies Readonly<Record<StageCommand, CommandRow>>;
