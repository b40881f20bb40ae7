/** Charts up to v3.17.1 hold their CRDs among the ordinary objects: one of those. */
export const OLD_CRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: oldthings.crd.projectcalico.org }
spec:
  group: crd.projectcalico.org
  names: { kind: OldThing, plural: oldthings, singular: oldthing, listKind: OldThingList }
  scope: Cluster
  versions: [{ name: v1, served: true, storage: true, schema: { openAPIV3Schema: { type: object } } }]
`;
