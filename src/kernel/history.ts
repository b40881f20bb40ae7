import type { Action } from './action.ts';
import type { EngineEvent } from './event.ts';
import { refText } from './object.ts';
import { RolloutHistory } from './rollout-history.ts';
import type { ActionTrace, NoteTrace, RunHistory } from './run-history.ts';

/** Texts of programs are cut to this many characters. */
const DETAIL_CHARACTERS = 2000;
const NOTES = 200;
/** A step that only the user can do has been said, which is not done. */
const LEFT = { outcome: 'left-to-person' } as const;

/** Listens to the engine and keeps what a report needs. Holds no action's content, only what was done, when and with what result. */
export class History {
  readonly #startedAt: Date;
  readonly #commandOf: (action: Action) => string;
  readonly #actions: ActionTrace[] = [];
  readonly #rollouts = new Map<string, RolloutHistory>();
  readonly #notes: NoteTrace[] = [];

  /** `commandOf` gives an action as one line that anybody may read. */
  constructor(startedAt: Date, commandOf: (action: Action) => string) {
    this.#startedAt = startedAt;
    this.#commandOf = commandOf;
  }

  observe(event: EngineEvent, at: Date): void {
    switch (event.type) {
      case 'action-started': {
        const { id, title, ref } = event.action;
        this.#actions.push({
          stage: event.stage,
          id,
          title,
          ref,
          command: cut(this.#commandOf(event.action)),
          startedAt: at.toISOString(),
          outcome: 'running',
        });
        return;
      }
      case 'action-done': {
        const { action, durationMs, detail } = event;
        const ending = action.effect.type === 'ask' ? LEFT : ({ outcome: 'done', durationMs } as const);
        this.#close({ ...ending, ...(detail === undefined ? {} : { detail: cut(detail) }) });
        return;
      }
      case 'action-failed':
        this.#close({ outcome: 'failed', durationMs: this.#since(at), detail: cut(event.message) });
        return;
      case 'rollout':
        for (const progress of event.progress) this.#rollout(event.stage, refText(progress.target), at).look(progress, at);
        return;
      case 'note':
        if (this.#notes.length < NOTES)
          this.#notes.push({ at: at.toISOString(), stage: event.stage, level: event.level, text: cut(event.text) });
        return;
      default:
        return;
    }
  }

  /** Everything so far. */
  told(endedAt: Date): RunHistory {
    return {
      startedAt: this.#startedAt.toISOString(),
      endedAt: endedAt.toISOString(),
      actions: [...this.#actions],
      rollouts: [...this.#rollouts.values()].map((one) => one.trace()).filter((one) => one !== undefined),
      notes: [...this.#notes],
    };
  }

  #rollout(stage: string, workload: string, at: Date): RolloutHistory {
    const key = `${stage} ${workload}`;
    const known = this.#rollouts.get(key) ?? new RolloutHistory(stage, at);
    this.#rollouts.set(key, known);
    return known;
  }

  /** One action is at work at a time: the last one begun. */
  #close(ending: Partial<ActionTrace>): void {
    const last = this.#actions.pop();
    if (last) this.#actions.push({ ...last, ...ending });
  }

  #since(at: Date): number {
    return at.getTime() - Date.parse(this.#actions.at(-1)?.startedAt ?? at.toISOString());
  }
}

function cut(text: string): string {
  return text.length > DETAIL_CHARACTERS ? `${text.slice(0, DETAIL_CHARACTERS)}…` : text;
}
