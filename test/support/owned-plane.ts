import type { AggregatedApi } from '../control-plane/aggregated-api.ts';
import { aggregate } from '../control-plane/aggregation.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../control-plane/control-plane.ts';
import { collectorStartsAnew } from './collector-settles.ts';
import { opened } from './installed-cluster.ts';
import { GROUP, makeOwnedObjects } from './owned-objects.ts';
import { type OwnerGraph, readOwnerGraph, readOwnerGraphAsOf } from './owner-graph.ts';
import { manifestFile } from './releases.ts';

/** Owned objects on a control plane that stores the kinds of v3.26.5 and shows them as v3: references come off and go back, nothing is upgraded. */
export interface OwnedPlane {
  readonly plane: ControlPlane;
  /** Shows what is stored as v3, by the rule of the older releases unless told otherwise. */
  readonly served: AggregatedApi;
  /** Every dependent with its references, before anything was done. */
  readonly first: OwnerGraph;
  graph(): Promise<OwnerGraph>;
  stop(): Promise<void>;
}

/** A control plane of its own; resolves when the garbage collector has looked at everything. */
export function ownedPlane(count: number, options: ControlPlaneOptions): Promise<OwnedPlane> {
  return opened(async (endBy) => {
    const plane = await startControlPlane(options);
    endBy(plane.stop);
    await plane.kubectl(['apply', '--server-side', '-f', manifestFile('v3.26.5', 'calico.yaml')]);
    const served = await aggregate(plane, GROUP);
    endBy(() => served.stop());
    await makeOwnedObjects(plane.api, count);
    await collectorStartsAnew(plane);
    const first = await readOwnerGraph(plane.api);
    return { plane, served, first, graph: () => readOwnerGraphAsOf(plane.api, first) };
  });
}
