import assert from 'node:assert/strict';
import { Ajv } from 'ajv';
import type {
  AddOn,
  CliNames,
  DatastoreFacts,
  Leftovers,
  MergeKnowledge,
  Platform,
  PlatformSign,
  Profile,
  RemovedKind,
  Sign,
  Variant,
} from '../../src/kernel/profile.ts';
import type { WorkloadName } from '../../src/kernel/rollout.ts';
import type { Schema } from '../../src/profiles/defect-schema.ts';
import { shippedProfiles } from '../../src/profiles/index.ts';
import { profileSchema } from '../../src/profiles/schema.ts';

/** Every field of a type, and whether it may be left out: the compiler refuses a table that is not the type's. */
type FieldsOf<T> = { readonly [K in keyof T]-?: undefined extends T[K] ? 'optional' : 'required' };

const profile: FieldsOf<Profile> = {
  name: 'required',
  title: 'required',
  apiGroup: 'required',
  crdGroup: 'required',
  operatorGroup: 'required',
  defaultRelease: 'required',
  minimumSource: 'required',
  manifestUrl: 'optional',
  registries: 'required',
  images: 'required',
  variants: 'required',
  addOns: 'required',
  operator: 'required',
  crdFile: 'required',
  datastore: 'required',
  platforms: 'required',
  cniInstaller: 'required',
  nativeApiEnv: 'optional',
  clusterInformation: 'required',
  cli: 'required',
  typhaRefusesAgentsBefore: 'optional',
  policyRenaming: 'optional',
  uidChanges: 'required',
  uidBackports: 'optional',
  versionCommands: 'optional',
  leftovers: 'required',
  merge: 'required',
  removedKinds: 'required',
  kubernetes: 'required',
  labels: 'required',
  allowAllProfile: 'required',
  derivedProfiles: 'optional',
  automaticEndpointsEnv: 'optional',
  failsafePorts: 'optional',
  temporaryPolicy: 'required',
  controllersConfiguration: 'required',
  sidecar: 'required',
  registryMove: 'optional',
  tierRename: 'optional',
  flexvolUntil: 'optional',
  defects: 'optional',
};
const images: FieldsOf<Profile['images']> = {
  agent: 'required',
  cni: 'required',
  controllers: 'required',
  typha: 'required',
  apiserver: 'required',
  csi: 'required',
  operator: 'required',
  sidecar: 'required',
};
const operator: FieldsOf<Profile['operator']> = {
  namespace: 'required',
  deployment: 'required',
  installationKind: 'required',
  workloadNamespace: 'required',
  file: 'required',
  chart: 'required',
  chartNames: 'optional',
  releases: 'required',
  exactReleases: 'optional',
  agent: 'required',
  controllers: 'required',
  typha: 'optional',
  labels: 'required',
  versionEnv: 'optional',
  statusVersionField: 'optional',
  migrationLabel: 'optional',
  flowLogs: 'optional',
  end: 'optional',
  imageListArgs: 'optional',
  crossings: 'optional',
  otherProducts: 'optional',
};
const datastore: FieldsOf<DatastoreFacts> = {
  env: 'required',
  api: 'required',
  kvstore: 'required',
  endpointsEnv: 'required',
  endpointsKey: 'required',
  tlsKeys: 'required',
  secret: 'optional',
  secretKeys: 'required',
  placeholders: 'required',
  resourcesKey: 'optional',
  snapshot: 'optional',
  otherwise: 'optional',
};
const cli: FieldsOf<CliNames> = {
  program: 'required',
  kubectlPlugin: 'required',
  images: 'required',
  artifact: 'required',
  checksums: 'optional',
  environment: 'required',
  configFile: 'required',
  config: 'optional',
  kinds: 'optional',
};
const variant: FieldsOf<Variant> = {
  id: 'required',
  title: 'required',
  file: 'required',
  datastore: 'required',
  agent: 'required',
  controllers: 'required',
  typha: 'optional',
  configMap: 'required',
  signs: 'required',
};
const workload: FieldsOf<WorkloadName> = {
  kind: 'required',
  namespace: 'required',
  name: 'required',
  container: 'required',
  ready: 'required',
};
const addOn: FieldsOf<AddOn> = { id: 'required', file: 'required', workload: 'required', otherNamespaces: 'required' };
const platform: FieldsOf<Platform> = { id: 'required', title: 'required', hint: 'required', signs: 'required' };
const merge: FieldsOf<MergeKnowledge> = { commaLists: 'required', renames: 'required' };
const leftovers: FieldsOf<Leftovers> = { containers: 'required', env: 'required', volumes: 'required' };
const removedKind: FieldsOf<RemovedKind> = {
  group: 'required',
  plural: 'required',
  kind: 'required',
  since: 'required',
  replacement: 'required',
};
const signTypes: Record<Sign['type'], true> = { env: true, configMapKey: true, container: true, workload: true };
const platformSignTypes: Record<PlatformSign['type'], true> = {
  label: true,
  annotation: true,
  manager: true,
  image: true,
  workload: true,
  configMap: true,
  configMapKey: true,
  hostPath: true,
  chartRelease: true,
  crd: true,
};

function at(schema: Schema, ...path: readonly string[]): Schema {
  return path.reduce((here, step) => here[step] as Schema, schema);
}

function presence(schema: Schema): Readonly<Record<string, string>> {
  const required = schema.required as readonly string[];
  return Object.fromEntries(
    Object.keys(schema.properties as Schema).map((name) => [name, required.includes(name) ? 'required' : 'optional']),
  );
}

function typesOf(schema: Schema): readonly string[] {
  return (schema.oneOf as readonly Schema[])
    .flatMap((option) => {
      const type = at(option, 'properties', 'type');
      return (type.enum as readonly string[] | undefined) ?? [String(type.const)];
    })
    .sort();
}

describe('the profile schema', () => {
  const property = (...names: readonly string[]) => at(profileSchema, ...names.flatMap((name) => ['properties', name]));
  const definition = (name: string) => at(profileSchema, '$defs', name);

  for (const [name, schema, expected] of [
    ['a profile', profileSchema, profile],
    ['its images', property('images'), images],
    ['its operator', property('operator'), operator],
    ['its datastore', property('datastore'), datastore],
    ['its CLI', property('cli'), cli],
    ['its leftovers', property('leftovers'), leftovers],
    ['what merging knows', property('merge'), merge],
    ['a removed kind', at(property('removedKinds'), 'items'), removedKind],
    ['a variant', definition('variant'), variant],
    ['a workload', definition('workload'), workload],
    ['an add-on', definition('addOn'), addOn],
    ['a platform', definition('platform'), platform],
  ] as const) {
    it(`has exactly the fields of the type of ${name}`, () => {
      assert.deepEqual(presence(schema), { ...expected });
    });
  }

  it('knows every type of sign and of platform sign', () => {
    assert.deepEqual(typesOf(definition('sign')), Object.keys(signTypes).sort());
    assert.deepEqual(typesOf(definition('platformSign')), Object.keys(platformSignTypes).sort());
  });

  it('allows no other field in any object', () => {
    const open: string[] = [];
    const look = (schema: unknown, path: string): void => {
      if (typeof schema !== 'object' || schema === null) return;
      const { properties, additionalProperties } = schema as Schema;
      if (properties !== undefined && additionalProperties !== false) open.push(path);
      for (const [key, value] of Object.entries(schema)) look(value, `${path}/${key}`);
    };
    look(profileSchema, '');
    assert.deepEqual(open, []);
  });

  const validate = new Ajv({ allErrors: true, discriminator: true, strict: true, strictRequired: false }).compile(profileSchema);
  for (const shipped of shippedProfiles) {
    it(`accepts the shipped profile ${shipped.name}`, () => {
      validate(shipped);
      assert.deepEqual(validate.errors, null);
    });
  }
});
