import type { Action } from '../../kernel/action.ts';
import type { Reading } from '../../kernel/check.ts';
import type { Context } from '../../kernel/context.ts';
import type { Installation } from '../../kernel/installation.ts';
import { refText } from '../../kernel/object.ts';
import type { Sources } from '../../kernel/ports.ts';
import {
  type AgentsHold,
  agentsHoldNote,
  type BackWait,
  holdAgents,
  type NewerOnly,
  onlyWhileHeld,
  readAgentsHold,
  readBackWait,
  readNewerOnly,
  readOperatorRollout,
  removeNewerOnly,
  typhaThenAgents,
  waitForOperator,
} from '../install-operator/index.ts';
import { type OwnersJudged, readOwnersAtDeadline } from '../ownerrefs/index.ts';
import { pathPart } from '../survey/index.ts';
import { chartChecksBack, type ChartBackJudged } from './back-checks.ts';
import { takeoverAction, takeoverOf } from './chart-facts.ts';
import { readConflicts } from './conflicts.ts';
import { readFormer } from './former.ts';
import { helmRollback } from './helm-argv.ts';
import { recordedObjects } from './helm-record.ts';
import { chartDifference, removedObjects } from './rendered.ts';
