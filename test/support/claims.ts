/** A step of the procedure that an action of the plan, or a part of the program, answers for. */
interface Claim {
  readonly ref: string;
  readonly by: string;
}

/** Claims beyond the `ref` of stages and checks: docs/reference/coverage.md is written from all three. */
export const claims: readonly Claim[] = [
  { ref: '§1/1', by: 'NS-105 checks the source, NS-104 path and datastore' },
  { ref: '§1/5', by: '`apply`: every wave is `kubectl apply --server-side --force-conflicts -f FILE`' },
  { ref: '§2', by: 'the profile: every name of the table is data' },
  { ref: '§3/1', by: 'READY rule of the profile, evaluated by `wait`' },
  { ref: '§3/2', by: 'READY rule of the profile, evaluated by `wait`' },
  { ref: '§3/3', by: 'READY rule of the profile, evaluated by `wait`' },
  { ref: '§4.2/1', by: '`crds`: the release’s file, or the chart of `--crd-chart` rendered; `--manage-crds` leaves them to the operator' },
  { ref: '§4.2/2', by: '`apply` on the chart path: `helm upgrade` with the values kept' },
  { ref: '§4.3/1', by: '`crds` and `apply` on the operator path' },
  { ref: '§4.3/3', by: '`apply --enable-flow-logs` on the operator path' },
  { ref: '§4.4/1', by: '`apply`: downloads upgrade.yaml and carries edits into it' },
  { ref: '§4.4/2', by: '`apply`: the waves' },
  { ref: '§4.4/6', by: '`alp`; NS-702 tells whether it is in use' },
  { ref: '§4.5/1', by: '`apply`: the key-value variant with the installed endpoints, certificates and edits; `--kvstore-endpoints`' },
  { ref: '§4.5/2', by: '`apply`: the waves' },
  { ref: '§4.5/3', by: '`wait`: the profile’s READY rule' },
  { ref: '§4.5/4', by: '`cli`: all four paths' },
  { ref: '§4.5/5', by: '`verify`: NS-301 checks both forms of the version, asked through the CLI' },
  { ref: '§4.4/7', by: '`policy`: review, then removal when it is named' },
  { ref: '§4.5/6', by: '`alp` and `policy`' },
  {
    ref: '§4.6/1',
    by: '`alp`: applied where it is a whole object, patched where a release ships only its data; your changes kept, `--undo`',
  },
  {
    ref: '§4.6/2',
    by: '`alp`: restarts what still carries an older sidecar, which comes to the same; `--all` restarts every meshed workload; NS-703 and NS-733: not before the CSI driver is ready',
  },
  { ref: '§4.7/1', by: '`hep`: labels, conflicts shown and never written over' },
  { ref: '§4.7/2', by: '`hep`: the CLI’s patch, proved per node by the endpoints themselves' },
  { ref: '§4.7/3', by: '`hep`: identified by label and suffix, node by node' },
  { ref: '§4.8/2', by: '`run`: the chain between the two stages' },
  { ref: '§7/2', by: '`cli` removes older ones, NS-308 finds what is left' },
  { ref: '§7/3', by: 'NS-711, NS-712 and NS-713: a verdict for every node before `hep` acts' },
  {
    ref: '§7/4',
    by: '`apply`: edits are carried by a three-way merge; what conflicts with a change of the release is your decision (NS-201, exit 8)',
  },
  { ref: '§7/5', by: '`crds` applies them first; the plan of `apply --manage-crds` says what that option means' },
  { ref: '§9/3', by: 'NS-301: both forms are compared by the minor line' },
  { ref: '§7/1', by: '`ownerrefs-strip` and `ownerrefs-restore`; NS-307 finds what is dead' },
  { ref: '§9/4', by: 'NS-701 finds the references that would dangle, `ownerrefs-strip` removes them' },
  { ref: '§9/5', by: '`apply`: nothing of it unless `--enable-flow-logs`; existing resources are not changed' },
  { ref: '§9/7', by: 'NS-702 and the plan of `alp` say it' },
  { ref: '§9/8', by: 'artifacts are fetched by the release tag; charts by `--version`, checked by NS-235' },
];
