/** One numbered step, rule or table row of the upgrade procedure, in our own words. */
export interface ProcedureStep {
  /** `§4.4/2`: section, and the number within it (rows of a table are counted). */
  readonly ref: string;
  readonly asks: string;
}

const step = (ref: string, asks: string): ProcedureStep => ({ ref, asks });

/** The procedure as a list: every action and check cites an entry, and docs/reference/coverage.md shows who claims which. */
export const procedure: readonly ProcedureStep[] = [
  step('§1/1', 'Start from v3.15 or later; the way depends on datastore and install method'),
  step('§1/2', 'Four paths: chart, operator, manifest, key-value'),
  step('§1/3', 'Recommend the API datastore over key-value, and the operator over the combined manifest'),
  step('§1/4', 'No older CLI after the upgrade'),
  step('§1/5', 'Manifests are applied server-side with forced conflicts'),
  step('§2', 'The objects and fields that the procedure works on'),
  step('§3/1', 'API datastore: agents Running, READY 2/2'),
  step('§3/2', 'Key-value datastore: agents Running, READY 1/2'),
  step('§3/3', 'Key-value datastore: controllers Running, READY 1/1'),
  step('§4.1', 'Artifacts are fetched by release and file name, and saved under given names'),
  step('§4.2/1', 'Chart: new CRDs first, from the file or the rendered CRD chart'),
  step('§4.2/2', 'Chart: upgrade the release with the chart tool'),
  step('§4.3/1', 'Operator: download the CRD and the operator manifests'),
  step('§4.3/2', 'Operator: apply the CRDs, then the operator'),
  step('§4.3/3', 'Operator: the two flow-log resources, if wanted'),
  step('§4.4/1', 'Manifest: download the installed variant as upgrade.yaml; edits must not get lost'),
  step('§4.4/2', 'Manifest: start the rolling update by applying upgrade.yaml'),
  step('§4.4/3', 'Manifest: watch until every agent is Running and READY'),
  step('§4.4/4', 'Manifest: remove old CLIs, install and configure the new one'),
  step('§4.4/5', 'Manifest: the CLI reports the cluster version'),
  step('§4.4/6', 'Manifest: application layer policy, if it is used'),
  step('§4.4/7', 'Manifest: review and remove the temporary policy, if there is one'),
  step('§4.5/1', 'Key-value: download the variant, set the endpoints, carry the edits'),
  step('§4.5/2', 'Key-value: start the rolling update'),
  step('§4.5/3', 'Key-value: watch the pods'),
  step('§4.5/4', 'Key-value: old CLIs out, the new one in'),
  step('§4.5/5', 'Key-value: the CLI reports the cluster version'),
  step('§4.5/6', 'Key-value: application layer policy and temporary policy'),
  step('§4.6/1', 'Mesh: apply the injector template for the mesh version'),
  step('§4.6/2', 'Mesh: restart the services so that pods get the new sidecar'),
  step('§4.7/1', 'Host endpoints: copy labels to the nodes'),
  step('§4.7/2', 'Host endpoints: enable automatic creation'),
  step('§4.7/3', 'Host endpoints: delete the old ones'),
  step('§4.8/1', 'Owner references: remove those to the v3 group'),
  step('§4.8/2', 'Owner references: upgrade normally'),
  step('§4.8/3', 'Owner references: put them back with the new UIDs'),
  step('§7/1', 'Owner references left in place across v3.28: owned objects are collected'),
  step('§7/2', 'An older CLI used afterwards: unexpected data'),
  step('§7/3', 'Automatic host endpoints without policy: everything is allowed'),
  step('§7/4', 'Edits not carried: they are lost'),
  step('§7/5', 'CRDs left to the operator: new configuration has to wait'),
  step('§9/1', 'Target release and the tag of its artifacts'),
  step('§9/2', 'Sources from v3.15 on'),
  step('§9/3', 'What the version check must report per path'),
  step('§9/4', 'v3.28 changed the UIDs of v3 resources'),
  step('§9/5', 'v3.30 added flow logs and the flow UI'),
  step('§9/6', 'The temporary policy of releases before v3.14 goes at the end'),
  step('§9/7', 'A new agent tolerates an older sidecar'),
  step('§9/8', 'Chart and artifact addresses are pinned to the release'),
];
