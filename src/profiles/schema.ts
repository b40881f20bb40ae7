import {
  defectDefinitions,
  each,
  fields,
  flag,
  line,
  listOf,
  mapOf,
  oneOfTypes,
  ref,
  release,
  type Schema,
  text,
  texts,
} from './defect-schema.ts';

const datastoreName: Schema = { enum: ['api', 'kvstore'] };
const workloadKind: Schema = { enum: ['DaemonSet', 'Deployment'] };
const value = { 'oneOf?': texts, 'noneOf?': texts, 'absent?': flag };
const resource = { plural: text, kind: text, name: text };

const definitions: Readonly<Record<string, Schema>> = {
  readyRule: oneOfTypes(
    fields({ type: { const: 'all-containers' } }),
    fields({ type: { const: 'literal' }, ready: { type: 'string', pattern: '^\\d+/\\d+$' } }),
  ),
  workload: fields({ kind: workloadKind, namespace: text, name: text, container: text, ready: ref('readyRule') }),
  sign: oneOfTypes(
    fields({ type: { const: 'env' }, name: text, ...value }),
    fields({ type: { const: 'configMapKey' }, key: text, ...value }),
    fields({ type: { const: 'container' }, name: text, 'absent?': flag }),
    fields({ type: { const: 'workload' }, kind: workloadKind, name: text, 'absent?': flag }),
  ),
  variant: fields({
    ...each(text, 'id', 'title', 'file'),
    datastore: datastoreName,
    agent: ref('workload'),
    controllers: ref('workload'),
    'typha?': ref('workload'),
    configMap: text,
    signs: listOf(ref('sign')),
  }),
  addOn: fields({ id: { enum: ['apiserver', 'csi'] }, file: text, workload: ref('workload'), otherNamespaces: texts }),
  platformSign: oneOfTypes(
    fields({ type: { enum: ['label', 'annotation'] }, key: text, 'value?': text }),
    fields({ type: { enum: ['manager', 'hostPath', 'chartRelease'] }, prefix: text }),
    fields({ type: { const: 'image' }, contains: text }),
    fields({ type: { const: 'workload' }, kind: workloadKind, name: text }),
    fields({ type: { enum: ['configMap', 'crd'] }, name: text }),
    fields({ type: { const: 'configMapKey' }, key: text, 'contains?': text }),
  ),
  platform: fields({ id: text, title: text, hint: text, signs: listOf(ref('platformSign')) }),
  ...defectDefinitions,
};

const operator = fields({
  namespace: text,
  deployment: text,
  installationKind: fields({ group: text, version: text, plural: text, kind: text }),
  ...each(text, 'workloadNamespace', 'file', 'chart'),
  'chartNames?': fields({
    'repository?': text,
    manageCrds: text,
    pins: texts,
    additions: listOf(fields({ value: text, kind: text })),
    'csi?': fields({ value: text, off: text }),
  }),
  releases: mapOf(line),
  'exactReleases?': mapOf(release),
  agent: ref('workload'),
  controllers: ref('workload'),
  'typha?': ref('workload'),
  labels: mapOf({ type: 'string' }),
  'versionEnv?': text,
  'statusVersionField?': text,
  'migrationLabel?': fields({ key: text, pending: text }),
  'flowLogs?': texts,
  'end?': fields({
    since: release,
    statusKind: text,
    statuses: listOf(
      fields({
        name: text,
        generation: { enum: ['installation', 'own', 'none'] },
        'kind?': text,
        'needs?': fields({ kind: text, plural: text }),
      }),
    ),
    api: fields({ kind: text, service: text, namespace: text, oldNamespace: text }),
  }),
  'imageListArgs?': texts,
  'crossings?': fields({
    'guarded?': fields({
      since: release,
      ...each(text, 'namespace', 'tier', 'scrapers'),
      reachedBy: listOf(fields({ apiVersion: text, kind: text, plural: text })),
    }),
    'certificates?': fields({
      namespace: text,
      keys: texts,
      signer: text,
      secrets: texts,
      api: fields({ secret: text, name: text, since: release }),
    }),
    'writes?': listOf(fields({ plural: text, fields: texts })),
    imageSet: fields({ kind: text, plural: text, prefix: text }),
    refused: listOf(fields({ since: release, field: text, value: text, instead: text })),
    pools: fields({ plural: text, field: texts }),
    gateway: fields({
      ...each(text, 'kind', 'plural', 'policy', 'field', 'value'),
      definitions: fields({ group: text, annotation: text, bundles: listOf(fields({ since: release, version: release })) }),
    }),
    dataPlane: fields({ field: texts, otherwise: text, iptables: text, nftables: text }),
  }),
  'otherProducts?': fields({ variantField: text, variant: text, agentImages: texts }),
});

const datastore = fields({
  env: text,
  ...each(texts, 'api', 'kvstore', 'endpointsEnv'),
  endpointsKey: text,
  tlsKeys: texts,
  'secret?': text,
  secretKeys: texts,
  placeholders: texts,
  'resourcesKey?': text,
  'snapshot?': fields({ command: text, endpointFlag: text, tlsFlags: texts }),
  'otherwise?': datastoreName,
});

const cli = fields({
  program: text,
  kubectlPlugin: text,
  images: texts,
  artifact: text,
  'checksums?': text,
  environment: texts,
  configFile: text,
  'config?': fields({
    ...each(text, 'apiVersion', 'kind', 'datastoreField', 'kubeconfigField', 'endpointsField'),
    tlsFields: texts,
  }),
  'kinds?': fields({ cluster: texts, namespaced: texts }),
});

/** A complete profile: every field of the type, and no other. The published schema is made from it. */
export const profileSchema: Schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Profile of a networking and policy service',
  description:
    'Every name and fact that the upgrade procedure leaves open. In a file, `extends: NAME` may take the rest from a shipped profile.',
  ...fields({
    ...each(text, 'name', 'title', 'apiGroup', 'crdGroup', 'operatorGroup'),
    defaultRelease: release,
    minimumSource: release,
    'manifestUrl?': text,
    registries: texts,
    images: fields({
      ...each(texts, 'agent', 'cni', 'controllers', 'typha', 'apiserver', 'csi', 'operator', 'sidecar'),
    }),
    variants: { ...listOf(ref('variant')), minItems: 1 },
    addOns: listOf(ref('addOn')),
    operator,
    crdFile: text,
    datastore,
    platforms: listOf(ref('platform')),
    cniInstaller: text,
    'nativeApiEnv?': fields({ name: text, value: text }),
    clusterInformation: fields({ ...resource, versionField: text, 'guidField?': text }),
    cli,
    'typhaRefusesAgentsBefore?': release,
    'policyRenaming?': fields({ since: release, prefix: text, switchField: text, 'waitsFor?': text }),
    uidChanges: listOf(release),
    'uidBackports?': listOf(release),
    'versionCommands?': { type: 'object', additionalProperties: texts },
    leftovers: fields({ containers: texts, env: texts, volumes: texts }),
    merge: fields({
      commaLists: texts,
      renames: listOf(fields({ list: { enum: ['initContainers', 'containers', 'volumes'] }, from: text, to: text })),
    }),
    removedKinds: listOf(fields({ group: text, plural: text, kind: text, since: release, replacement: text })),
    kubernetes: fields({
      floor: { type: 'string', pattern: '^\\d+\\.\\d+$' },
      tested: listOf({ type: 'string', pattern: '^\\d+\\.\\d+$' }),
    }),
    labels: fields({ createdBy: text, createdByValue: text, autoHepSuffix: text }),
    allowAllProfile: text,
    'derivedProfiles?': fields({
      namespace: fields({ prefix: text, labelPrefix: text }),
      serviceAccount: fields({ prefix: text, labelPrefix: text }),
    }),
    'automaticEndpointsEnv?': text,
    temporaryPolicy: text,
    controllersConfiguration: fields(resource),
    sidecar: fields({
      ...each(text, 'container', 'injectorNamespace', 'injectorConfigMap', 'syncEnv', 'flexDriver?', 'meshImage', 'template'),
      templateVersions: texts,
    }),
    'failsafePorts?': fields({ inbound: texts, outbound: texts }),
    'registryMove?': fields({ since: release, from: text, to: text }),
    'tierRename?': fields({ since: release, from: text, to: text, others: texts }),
    'flexvolUntil?': line,
    'defects?': listOf(ref('defect')),
  }),
  $defs: definitions,
};
