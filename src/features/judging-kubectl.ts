import type { Context } from '../kernel/context.ts';
import { judgeAll } from '../kernel/judge.ts';
import type { Sources } from '../kernel/ports.ts';
import type { AnyStage, OpenStage, StagePlan } from '../kernel/stage.ts';
import { kubectlChecks } from './preflight/index.ts';
import { attempt, readClient } from './survey/index.ts';

/** The stage with a check of its kubectl, before patches and run record: it may run without a preflight (§1/5). */
export function judgingKubectl(inner: AnyStage): AnyStage {
  if (inner.readOnly) return inner;
  return {
    ...inner,
    async open(sources, context) {
      const open = plannedOnce(await inner.open(sources, context));
      return startsKubectl(open) ? withKubectl(open, sources, context) : open;
    },
  };
}

async function withKubectl(open: OpenStage, { tools }: Sources, context: Context): Promise<OpenStage> {
  const client = await attempt(() => readClient(tools));
  return { ...open, findings: () => [...judgeAll(kubectlChecks, { client }, context), ...open.findings()] };
}

/** Plans are pure, and of a large fleet they take their time. */
function plannedOnce(open: OpenStage): OpenStage {
  let plan: StagePlan | undefined;
  return {
    ...open,
    plan() {
      plan ??= open.plan();
      return plan;
    },
  };
}

/** What stands against a plan is thrown again when its turn comes, after the findings. */
function startsKubectl(open: OpenStage): boolean {
  try {
    const plan = open.plan();
    return 'actions' in plan && plan.actions.some(({ effect }) => effect.type === 'exec' && effect.run.tool === 'kubectl');
  } catch {
    return false;
  }
}
