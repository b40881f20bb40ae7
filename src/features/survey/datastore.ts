import type { Datastore } from '../../kernel/installation.ts';
import type { Profile } from '../../kernel/profile.ts';
import type { Settings } from './settings.ts';

export type DatastoreAnswer = { readonly datastore: Datastore; readonly evidence: string } | { readonly unclear: string };

/** Where the agent keeps its data: the variable that says so, else endpoints of a key-value store (domain §2.3). */
export function datastoreOf(settings: Settings, configMaps: readonly string[], profile: Profile): DatastoreAnswer {
  const facts = profile.datastore;
  const named = settings.env(facts.env);
  if (named) return byName(named.value, profile);
  const endpoints =
    facts.endpointsEnv.map((name) => settings.env(name)).find((setting) => setting !== undefined) ??
    configMaps.map((name) => settings.key(name, facts.endpointsKey)).find((setting) => setting !== undefined);
  if (endpoints) return { datastore: 'kvstore', evidence: `key-value datastore: ${endpoints.from} is set, ${facts.env} is not` };
  if (facts.otherwise) return { datastore: facts.otherwise, evidence: `datastore ${facts.otherwise}: nothing else is set` };
  return { unclear: `the agents have neither ${facts.env} nor ${facts.endpointsEnv.join(' nor ')}: their datastore is unknown` };
}

function byName(value: string | undefined, profile: Profile): DatastoreAnswer {
  const { env, api, kvstore } = profile.datastore;
  if (value !== undefined && api.includes(value)) return { datastore: 'api', evidence: `API datastore: ${env}=${value}` };
  if (value !== undefined && kvstore.includes(value)) return { datastore: 'kvstore', evidence: `key-value datastore: ${env}=${value}` };
  return { unclear: `${env} of the agents is ${value === undefined ? 'set by a reference that leads nowhere' : `"${value}"`}` };
}
