import assert from 'node:assert/strict';
import type { KubeObject } from '../../src/kernel/object.ts';
import type { SandboxCluster } from '../../src/sandbox/sandbox-cluster.ts';
import type { Scenario } from '../../src/sandbox/scenario.ts';
import type { Change } from '../../src/sandbox/store.ts';
import { type GroundName, put } from '../support/incident-grounds.ts';
import { CALICO_TARGET } from '../support/target.ts';

interface Asked {
  readonly release: string;
  /** `run`, or `preflight` where nothing stops, unless said. */
  readonly command?: string;
  readonly flags: string;
}

/** A cluster like one that broke, and what is asked there. */
interface IncidentCluster extends Asked {
  /** Rows of the account (incidents-table.ts). */
  readonly rows: readonly number[];
  readonly ground: GroundName;
  /** What makes the ground one of those clusters; nothing where it is one by itself. */
  readonly changes: readonly Changing[];
}

export type Changing = (cluster: SandboxCluster, scenario: Scenario) => unknown;

/** What the program says of it beforehand. */
export interface IncidentWorld extends IncidentCluster {
  readonly check: string;
  /** `ok` says it all the same, in the wide table. */
  readonly severity: 'error' | 'warning' | 'ok';
  /** In the finding: its words, its evidence and what it advises. */
  readonly says: RegExp;
}

/** What is so once the command has ended. */
export interface IncidentRun extends IncidentCluster {
  readonly exit: number;
  readonly holds: (after: After) => unknown;
}

export interface After {
  readonly scenario: Scenario;
  /** What the command printed. */
  readonly text: string;
  /** What happened in the cluster, in order. */
  readonly changes: readonly Change[];
}

/** A row is a sentence: on this ground, after these changes and with these objects, it stops, warns, notes or ends. v3.32.1 unless said. */
export function on(ground: GroundName, rows: readonly number[], asked: Partial<Asked> = {}) {
  const after = (...made: readonly (Changing | KubeObject)[]) => {
    const changes = made.map((one) => (typeof one === 'function' ? one : (to: SandboxCluster) => put(to, one)));
    const cluster: IncidentCluster = { release: CALICO_TARGET, flags: '', ...asked, rows, ground, changes };
    const finds =
      (severity: IncidentWorld['severity']) =>
      (check: string, says: RegExp): IncidentWorld => ({ ...cluster, severity, check, says });
    return {
      stops: finds('error'),
      warns: finds('warning'),
      notes: finds('ok'),
      ends: (exit: number, what: RegExp | IncidentRun['holds']): IncidentRun => {
        return { ...cluster, exit, holds: what instanceof RegExp ? ({ text }) => assert.match(text, what) : what };
      },
    };
  };
  return { ...after(), after };
}
