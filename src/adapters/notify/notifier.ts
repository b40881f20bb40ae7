import type { Notifier } from '../../kernel/ports.ts';
import type { Environment } from '../kubeconfig/connection.ts';
import { notifyTarget } from './target.ts';

/** Sends documents to what `--notify` names. `env` is what a program gets. */
export async function openNotifier(value: string, env: Environment): Promise<Notifier> {
  const target = await notifyTarget(value, env);
  if ('url' in target) {
    const { post } = await import('./post.ts');
    return { to: target.shown, send: (text, cut) => post(target.url, text, { env, cut }) };
  }
  const { runHook } = await import('./run-hook.ts');
  return { to: target.shown, send: (text, cut) => runHook(target.program, text, { env, cut }) };
}
