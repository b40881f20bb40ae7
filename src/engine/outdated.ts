/** Thrown when an action's precondition no longer holds: the stage has to be planned anew. */
export class Outdated extends Error {}
